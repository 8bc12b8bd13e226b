import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { FaultReport } from '../../support/rig/fault-result.js';
import type { HeraldProcess } from '../../support/rig/herald.js';
import { makeNextRelease, type Program, programIn } from '../../support/rig/next-release.js';
import { ROOT } from '../../support/rig/paths.js';
import { buildPreviousRelease } from '../../support/rig/previous-release.js';
import { waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const LANES = 4;
const RECIPIENTS = 40;
const READY_WITHIN_MS = 60_000;
/** What the next release calls otherwise: sweeps that run often, so that their silence is soon too long. */
const RENAMED = ['send_leases', 'media_expiry', 'send_expiry'];

/**
 * An upgrade and its way back, as the handbook has them, while messages are accepted and sent: the schema goes up beside the
 * old processes, these are replaced one by one, replaced back, and the schema goes down. Once with this program as the old release
 * and a next one that has a migration more and sweeps of other names; and, where the commit has a release before it as a git tag,
 * from that one to this.
 */
export const upgradeThereAndBack: Scenario = {
  name: 'upgrade-there-and-back',
  goal: 'migrate up, replace every process, replace it back, migrate down, under traffic: every process ready within 60 s, also when sweeps that only the newer release has are long silent; no way down under newer processes; 0 lost, 0 sent twice, 0 to outcome_unknown',
  run: async (context) => {
    const first = await context.scope.within((scope) => {
      const newer = makeNextRelease(scope, RENAMED);
      return run(context, scope, { old: programIn(ROOT, 'this release'), newer, renamed: RENAMED });
    });
    const reports = [first];
    const previous = await context.scope.within(async (scope) => {
      const old = await buildPreviousRelease(scope);
      if (old === null) return null;
      return run(context, scope, { old, newer: programIn(ROOT, 'this release'), renamed: [] });
    });
    if (previous === null) context.say('there is no tag of an earlier release: only with a release made of this one');
    else reports.push({ ...previous, test: 'upgrade-there-and-back (from the release before)' });
    return reports;
  },
};

interface Pair {
  old: Program;
  newer: Program;
  renamed: readonly string[];
}

async function run(
  context: FaultContext,
  scope: FaultContext['scope'],
  { old, newer, renamed }: Pair,
): Promise<FaultReport> {
  const stage = await FaultStage.set(context, scope, {
    program: old.main,
    lanes: LANES,
    messagesPerSecond: 40,
    recipients: RECIPIENTS,
    latencyMs: 20,
    workers: 2,
  });
  const { pool, url } = stage.stage.database;
  const violations: string[] = [];
  const migrate = (...args: string[]): Promise<Ran> => runMigrate(newer, url, args);
  const goes = async (what: string, ran: Promise<Ran>): Promise<void> => {
    const { code, output } = await ran;
    if (code !== 0) violations.push(`${what} failed: ${output}`);
  };
  // The instruments made the schema of this build; the old release begins with its own.
  await goes('the way to the old schema', migrate('--to', old.newest, '--yes'));

  const traffic = new Traffic(stage, { callers: 4, least: 200, most: 20_000, recipients: RECIPIENTS, betweenMs: 20 });
  const moves = async (when: string): Promise<void> => {
    if (!(await traffic.moves())) violations.push(`nothing is accepted and sent ${when}`);
  };
  const processes = [...stage.workers, stage.api];
  const times = { ready: 0, up: 0, down: 0 };
  const replaceAll = async (program: Program, order: readonly HeraldProcess[]): Promise<void> => {
    for (const herald of order) {
      await herald.child.stop();
      herald.program = program.main;
      herald.revive();
      const from = performance.now();
      await herald.ready();
      times.ready = Math.max(times.ready, performance.now() - from);
      await moves(`with a ${herald.roles} of ${program.name} beside others`);
    }
  };
  const rounds = context.quick ? 1 : 3;
  let endedAt = performance.now();
  for (let round = 1; round <= rounds; round++) {
    await moves('before the upgrade');
    let from = performance.now();
    await goes('the way up', migrate());
    times.up = Math.max(times.up, performance.now() - from);
    await moves('with old processes on the new schema');
    await replaceAll(newer, processes);
    if (newer.newest !== old.newest) {
      const early = await migrate('--to', old.newest, '--yes');
      if (early.code === 0 || !early.output.includes('in use by processes')) {
        violations.push(`the schema went down under processes of ${newer.name}: ${early.output}`);
      }
    }
    // What the newer api accepts, newer workers send.
    await replaceAll(old, processes.toReversed());
    if (renamed.length > 0) {
      await waitFor('a sweep of the newer release to have run', () => silence(pool), { timeoutMs: 60_000 });
    }
    from = performance.now();
    await goes('the way down', migrate('--to', old.newest, '--yes'));
    times.down = Math.max(times.down, performance.now() - from);
    endedAt = performance.now();
    await moves('after the way back');
    for (const { roles, url: address } of processes) {
      const ready = await fetch(`${address}/health/ready`);
      if (!ready.ok) violations.push(`the ${roles} is not ready: ${await ready.text()}`);
    }
    context.say(
      `${old.name} to ${newer.name} and back, round ${round} of ${rounds}: ${traffic.messageOfKey.size} acknowledged, ` +
        `up ${Math.round(times.up)} ms, ready after ${Math.round(times.ready)} ms, down ${Math.round(times.down)} ms`,
    );
  }
  const answeredAt = await traffic.end();
  const recoveredMs = await stage.recoveredAfter(Math.max(endedAt, answeredAt));
  await traffic.checkKeys();
  if (times.ready > READY_WITHIN_MS) traffic.late.push(`a process took ${Math.round(times.ready)} ms to be ready`);
  const judgement = await stage.judge(traffic.acknowledged);
  if (judgement.unknown > 0) violations.push(`${judgement.unknown} messages ended in outcome_unknown`);
  return reportOf({
    faults: rounds * (processes.length * 2 + 2),
    attempted: traffic.attempted,
    judgement,
    recoveredMs,
    violations: [...violations, ...traffic.violations, ...stage.caller.faults],
    late: traffic.late,
    notes: {
      ready_ms: Math.round(times.ready),
      migrate_up_ms: Math.round(times.up),
      migrate_down_ms: Math.round(times.down),
      refused_503: stage.caller.refusals,
    },
  });
}

interface Ran {
  code: number;
  output: string;
}

/** `herald migrate` of a program, as an operator runs it. */
async function runMigrate(program: Program, databaseUrl: string, args: readonly string[]): Promise<Ran> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'test', DATABASE_URL: databaseUrl };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program.cli, 'migrate', ...args], { env });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: number; stdout?: string; stderr?: string };
    return { code: code ?? 1, output: stdout + stderr };
  }
}

/** Makes the rows of sweeps that only the newer release has as old as they are after an hour; null where there are none. */
async function silence(pool: FaultStage['stage']['database']['pool']): Promise<true | null> {
  const { rowCount } = await pool.query(
    `update heartbeat set beat_at = beat_at - interval '1 hour' where name like 'sweep:%\\_next'`,
  );
  return (rowCount ?? 0) > 0 ? true : null;
}
