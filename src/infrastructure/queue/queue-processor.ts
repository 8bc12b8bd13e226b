import { WorkerHost } from '@nestjs/bullmq';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { newId } from '../../common/ids.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { LaneRepository } from './lane.repository.js';
import { QueueConnection } from './queue-connection.js';
import { Sweeps, type AwaitedTime } from './sweeps.js';
import { Counters } from '../operations/counters.js';
import { DrainJobs, type DrainJob } from './drain-jobs.js';
import { dueSweep, type DueLanes } from './due-lanes.js';
import { QueueLoop, type QueueKind } from './queue-loop.js';

/**
 * How a BullMQ worker treats `drain` jobs. They are hints: due rows are found without them, so nothing waits for a job
 * that is lost. The server notifies a waiting worker of each new job, and the jobs of a worker that was killed are free
 * again within four minutes; looking for either more often would be most of what an idle process does. A stalled job is
 * never given up: a drain may run twice without harm.
 *
 * After a connection that broke a worker tries again at once: BullMQ's default is to look away for 15 s, in which nothing
 * would be sent although the server is back.
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
    if (moveMarks !== undefined) sweeps.add({ name: `${kind.name}_marks`, everyMs: 10_000, run: moveMarks });
  }

  /** A lane has due rows: this process's loop looks at it, or a job tells another process. Never waits. */
  wake(laneKey: string): void {
    if (this.isWorker && !this.loop.isStopping) this.loop.wake(laneKey);
    else this.jobs.announce(laneKey);
  }

  /** A lane that no worker holds has due rows: another worker may have capacity for them. */
  wakeAny(laneKey: string): void {
    if (!this.loop.isFull || !this.jobs.add(laneKey)) this.wake(laneKey);
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
