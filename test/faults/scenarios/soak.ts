import { readdirSync } from 'node:fs';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { percentile } from '../../support/rig/figures.js';
import type { HeraldProcess } from '../../support/rig/herald.js';
import { pause } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const LANES = 20;
const RECIPIENTS = 100;
const MIB = 1_048_576;
const SAMPLE_MS = 1_000;
/** All dead rows, of all tables, while no vacuum can remove any; 4.5 a message were measured. */
const MAX_DEAD_A_MESSAGE = 6;
/** Sockets come and go with the load; a leak of one a second would be far more. */
const MAX_MORE_FILES = 40;
/** The quick form is shorter than Node needs to fill its heap, so only a leak that would kill within minutes shows. */
const FORMS = {
  quick: { seconds: 40, callers: 4, betweenMs: 80, lagMs: 5_000, slopeMibPerMinute: 150 },
  long: { seconds: 300, callers: 16, betweenMs: 80, lagMs: 2_000, slopeMibPerMinute: 5 },
};

/** A steady rate beside a transaction that stays open: dead rows cannot be removed, and the queue must not slow down. */
export const soak: Scenario = {
  name: 'soak',
  longOnly: true,
  goal: 'G12: steady rate beside one open transaction; lag p99 2 s (quick: 5 s), 6 dead rows a message at most, memory and file descriptors flat',
  alone: true,
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

interface Sample {
  atMs: number;
  residentMib: number;
  files: number;
}

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const form = context.quick ? FORMS.quick : FORMS.long;
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 80,
    recipients: RECIPIENTS,
    latencyMs: 20,
  });
  const { pool } = stage.stage.database;
  const holder = await pool.connect();
  await holder.query('begin isolation level repeatable read');
  await holder.query('select count(*) from message');
  const traffic = new Traffic(stage, {
    callers: form.callers,
    least: 1,
    most: 1_000_000,
    recipients: RECIPIENTS,
    betweenMs: form.betweenMs,
  });
  const samples: Sample[] = [];
  const startedAt = performance.now();
  while (performance.now() - startedAt < form.seconds * 1_000) {
    await pause(SAMPLE_MS);
    samples.push(sampleOf([stage.api, stage.worker], performance.now() - startedAt));
  }
  const answeredAt = await traffic.end();
  const seconds = (answeredAt - startedAt) / 1_000;
  const recoveredMs = await stage.recoveredAfter(answeredAt);
  const dead = await deadRows(stage);
  await holder.query('rollback');
  holder.release();

  const { rows } = await pool.query<{ ms: number }>(
    `select (extract(epoch from processing_at - queued_at) * 1000)::float8 as ms from message_view where processing_at is not null`,
  );
  const lags = rows.map((row) => row.ms);
  const lagMs = Math.round(percentile(lags, 0.99));
  // The first half is the heap's first growth.
  const later = samples.slice(samples.length >> 1);
  const slope = slopePerMinute(later);
  const moreFiles = (later.at(-1)?.files ?? 0) - (later[0]?.files ?? 0);
  const { violations, late } = traffic;
  if (!(lagMs <= form.lagMs)) late.push(`the queue's lag was ${lagMs} ms (p99), more than ${form.lagMs}`);
  const deadEach = dead / traffic.attempted;
  if (deadEach > MAX_DEAD_A_MESSAGE) violations.push(`${deadEach.toFixed(1)} dead rows a message`);
  if (slope > form.slopeMibPerMinute) violations.push(`memory grows by ${slope.toFixed(1)} MiB a minute`);
  if (moreFiles > MAX_MORE_FILES) violations.push(`${moreFiles} more open files than half-way`);
  return reportOf({
    faults: 1,
    attempted: traffic.attempted,
    judgement: await stage.judge(traffic.acknowledged),
    recoveredMs,
    violations,
    late,
    notes: {
      for_s: Math.round(seconds),
      per_second: Math.round(traffic.attempted / seconds),
      lag_p50_ms: Math.round(percentile(lags, 0.5)),
      lag_p99_ms: lagMs,
      dead_rows: dead,
      dead_rows_a_message: Number(deadEach.toFixed(1)),
      memory_slope_mib_per_min: Number(slope.toFixed(1)),
      more_open_files: moreFiles,
    },
  });
}

function sampleOf(processes: readonly HeraldProcess[], atMs: number): Sample {
  let residentMib = 0;
  let files = 0;
  for (const { child } of processes) {
    residentMib += (child.residentBytes() ?? 0) / MIB;
    files += openFiles(child.pid);
  }
  return { atMs, residentMib, files };
}

/** 0 where the system does not report it (only Linux does). */
function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** Least squares, in MiB a minute. */
function slopePerMinute(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [meanX, meanY] = [mean(({ atMs }) => atMs), mean(({ residentMib }) => residentMib)];
  let above = 0;
  let below = 0;
  for (const { atMs, residentMib } of samples) {
    above += (atMs - meanX) * (residentMib - meanY);
    below += (atMs - meanX) ** 2;
  }
  return below === 0 ? 0 : (above / below) * 60_000;
}

async function deadRows(stage: FaultStage): Promise<number> {
  const { pool } = stage.stage.database;
  await pool.query('select pg_stat_clear_snapshot()');
  const { rows } = await pool.query<{ dead: number }>(
    `select sum(n_dead_tup)::integer as dead from pg_stat_user_tables where schemaname = 'public'`,
  );
  return rows[0]?.dead ?? 0;
}
