import { WorkerHost } from '@nestjs/bullmq';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Job } from 'bullmq';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { Counters } from '../operations/counters.js';
import { dueSweep, type DueLanes } from './due-lanes.js';
import { LaneOwner } from './lane-owner.js';
import { LaneRunner } from './lane-runner.js';
import { LaneWakes, type DrainJob } from './lane-wakes.js';
import { LaneRepository } from './lane.repository.js';
import { REDIS_WAIT_SECONDS } from './queue-connection.js';
import type { QueueKind } from './queue-kind.js';
import { Sweeps, type AwaitedTime } from './sweeps.js';

/**
 * How a BullMQ worker handles `drain` jobs. A job lasts as long as the drain that it starts, and mostly waits: slots
 * bound the work, not jobs. Jobs of a killed worker are free again within ten seconds. A job is never given up, since a
 * drain may run twice without harm. A worker reconnects at once: BullMQ's default wait of 15 s would delay sending
 * although the server is back.
 */
export const QUEUE_WORKER_OPTIONS = {
  concurrency: 10_000,
  drainDelay: REDIS_WAIT_SECONDS,
  lockDuration: 5_000,
  stalledInterval: 5_000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 500,
} as const;

/** The part of a stop's time that is kept for closing connections after the work. */
const CLOSE_MS = 2_500;

/** A module's description of its queue. */
export interface QueueOptions<T> {
  kind: QueueKind<T>;
  /** Limit of rows in work in this process. */
  maxInFlight: number;
  dueLanes: DueLanes;
  /** The times that make its rows due. */
  waitsFor: readonly AwaitedTime[];
  /** See LaneRunner; lanes that get rows within this time share a claim. */
  claimEveryMs?: number;
  /** Log text when shutdown times out with `count` rows unfinished. */
  leftAtStop(count: number): string;
}

/** The infrastructure that every module's queue needs. */
@Injectable()
export class QueueParts {
  constructor(
    readonly lanes: LaneRepository,
    readonly database: Database,
    readonly sweeps: Sweeps,
    readonly counters: Counters,
    readonly config: Config,
    readonly wakes: LaneWakes,
    readonly owner: LaneOwner,
  ) {}
}

/**
 * The queue of one module. A notice that a lane has due rows comes from the code that made them due (`wake`), from a
 * job (`process`) or a notification of another process, or from the sweep (`wakeAny`). A worker drains the lane; a
 * process that is not a worker notifies the workers.
 *
 * A module extends it with its `@Processor(QUEUE, QUEUE_WORKER_OPTIONS)`.
 */
export abstract class QueueProcessor<T> extends WorkerHost implements BeforeApplicationShutdown {
  protected readonly logger: Logger;
  protected readonly config: Config;
  private readonly runner: LaneRunner<T>;
  private readonly wakes: LaneWakes;
  private readonly isWorker: boolean;
  private readonly hasOthers: () => boolean;
  private stopped: Promise<number> | null = null;

  protected constructor(
    private readonly options: QueueOptions<T>,
    { lanes, database, sweeps, counters, config, wakes, owner }: QueueParts,
  ) {
    super();
    this.hasOthers = () => owner.hasOthers;
    const { kind, maxInFlight, dueLanes, waitsFor, claimEveryMs } = options;
    this.config = config;
    this.wakes = wakes;
    this.isWorker = config.process.roles.includes('worker');
    this.logger = new Logger(`${kind.name} queue`);
    this.runner = new LaneRunner({
      kind,
      lanes,
      owner: owner.id,
      maxInFlight,
      ...(claimEveryMs !== undefined && { claimEveryMs }),
      hasOthers: this.hasOthers,
      announce: (laneKey) => wakes.announce(kind.name, laneKey, 'all'),
      onError: (message, error) => {
        counters.increment('lane_drain_failed');
        this.logger.error(message, error instanceof Error ? error.stack : undefined);
      },
    });
    if (this.isWorker) wakes.on(kind.name, (laneKey) => void this.runner.wokenByOther(laneKey));
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

  /** A lane has due rows: drains it here, or notifies another process. Never waits. */
  wake(laneKey: string): void {
    if (this.isWorker && !this.runner.isStopping) this.runner.wake(laneKey);
    else this.wakes.announce(this.options.kind.name, laneKey, 'one');
  }

  /** A lane without an owner has due rows: another worker may have slots for them. */
  wakeAny(laneKey: string): void {
    this.passOnIfFull(laneKey);
    this.wake(laneKey);
  }

  get wakesUnavailable(): boolean {
    return this.wakes.unavailable;
  }

  /**
   * The job lasts as long as the drain that it starts. It ends at once where this process drains the lane already.
   *
   * Only this worker gets the job. If an owner elsewhere has just found no row and is about to release the lane, it has
   * not heard of these rows: so the lane is tried once more.
   */
  async process({ data: { laneKey } }: Pick<Job<DrainJob>, 'data'>): Promise<void> {
    if (this.runner.isStopping) return this.wakes.announce(this.options.kind.name, laneKey, 'all');
    this.passOnIfFull(laneKey);
    if ((await this.runner.wokenByOther(laneKey)) === 'denied') await this.runner.wokenByOther(laneKey);
  }

  private passOnIfFull(laneKey: string): void {
    if (this.runner.isSaturated && this.hasOthers()) this.wakes.announce(this.options.kind.name, laneKey, 'all');
  }

  /**
   * From now on nothing is claimed. `QueueWorkers` calls this for all queues at once, so that they stop at the same
   * time.
   */
  beginStop(): void {
    const { shutdownTimeoutMs } = this.config.process;
    this.stopped ??= this.runner.stop(Math.max(shutdownTimeoutMs - CLOSE_MS, shutdownTimeoutMs / 2));
  }

  /** Lets rows in work end before the connections that record their outcomes are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.beginStop();
    const left = (await this.stopped) ?? 0;
    if (left > 0) this.logger.warn(this.options.leftAtStop(left));
  }
}
