import { WorkerHost } from '@nestjs/bullmq';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import { newId } from '../../common/ids.js';
import { within } from '../../common/within.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { LaneRepository } from './lane.repository.js';
import { QueueConnection } from './queue-connection.js';
import { Sweeps, type AwaitedTime } from './sweeps.js';
import { Counters } from '../operations/counters.js';
import { dueSweep, type DueLanes } from './due-lanes.js';
import type { QueueKind } from './queue-kind.js';
import { QueueLoop } from './queue-loop.js';

/**
 * How a BullMQ worker treats `drain` jobs. They are hints: due rows are found without them, so nothing waits for a job
 * that is lost. The server notifies a waiting worker of each new job, and the jobs of a worker that was killed are free
 * again within four minutes; checks for either at a shorter interval would be most of the work of an idle process. A stalled
 * job is never given up: a drain may run twice without harm.
 *
 * A worker reconnects at once: BullMQ's default is a wait of 15 s, in which nothing would be sent although the server is
 * back.
 *
 * Jobs themselves say `removeOnComplete: true`; keeping a count of them made the PostgreSQL backend deadlock.
 */
export const QUEUE_WORKER_OPTIONS = {
  concurrency: 1_000,
  drainDelay: 120,
  lockDuration: 5_000,
  stalledInterval: 120_000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 500,
} as const;

/** A job of the queue: this lane has due rows. */
export interface DrainJob {
  laneKey: string;
}

/** What a module says of its queue. */
export interface QueueOptions<T> {
  kind: QueueKind<T>;
  /** Rows that this process works on at once. */
  maxInFlight: number;
  /** Announces due rows to other processes. */
  queue: Queue<DrainJob>;
  dueLanes: DueLanes;
  /** The times that make its rows due. */
  waitsFor: readonly AwaitedTime[];
  /** See QueueLoop; lanes that get rows within this time share one claim. */
  lookEveryMs?: number;
  /** Log text when shutdown times out with `count` rows unfinished. */
  leftAtStop(count: number): string;
}

/** What every module's queue needs of the platform. */
@Injectable()
export class QueueParts {
  /** The id under which this process holds lanes; new at every start. */
  readonly owner = newId();

  constructor(
    readonly lanes: LaneRepository,
    readonly database: Database,
    readonly sweeps: Sweeps,
    readonly counters: Counters,
    readonly config: Config,
    readonly connection: QueueConnection,
  ) {}
}

/**
 * The queue of one module. `wake` is the one notice of a lane with due rows: from the code that made them, the `drain` job of
 * another process, and the sweep. A worker gives it to its loop; a process that is no worker adds a job.
 *
 * A module extends it with its `@Processor(QUEUE, QUEUE_WORKER_OPTIONS)`.
 */
export abstract class QueueProcessor<T> extends WorkerHost implements BeforeApplicationShutdown {
  protected readonly logger: Logger;
  protected readonly config: Config;
  private readonly loop: QueueLoop<T>;
  private readonly jobs: DrainJobs;
  private readonly isWorker: boolean;

  protected constructor(
    private readonly options: QueueOptions<T>,
    { lanes, database, sweeps, counters, config, connection, owner }: QueueParts,
  ) {
    super();
    const { kind, maxInFlight, queue, dueLanes, waitsFor, lookEveryMs } = options;
    this.config = config;
    this.isWorker = config.process.roles.includes('worker');
    this.logger = new Logger(`${kind.name} queue`);
    this.jobs = new DrainJobs(queue, connection, counters);
    this.loop = new QueueLoop({
      kind,
      lanes,
      owner,
      maxInFlight,
      ...(lookEveryMs !== undefined && { lookEveryMs }),
      handOver: (laneKey) => this.jobs.add(laneKey),
      onError: (message, error) => {
        counters.increment('lane_drain_failed');
        this.logger.error(message, error instanceof Error ? error.stack : undefined);
      },
    });
    sweeps.add(dueSweep(`${kind.name}_due`, database, this, dueLanes, waitsFor));
    const { moveMarks } = dueLanes;
    if (moveMarks === undefined) return;
    sweeps.add({
      name: `${kind.name}_marks`,
      everyMs: 10_000,
      get hasWork() {
        return moveMarks.hasWork();
      },
      run: moveMarks,
    });
  }

  /** A lane has due rows: this process's loop looks at it, or a job tells another process. Never waits. */
  wake(laneKey: string): void {
    if (this.isWorker && !this.loop.isStopping) this.loop.wake(laneKey);
    else this.jobs.announce(laneKey);
  }

  /** A lane that no worker holds has due rows: another worker may have capacity for them. */
  wakeAny(laneKey: string): void {
    if (!this.loop.isSaturated || !this.jobs.add(laneKey)) this.wake(laneKey);
  }

  /** The job queue is down: no job reaches the other workers. */
  get jobsUnavailable(): boolean {
    return this.jobs.jobsUnavailable;
  }

  process({ data }: Job<DrainJob>): Promise<void> {
    this.wake(data.laneKey);
    return Promise.resolve();
  }

  /** Claims no more, and lets the work in flight end before the connections that record its outcomes are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    const left = await this.loop.stop(this.config.process.shutdownTimeoutMs);
    this.jobs.stop();
    if (left > 0) this.logger.warn(this.options.leftAtStop(left));
  }
}

const ADD_TIMEOUT_MS = 1_000;
/** What comes while so many are under way gathers, and the next one takes it all: one statement for many lanes. */
const MAX_ADDS_IN_FLIGHT = 2;
const MAX_JOBS_PER_ADD = 100;
const MAX_PENDING = 100_000;
/** Rows that follow one another within this time need no job: a worker looks at their lane for longer after the last one. */
const QUIET_MS = 2_000;
/** A lane whose rows keep coming is announced once in this time all the same: its worker may have ended. */
const REMIND_MS = 10_000;
/** A queue that did not take a job is tried again at most this often. */
const TRY_AGAIN_MS = 1_000;

/**
 * Tells the workers by `drain` jobs which lanes have due rows. Jobs are never awaited and may get lost; the sweep finds
 * due rows by itself.
 */
export class DrainJobs {
  /** Monotonic ms at which a lane was announced, until it gets no rows for `QUIET_MS`. */
  private readonly announcedAt = new LRUCache<string, number>({
    maxSize: MAX_PENDING,
    sizeCalculation: () => 1,
    ttl: QUIET_MS,
    updateAgeOnGet: true,
    perf: { now: () => performance.now() },
    ttlResolution: 0,
  });
  private readonly pending = new Set<string>();
  private inFlight = 0;
  private failing = false;
  private triedAt = -Infinity;
  private stopped = false;

  constructor(
    private readonly queue: Queue<DrainJob>,
    private readonly connection: Pick<QueueConnection, 'isAway'>,
    private readonly counters: Counters,
  ) {}

  /** Jobs reach no other worker: each has to look for due rows itself. */
  get jobsUnavailable(): boolean {
    return this.failing || this.connection.isAway;
  }

  /** Puts the lane into the queue at its first row, and then only now and then. */
  announce(laneKey: string): void {
    const now = performance.now();
    if (now - (this.announcedAt.get(laneKey) ?? -Infinity) < REMIND_MS) return;
    if (this.add(laneKey)) this.announcedAt.set(laneKey, now);
  }

  /** Puts the lane behind all others that wait for a worker, once however often it is called; false where it cannot. */
  add(laneKey: string): boolean {
    if (this.stopped) return false;
    if (!this.takesJobs || this.pending.size >= MAX_PENDING) {
      this.counters.increment(this.takesJobs ? 'lane_wakes_dropped' : 'lane_wakes_failed');
      return false;
    }
    this.pending.add(laneKey);
    this.pump();
    return true;
  }

  /** Discards what was not announced yet: the queue is about to be closed, and the sweeps of others find the rows. */
  stop(): void {
    this.stopped = true;
    this.pending.clear();
  }

  private get takesJobs(): boolean {
    if (this.connection.isAway) return false;
    return !this.failing || (this.inFlight === 0 && performance.now() - this.triedAt >= TRY_AGAIN_MS);
  }

  private pump(): void {
    while (this.pending.size > 0 && this.inFlight < MAX_ADDS_IN_FLIGHT) {
      const laneKeys = [...this.pending].slice(0, MAX_JOBS_PER_ADD);
      for (const laneKey of laneKeys) this.pending.delete(laneKey);
      void this.addAll(laneKeys.map(drainJob));
    }
  }

  private async addAll(jobs: ReturnType<typeof drainJob>[]): Promise<void> {
    this.inFlight++;
    this.triedAt = performance.now();
    const added = this.queue.addBulk(jobs).catch(() => null);
    this.failing = (await within(ADD_TIMEOUT_MS, added)) === null;
    if (this.failing) for (const { data } of jobs) this.announcedAt.delete(data.laneKey);
    this.counters.increment(this.failing ? 'lane_wakes_failed' : 'lane_wakes', jobs.length);
    this.inFlight--;
    this.pump();
  }
}

function drainJob(laneKey: string) {
  // BullMQ uses ":" inside its keys.
  const deduplication = { id: hash('sha1', laneKey, 'base64url'), keepLastIfActive: true };
  return { name: 'drain', data: { laneKey }, opts: { removeOnComplete: true, removeOnFail: true, deduplication } };
}
