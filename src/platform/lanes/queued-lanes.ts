import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { Slots } from '../../common/slots.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { Counters } from '../operations/counters.js';
import type { DueLanes } from './due-lanes.js';
import { DueSweep } from './due-sweep.js';
import type { LaneHandler } from './lane-handler.js';
import { LaneRepository } from './lane.repository.js';
import { LaneRunner, type DrainResult } from './lane-runner.js';
import { LANE_OWNER } from './lane-tokens.js';
import { LaneWaker, type DrainJob } from './lane-waker.js';
import { LocalDrains } from './local-drains.js';
import { QueueConnection } from './queue-connection.js';
import { Sweeps, type AwaitedTime } from './sweeps.js';

export interface QueuedLanesOptions<T> {
  handler: LaneHandler<T>;
  /** Rows that this process works on at once, over all of the room's lanes. */
  slots: Slots;
  /** Where drains stand in line. */
  queue: Queue<DrainJob>;
  dueLanes: DueLanes;
  /** The times that make its rows due. */
  waitsFor: readonly AwaitedTime[];
  quantumMs?: number;
  /** A worker drains the lanes that it wakes itself as long as it has places, which saves the queue their jobs. */
  drainsOwnWakes?: boolean;
  /** Asked before and after a drain: true where the lane rests, and the room itself wakes it again. */
  rests?: (laneKey: string) => boolean;
}

/** The lanes of one room, on a queue of their own: waking, draining, finding what was forgotten, stopping. */
export class QueuedLanes<T> {
  private readonly logger: Logger;
  private readonly runner: LaneRunner<T>;
  private readonly waker: LaneWaker;
  private readonly local: LocalDrains;
  private readonly isWorker: boolean;
  private readonly rests: (laneKey: string) => boolean;

  constructor(
    private readonly options: QueuedLanesOptions<T>,
    { lanes, owner, counters, database, sweeps, config, connection }: LaneParts,
  ) {
    const { handler, slots, queue, dueLanes, quantumMs } = options;
    this.isWorker = config.process.roles.includes('worker');
    this.rests = options.rests ?? (() => false);
    this.logger = new Logger(`${handler.name} lanes`);
    this.runner = new LaneRunner({
      handler,
      lanes,
      slots,
      owner,
      ...(quantumMs !== undefined && { quantumMs }),
      onError: (message, error) => {
        counters.increment('lane_drain_failed');
        this.logger.error(message, error instanceof Error ? error.stack : undefined);
      },
    });
    this.local = new LocalDrains((key) => this.drainLocally(key), config.queue.concurrency);
    this.waker = new LaneWaker(queue, counters, {
      touch: (key) => this.runner.touch(key) || (this.isWorker && this.takeOwnWake(key)),
      drainHere: (key) => this.isWorker && this.local.add(key),
      isDisconnected: () => connection.isAway,
    });
    sweeps.add(new DueSweep(`${handler.name}_due`, database, this.waker, dueLanes, options.waitsFor));
  }

  get isStopping(): boolean {
    return this.runner.isStopping;
  }

  /** Tells the workers that a lane has due rows. Never waits, and may get lost: the sweep finds them. */
  wake(laneKey: string): void {
    this.waker.wake(laneKey);
  }

  /** Drains one lane for its quantum; rows that are left wait behind everybody else's. */
  async drain(laneKey: string): Promise<DrainResult> {
    const result = await this.runner.drain(laneKey);
    if (!this.rests(laneKey) && result === 'more' && !this.runner.isStopping) this.waker.enqueue(laneKey);
    return result;
  }

  /** Claims no more and waits for the work in flight, at most `timeoutMs`; returns how much of it is left. */
  async stop(timeoutMs: number): Promise<number> {
    this.local.stop();
    const left = await this.runner.stop(timeoutMs);
    this.waker.stop();
    return left;
  }

  private takeOwnWake(laneKey: string): boolean {
    if (this.options.drainsOwnWakes !== true || this.runner.isStopping) return false;
    return this.rests(laneKey) || this.local.begin(laneKey);
  }

  private async drainLocally(laneKey: string): Promise<void> {
    const result = await this.drain(laneKey);
    // The holder may have looked for the last time before these rows came. Without the queue the sweep looks again.
    if (result === 'held' && !this.waker.isAway) this.waker.enqueue(laneKey);
  }
}

interface LaneParts {
  lanes: LaneRepository;
  owner: string;
  counters: Counters;
  database: Database;
  sweeps: Sweeps;
  config: Config;
  connection: QueueConnection;
}

/** Makes the lanes of a room out of what only the room knows. */
@Injectable()
export class LaneFactory {
  constructor(
    private readonly lanes: LaneRepository,
    private readonly database: Database,
    private readonly sweeps: Sweeps,
    private readonly counters: Counters,
    private readonly config: Config,
    private readonly connection: QueueConnection,
    @Inject(LANE_OWNER) private readonly owner: string,
  ) {}

  /** Call it while the application starts: it adds the sweep of what is due. */
  create<T>(options: QueuedLanesOptions<T>): QueuedLanes<T> {
    const { lanes, owner, counters, database, sweeps, config, connection } = this;
    return new QueuedLanes(options, { lanes, owner, counters, database, sweeps, config, connection });
  }
}
