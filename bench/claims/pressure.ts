import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { inTurn, type BenchContext, type Claim } from '../bench-context.js';
import { atLeast, forComparison, type Finding } from '../finding.js';
import { Child } from '../../test/support/rig/child.js';
import { createDatabase } from '../../test/support/rig/database.js';
import { temporaryFolder } from '../../test/support/rig/folder.js';
import { median } from '../../test/support/rig/figures.js';
import { compiled } from '../../test/support/rig/paths.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { waitFor } from '../../test/support/rig/wait.js';

const SYSTEMS = ['herald', 'graphile-worker', 'pg-boss'] as const;
type System = (typeof SYSTEMS)[number];

/** Jobs a second that each system is offered. */
const RATE = 200;
/** Under more load than before. */
const MORE = 1.5;
const WORKERS = 64;
const READERS = 4;
/** For how long each reader keeps its snapshot. */
const READER_MS = 4_000;
const IDLE_CONNECTIONS = 300;
const KILL_EVERY_MS = 1_000;
const DRAIN_MS = 120_000;
const OWN = 'herald-bench-pressure';

/** What disturbs a phase: it lasts until the scope closes. */
type Pressure = (place: Place, scope: Scope) => Promise<void>;

interface Place {
  url: string;
  eventTables: readonly string[];
  setRate: (perSecond: number) => void;
}

/** Five of the phases of hardbyte/postgresql-job-queue-benchmarking (docs/method.md), by the names that it has for them. */
const PRESSURES: Readonly<Record<string, Pressure>> = {
  'idle-in-tx': async ({ url }, scope) => {
    const client = await connect(url, scope);
    await client.query('begin');
    await client.query('select txid_current()');
  },
  'active-readers': async ({ url, eventTables }, scope) => {
    const clients: pg.Client[] = [];
    for (let i = 0; i < READERS; i++) clients.push(await connect(url, scope));
    const reading = new AbortController();
    const readers = clients.map((client) => read(client, eventTables, reading.signal));
    scope.defer(async () => {
      reading.abort();
      await Promise.all(readers);
    });
  },
  'high-load': async ({ setRate }, scope) => {
    setRate(RATE * MORE);
    scope.defer(() => setRate(RATE));
    await Promise.resolve();
  },
  'pg-backend-kill': async ({ url }, scope) => {
    const client = await connect(url, scope);
    const timer = setInterval(() => {
      client
        .query(
          `select pg_terminate_backend(pid) from (select pid from pg_stat_activity where datname = current_database()
             and application_name <> $1 and backend_type = 'client backend' order by random() limit 1) as one`,
          [OWN],
        )
        .catch(() => undefined);
    }, KILL_EVERY_MS);
    scope.defer(() => clearInterval(timer));
  },
  'pool-exhaustion': async ({ url }, scope) => {
    for (let i = 0; i < IDLE_CONNECTIONS; i++) await connect(url, scope);
  },
};

/** The send queue under what other queues break under, beside graphile-worker (a job at a time) and pg-boss, each doing nothing for 1 ms a job. */
export const pressureClaim: Claim = {
  name: 'pressure',
  async measure(context): Promise<Finding[]> {
    const contestants = Object.fromEntries(SYSTEMS.map((system) => [system, () => run(context, system)])) as Record<
      System,
      () => Promise<Result>
    >;
    const results = await inTurn(context.quick ? 1 : 3, contestants);
    const all = (system: System, of: (result: Result) => number): number => median(results[system].map(of));
    const beside = (of: (result: Result) => number): Finding['notes'] =>
      Object.fromEntries(SYSTEMS.slice(1).map((system) => [system, Number(all(system, of).toPrecision(3))]));
    const findings: Finding[] = [];
    for (const name of ['clean', ...Object.keys(PRESSURES)]) {
      const share = (result: Result): number => phaseOf(result, name).completedShare;
      const p99 = (result: Result): number => phaseOf(result, name).p99Ms;
      findings.push(
        atLeast(0.95, {
          claim: `under pressure, ${name}: jobs done, of those that were added`,
          value: all('herald', share),
          unit: '×',
          notes: beside(share),
        }),
        forComparison(
          {
            claim: `under pressure, ${name}: from added to begun, p99`,
            value: all('herald', p99),
            unit: 'ms',
            notes: beside(p99),
          },
          { name: 'graphile-worker, a job at a time', value: all('graphile-worker', p99) },
        ),
      );
    }
    const finished = (result: Result): number => result.finishedShare;
    const cost = (result: Result): number => result.postgresUs;
    findings.push(
      atLeast(1, {
        claim: 'under pressure: jobs done in the end, of those that were added',
        value: all('herald', finished),
        unit: '×',
        notes: beside(finished),
      }),
      forComparison(
        {
          claim: 'under pressure: processor time of PostgreSQL a job',
          value: all('herald', cost),
          unit: 'µs',
          notes: beside(cost),
        },
        { name: 'graphile-worker, a job at a time', value: all('graphile-worker', cost) },
      ),
    );
    return findings;
  },
};

interface Phase {
  name: string;
  completedShare: number;
  p99Ms: number;
}

interface Result {
  phases: Phase[];
  finishedShare: number;
  postgresUs: number;
}

function phaseOf({ phases }: Result, name: string): Phase {
  const phase = phases.find((one) => one.name === name);
  if (phase === undefined) throw new Error(`no phase ${name} was measured`);
  return phase;
}

interface Sample {
  /** Milliseconds of the epoch. */
  at: number;
  metric: string;
  value: number;
}

function run(context: BenchContext, system: System): Promise<Result> {
  return context.scope.within(async (scope) => {
    const phaseMs = context.quick ? 15_000 : 60_000;
    const recoveryMs = phaseMs / 2;
    const postgres = await context.postgres();
    const database = await createDatabase(scope, postgres.url, 'pressure', { isMigrated: false });
    const rateFile = join(temporaryFolder(scope, 'pressure'), 'rate');
    const setRate = (perSecond: number): void => writeFileSync(rateFile, String(perSecond));
    setRate(RATE);
    const child = Child.start(scope, {
      name: `pressure on ${system}`,
      args: [compiled(`bench/pressure/${system}.main`)],
      env: {
        NODE_ENV: 'production',
        DATABASE_URL: database.url,
        PRODUCER_RATE_CONTROL_FILE: rateFile,
        WORKER_COUNT: String(WORKERS),
        SAMPLE_EVERY_S: '1',
        SAMPLE_WINDOW_S: String(Math.round(phaseMs / 1_000)),
      },
    });
    const samples: Sample[] = [];
    const place: Place = { url: database.url, setRate, eventTables: [] };
    child.eachLine((line) => {
      const record = JSON.parse(line) as { t?: string; metric: string; value: number; event_tables?: string[] };
      if (record.event_tables !== undefined) place.eventTables = record.event_tables;
      if (record.t !== undefined)
        samples.push({ at: Date.parse(record.t), metric: record.metric, value: record.value });
    });
    await child.line(/"metric":"completed"/);
    await pause(recoveryMs);
    const before = { ms: postgres.processorMs(), completed: last(samples, 'completed') };
    const phases = [await phase('clean', phaseMs, samples)];
    for (const [name, begin] of Object.entries(PRESSURES)) {
      phases.push(
        await scope.within(async (pressed) => {
          await begin(place, pressed);
          return phase(name, phaseMs, samples);
        }),
      );
      await pause(recoveryMs);
    }
    const ms = postgres.processorMs() - before.ms;
    const postgresUs = (ms * 1_000) / (last(samples, 'completed') - before.completed);
    setRate(0);
    const unfinished = await drained(samples);
    const repeated = last(samples, 'repeated');
    for (const { name, completedShare, p99Ms } of phases) {
      context.say(`${system}, ${name}: ${Math.round(completedShare * 100)} % done, p99 ${Math.round(p99Ms)} ms`);
    }
    context.say(
      `${system}: ${unfinished} lost, ${repeated} repeated, ${Math.round(postgresUs)} µs of PostgreSQL a job`,
    );
    if (system === 'herald' && repeated > 0) throw new Error(`Herald did ${repeated} jobs twice`);
    const added = last(samples, 'enqueued');
    return { phases, finishedShare: (added - unfinished) / added, postgresUs };
  });
}

async function phase(name: string, ms: number, samples: readonly Sample[]): Promise<Phase> {
  const before = { enqueued: last(samples, 'enqueued'), completed: last(samples, 'completed') };
  await pause(ms);
  const added = last(samples, 'enqueued') - before.enqueued;
  const done = last(samples, 'completed') - before.completed;
  return { name, completedShare: done / added, p99Ms: last(samples, 'claim_p99_ms') };
}

function last(samples: readonly Sample[], metric: string): number {
  const found = samples.findLast((sample) => sample.metric === metric);
  if (found === undefined) throw new Error(`the adapter reported no ${metric}`);
  return found.value;
}

/** How many are still missing after two minutes without new ones. More done than acknowledged: an answer was lost. */
async function drained(samples: readonly Sample[]): Promise<number> {
  const missing = (): number => Math.max(0, last(samples, 'enqueued') - last(samples, 'completed'));
  const since = Date.now();
  const isDone = (): boolean =>
    (samples.at(-1)?.at ?? 0) > since + 2_000 && last(samples, 'queue_depth') === 0 && missing() === 0;
  await waitFor('the queue to be empty', () => Promise.resolve(isDone() ? true : null), { timeoutMs: DRAIN_MS }).catch(
    () => undefined,
  );
  return missing();
}

async function connect(url: string, scope: Scope): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: OWN });
  client.on('error', () => undefined);
  await client.connect();
  scope.defer(() => client.end());
  return client;
}

/** Scans the tables again and again, each time with a snapshot of some seconds. */
async function read(client: pg.Client, tables: readonly string[], stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await client.query('begin isolation level repeatable read');
    const until = performance.now() + READER_MS;
    while (performance.now() < until && !stopping.aborted) {
      for (const table of tables) await client.query(`select count(*) from ${table}`);
    }
    await client.query('commit');
  }
}
