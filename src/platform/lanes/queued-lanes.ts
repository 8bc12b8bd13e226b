import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { Slots } from '../../common/slots.js';
import { Database } from '../database/database.js';
import { Counters } from '../operations/counters.js';
import { DueSweep, type DueLane } from './due-sweep.js';
import type { LaneHandler } from './lane-handler.js';
import { LaneRepository } from './lane.repository.js';
import { LaneRunner, type DrainResult } from './lane-runner.js';
import { LANE_OWNER } from './lane-tokens.js';
import { LaneWaker, type DrainJob } from './lane-waker.js';
import { Sweeps } from './sweeps.js';

export interface QueuedLanesOptions<T> {
  handler: LaneHandler<T>;
  /** Rows that this process works on at once, over all of the room's lanes. */
  slots: Slots;
  /** Where drains stand in line. */
  queue: Queue<DrainJob>;
  /** Lanes with due rows, at most `limit`; a skip from lane to lane, never a scan of a backlog. */
  dueLanes: (limit: number) => Promise<DueLane[]>;
  quantumMs?: number;
  /** A drain of this process that can begin at once; returns false where none does, and the queue is used. */
  drainHere?: (laneKey: string) => boolean;
  /** Asked at the end of a drain: true where the lane rests, and the room itself wakes it again. */
  rests?: (laneKey: string) => boolean;
}

/** The lanes of one room, on a queue of their own: waking, draining, finding what was forgotten, stopping. */
export class QueuedLanes<T> {
  private readonly logger: Logger;
  private readonly runner: LaneRunner<T>;
  private readonly waker: LaneWaker;
  private readonly rests: (laneKey: string) => boolean;

  constructor(options: QueuedLanesOptions<T>, { lanes, owner, counters, database, sweeps }: LaneParts) {
    const { handler, slots, queue, dueLanes, quantumMs, drainHere = () => false } = options;
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
    this.waker = new LaneWaker(queue, counters, (key) => this.runner.touch(key) || drainHere(key));
    sweeps.add(new DueSweep(`${handler.name}_due`, database, this.waker, dueLanes));
  }

  get isStopping(): boolean {
    return this.runner.isStopping;
  }

  /** Tells the workers that a lane has due rows. Never waits, and may get lost: the sweep finds them. */
  wake(laneKey: string): void {
    this.waker.wake(laneKey);
  }

  /** As `wake`, but behind everybody who stands in line. */
  enqueue(laneKey: string): void {
    this.waker.enqueue(laneKey);
  }

  /** Drains one lane for its quantum; rows that are left wait behind everybody else's. */
  async drain(laneKey: string): Promise<DrainResult> {
    const result = await this.runner.drain(laneKey);
    if (!this.rests(laneKey) && result === 'more' && !this.runner.isStopping) this.waker.enqueue(laneKey);
    return result;
  }

  /** Claims no more and waits for the work in flight, at most `timeoutMs`; returns how much of it is left. */
  async stop(timeoutMs: number): Promise<number> {
    const left = await this.runner.stop(timeoutMs);
    this.waker.stop();
    return left;
  }
}

interface LaneParts {
  lanes: LaneRepository;
  owner: string;
  counters: Counters;
  database: Database;
  sweeps: Sweeps;
}

/** Makes the lanes of a room out of what only the room knows. */
@Injectable()
export class LaneFactory {
  constructor(
    private readonly lanes: LaneRepository,
    private readonly database: Database,
    private readonly sweeps: Sweeps,
    private readonly counters: Counters,
    @Inject(LANE_OWNER) private readonly owner: string,
  ) {}

  /** Call it while the application starts: it adds the sweep of what is due. */
  create<T>(options: QueuedLanesOptions<T>): QueuedLanes<T> {
    const { lanes, owner, counters, database, sweeps } = this;
    return new QueuedLanes(options, { lanes, owner, counters, database, sweeps });
  }
}
