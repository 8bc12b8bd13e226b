import { WorkerHost } from '@nestjs/bullmq';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { newId } from '../../common/ids.js';
import type { Slots } from '../../common/slots.js';
import { CacheInvalidation } from '../access/cache-invalidation.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { Counters } from '../operations/counters.js';
import { dueSweep, type DueLanes } from './due-lanes.js';
import { type LaneHandler, LaneRunner } from './lane-runner.js';
import { LaneHints, type DrainJob } from './lane-hints.js';
import { LaneRepository } from './lane.repository.js';
import { QueueConnection } from './queue-connection.js';
import { Sweeps, type AwaitedTime } from './sweeps.js';

/** Bound on requests to the messaging platform that this process keeps open at once. */
export const PLATFORM_SLOTS = Symbol('PLATFORM_SLOTS');

/**
 * How a BullMQ worker treats `drain` jobs. They are hints: due rows are found without them, so nothing waits for a job
 * that is lost. The server notifies a waiting worker of each new job, and the jobs of a worker that was killed are free
 * again within 40 s; looking for either more often would be most of what an idle process does. A stalled job is
 * never given up: a drain may run twice without harm. The number of drains at once is high because a waiting drain is
 * only a promise.
 *
 * After a connection that broke a worker tries again at once: BullMQ's default is to look away for 15 s, in which nothing
 * would be sent although the server is back.
 *
 * Jobs themselves say `removeOnComplete: true`; keeping a count of them made the PostgreSQL backend deadlock.
 */
export const LANE_WORKER_OPTIONS = {
  concurrency: 1_000,
  drainDelay: 120,
  lockDuration: 5_000,
  stalledInterval: 20_000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 500,
} as const;

/** What a module says of its lanes. */
export interface LaneOptions<T> {
  handler: LaneHandler<T>;
  /** Rows that this process works on at once, over all of the module's lanes. */
  slots: Slots;
  /** Announces due rows to other processes. */
  queue: Queue<DrainJob>;
  dueLanes: DueLanes;
  /** The times that make its rows due. */
  waitsFor: readonly AwaitedTime[];
  claimEveryMs?: number;
  /** What is said where so many rows are still worked on when the stop's time is over. */
  leftAtStop(count: number): string;
}

/** What every module's lanes need of the platform. */
@Injectable()
export class LaneParts {
  /** The id under which this process holds lanes; new at every start. */
  readonly owner = newId();

  constructor(
    readonly lanes: LaneRepository,
    readonly database: Database,
    readonly sweeps: Sweeps,
    readonly counters: Counters,
    readonly config: Config,
    readonly connection: QueueConnection,
    readonly notices: CacheInvalidation,
  ) {}
}

/**
 * The lanes of one module. A worker drains the lanes of which it knows that they have due rows; a process that is no
 * worker hints at them. A hint is a signal to the worker that holds the lane and a job for any idle worker, and nothing
 * depends on it: the sweep of due rows finds what was not announced.
 *
 * A module extends it with its `@Processor(QUEUE, LANE_WORKER_OPTIONS)`.
 */
export abstract class LaneProcessor<T> extends WorkerHost implements BeforeApplicationShutdown {
  protected readonly logger: Logger;
  protected readonly config: Config;
  private readonly runner: LaneRunner<T>;
  private readonly hints: LaneHints;
  private readonly local: LocalDrains;
  private readonly isWorker: boolean;

  protected constructor(
    private readonly options: LaneOptions<T>,
    { lanes, database, sweeps, counters, config, connection, notices, owner }: LaneParts,
  ) {
    super();
    const { handler, slots, queue, dueLanes, waitsFor, claimEveryMs } = options;
    this.config = config;
    this.isWorker = config.process.roles.includes('worker');
    this.logger = new Logger(`${handler.name} lanes`);
    this.runner = new LaneRunner({
      handler,
      lanes,
      slots,
      owner,
      ...(claimEveryMs !== undefined && { claimEveryMs }),
      mostDrains: config.queue.concurrency,
      wake: (laneKey) => this.wake(laneKey),
      onError: (message, error) => {
        counters.increment('lane_drain_failed');
        this.logger.error(message, error instanceof Error ? error.stack : undefined);
      },
    });
    this.local = new LocalDrains((laneKey) => this.drain(laneKey), config.queue.concurrency);
    this.hints = new LaneHints(queue, notices, connection, counters);
    this.hints.listen((laneKey) => {
      if (this.runner.holds(laneKey)) this.rescue(laneKey);
    });
    sweeps.add(dueSweep(`${handler.name}_due`, database, this, dueLanes, waitsFor));
  }

  /** Announces to the workers that a lane has due rows. Never waits. */
  wake(laneKey: string): void {
    if (!this.isWorker || this.runner.isStopping) this.hints.announce(laneKey);
    else if (!this.runner.touch(laneKey) && !this.local.begin(laneKey)) this.putBehind(laneKey);
  }

  /** Drains a lane here that has been due for a while: hints do not help it. */
  rescue(laneKey: string): void {
    if (!this.runner.touch(laneKey)) this.local.add(laneKey);
  }

  /** Signals the process that holds a lane, this one or another, that it has due rows. */
  tellHolder(laneKey: string): void {
    if (this.runner.holds(laneKey)) this.wake(laneKey);
    else this.hints.signal(laneKey);
  }

  /** No hint reaches the other workers. */
  get isAlone(): boolean {
    return this.hints.isAway;
  }

  /** Drains one lane for its quantum; rows that are left wait behind those of all other lanes. */
  async process({ data }: Job<DrainJob>): Promise<void> {
    await this.drain(data.laneKey);
  }

  /** Claims no more, and lets the work in flight end before the connections that record its outcomes are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.options.handler.stop();
    this.local.stop();
    const left = await this.runner.stop(this.config.process.shutdownTimeoutMs);
    this.hints.stop();
    if (left > 0) this.logger.warn(this.options.leftAtStop(left));
  }

  private async drain(laneKey: string): Promise<void> {
    const result = await this.runner.drain(laneKey);
    // The holder may have looked for the last time before these rows came.
    if (result === 'held') this.hints.signal(laneKey);
    if (result !== 'more' || this.runner.isStopping) return;
    if (this.runner.holds(laneKey)) this.local.add(laneKey);
    else this.putBehind(laneKey);
  }

  /** Behind the lanes that wait for any worker; without the queue behind those that wait here. */
  private putBehind(laneKey: string): void {
    if (this.hints.takesJobs) this.hints.enqueue(laneKey);
    else this.local.add(laneKey);
  }
}

/**
 * Drains that this process begins by itself, without the queue: at most `most` at once, first come, first served. A
 * lane waits once however often it is added, and one that is added again after its drain waits behind all others.
 */
export class LocalDrains {
  private readonly waiting = new Set<string>();
  private running = 0;
  private stopped = false;

  constructor(
    /** Must not reject. */
    private readonly drain: (laneKey: string) => Promise<void>,
    private readonly most: number,
  ) {}

  /** Begins a drain now; false where too many run or the process stops. */
  begin(laneKey: string): boolean {
    if (this.stopped || this.running >= this.most) return false;
    this.running++;
    void this.drain(laneKey).finally(() => {
      this.running--;
      this.next();
    });
    return true;
  }

  /** Begins a drain now or as soon as its turn comes; false where the process stops. */
  add(laneKey: string): boolean {
    if (this.stopped) return false;
    if (!this.begin(laneKey)) this.waiting.add(laneKey);
    return true;
  }

  /** Begins no more; the runner waits for those that run. */
  stop(): void {
    this.stopped = true;
    this.waiting.clear();
  }

  private next(): void {
    const [laneKey] = this.waiting;
    if (laneKey !== undefined && this.begin(laneKey)) this.waiting.delete(laneKey);
  }
}
