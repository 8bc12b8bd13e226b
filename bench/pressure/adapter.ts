import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { RollingLatencies } from './rolling-latencies.js';

/** A job queue on PostgreSQL, as the pressure benchmark drives it. */
export interface BenchQueue {
  /** As its own documentation adds many jobs at once. Durable when it resolves. */
  enqueue(jobs: readonly BenchJob[]): Promise<void>;
  /** Jobs that no worker has begun. */
  depth(): Promise<number>;
  stop(): Promise<void>;
}

/** What a job carries. */
export interface BenchJob {
  /** From 1 on, each once. */
  n: number;
  /** When it was handed to the queue, in milliseconds of the epoch. */
  at: number;
  /** Fills the payload up to JOB_PAYLOAD_BYTES. */
  filler: string;
}

/** What each job does; the queue acknowledges it after it resolves. */
export type BenchWork = (job: Pick<BenchJob, 'n' | 'at'>) => Promise<void>;

/** What the environment asks of an adapter; names and defaults of the benchmark's adapter contract. */
export interface AdapterSettings {
  databaseUrl: string;
  workers: number;
  payloadBytes: number;
}

export interface AdapterDescription {
  system: string;
  version: string;
  /** `schema.table`, those that take most of the writes. */
  eventTables: readonly string[];
  open(settings: AdapterSettings, work: BenchWork): Promise<BenchQueue>;
}

const numberOf = (name: string, usual: number): number => Number(process.env[name] ?? usual);

/** About the rest of a payload: number, time and the JSON around them. */
const BESIDE_FILLER = 60;
const WINDOW_S = numberOf('SAMPLE_WINDOW_S', 30);
/** After an error of the queue, such as a killed connection. The rate is then caught up. */
const AFTER_ERROR_MS = 200;
/** The contract wants an end within five seconds. */
const STOP_MS = 4_000;

/**
 * Runs one adapter of hardbyte/postgresql-job-queue-benchmarking (CONTRIBUTING_ADAPTERS.md): a producer at PRODUCER_RATE and workers, in one
 * process, until SIGTERM; telemetry as JSON lines on standard output, errors on standard error. A file named by PRODUCER_RATE_CONTROL_FILE
 * changes the rate meanwhile. Beyond the contract's metrics it reports `enqueued`, `completed` and `repeated`, in total.
 */
export async function runAdapter(description: AdapterDescription): Promise<void> {
  const { DATABASE_URL: databaseUrl } = process.env;
  if (databaseUrl === undefined) throw new Error('DATABASE_URL is not set');
  const everyS = numberOf('SAMPLE_EVERY_S', 5);
  const workMs = numberOf('JOB_WORK_MS', 1);
  const counts = { enqueued: 0, completed: 0, repeated: 0 };
  const latencies = new RollingLatencies(WINDOW_S / everyS);
  const done = new Set<number>();
  const work: BenchWork = async ({ n, at }) => {
    latencies.record(Date.now() - at);
    if (workMs > 0) await pause(workMs);
    if (done.has(n)) counts.repeated++;
    else counts.completed++;
    done.add(n);
  };
  const settings = {
    databaseUrl,
    workers: numberOf('WORKER_COUNT', 32),
    payloadBytes: numberOf('JOB_PAYLOAD_BYTES', 256),
  };
  const queue = await description.open(settings, work);
  const { system, version, eventTables } = description;
  const database = new URL(databaseUrl).pathname.slice(1);
  emit({
    kind: 'descriptor',
    system,
    version,
    event_tables: eventTables,
    extensions: [],
    db_name: database,
    started_at: new Date().toISOString(),
  });
  const stopping = new AbortController();
  process.once('SIGTERM', () => stopping.abort());
  process.once('SIGINT', () => stopping.abort());
  await Promise.all([
    produce(queue, settings.payloadBytes, counts, stopping.signal),
    sample(system, queue, everyS, latencies, counts, stopping.signal),
  ]);
  setTimeout(() => process.exit(0), STOP_MS).unref();
  await queue.stop();
  process.exit(0);
}

/** Adds jobs at the rate, by the time that passed, so that a slow call does not lower what is offered. */
async function produce(
  queue: BenchQueue,
  payloadBytes: number,
  counts: { enqueued: number },
  stopping: AbortSignal,
): Promise<void> {
  const batchMax = numberOf('PRODUCER_BATCH_MAX', 128);
  const batchMs = numberOf('PRODUCER_BATCH_MS', 25);
  const filler = 'x'.repeat(Math.max(0, payloadBytes - BESIDE_FILLER));
  let next = 1;
  let credit = 0;
  let last = performance.now();
  while (!stopping.aborted) {
    const now = performance.now();
    credit += (rate() * (now - last)) / 1_000;
    last = now;
    const size = Math.min(Math.floor(credit), batchMax);
    if (size === 0) {
      await pause(batchMs);
      continue;
    }
    const at = Date.now();
    const jobs = Array.from({ length: size }, (_, i) => ({ n: next + i, at, filler }));
    // A batch whose answer is lost may be stored: its numbers are not used again.
    next += size;
    credit -= size;
    try {
      await queue.enqueue(jobs);
      counts.enqueued += size;
    } catch (error) {
      complain(error);
      await pause(AFTER_ERROR_MS);
    }
    if (credit < batchMax) await pause(batchMs);
  }
}

function rate(): number {
  const file = process.env.PRODUCER_RATE_CONTROL_FILE;
  const usual = numberOf('PRODUCER_RATE', 800);
  if (file === undefined) return usual;
  try {
    const text = readFileSync(file, 'utf8').trim();
    const given = Number(text);
    return text !== '' && Number.isFinite(given) ? given : usual;
  } catch {
    return usual;
  }
}

/** Reports at each full SAMPLE_EVERY_S of the clock, so that the samples of several systems are of the same times. */
async function sample(
  system: string,
  queue: BenchQueue,
  everyS: number,
  latencies: RollingLatencies,
  counts: Record<'enqueued' | 'completed' | 'repeated', number>,
  stopping: AbortSignal,
): Promise<void> {
  const everyMs = everyS * 1_000;
  let before = { ...counts, at: performance.now() };
  let depth = 0;
  while (!stopping.aborted) {
    await pause(everyMs - (Date.now() % everyMs), undefined, { signal: stopping }).catch(() => undefined);
    depth = await queue.depth().catch((error: unknown) => {
      complain(error);
      return depth;
    });
    const after = { ...counts, at: performance.now() };
    const seconds = (after.at - before.at) / 1_000;
    const { p50, p95, p99 } = latencies.turn();
    const t = new Date().toISOString();
    const metrics: Array<[metric: string, value: number, windowS: number]> = [
      ['claim_p50_ms', p50, WINDOW_S],
      ['claim_p95_ms', p95, WINDOW_S],
      ['claim_p99_ms', p99, WINDOW_S],
      ['enqueue_rate', (after.enqueued - before.enqueued) / seconds, everyS],
      ['completion_rate', (after.completed - before.completed) / seconds, everyS],
      ['queue_depth', depth, 0],
      ['enqueued', after.enqueued, 0],
      ['completed', after.completed, 0],
      ['repeated', after.repeated, 0],
    ];
    for (const [metric, value, windowS] of metrics) {
      emit({ t, system, kind: 'adapter', subject_kind: 'adapter', subject: '', metric, value, window_s: windowS });
    }
    before = after;
  }
}

function emit(record: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(record)}\n`);
}

export function complain(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
}
