import type { Queue } from 'bullmq';
import { createHash } from 'node:crypto';
import type { Counters } from '../operations/counters.js';

export interface DrainJob {
  laneKey: string;
}

/** What this process can do for a lane without the queue. */
export interface WithoutQueue {
  /** Hands the rows to a drain of this process; returns false where none runs, and the queue is used. */
  touch(laneKey: string): boolean;
  /** Has this process drain the lane, now or when its turn comes; returns false where it drains none. */
  drainHere(laneKey: string): boolean;
  /** The connection to the queue is known to be broken. */
  isDisconnected(): boolean;
}

const WAKE_TIMEOUT_MS = 1_000;
const MAX_ADDS_IN_FLIGHT = 8;
const MAX_PENDING = 100_000;
/** After a wake its lane is not woken again for this long; what comes meanwhile shares one wake at the end. */
const REST_MS = 25;
/** A queue that did not take a wake is tried again at most this often. */
const TRY_AGAIN_MS = 1_000;

/**
 * Puts `drain` jobs into a queue. Wakes are hints: they are never awaited, each lane stands in line once however many
 * rows it gets, and the sweep finds due rows by itself. While the queue takes no wakes this process drains the lanes
 * itself where it is a worker.
 */
export class LaneWaker {
  private readonly pending = new Set<string>();
  /** Lanes that were just woken; true where more rows came since. */
  private readonly resting = new Map<string, boolean>();
  private inFlight = 0;
  private failing = false;
  private triedAt = 0;
  private stopped = false;

  constructor(
    private readonly queue: Queue<DrainJob>,
    private readonly counters: Counters,
    private readonly here: WithoutQueue,
  ) {}

  /** The queue cannot be reached, or did not take the last wake. */
  get isAway(): boolean {
    return this.failing || this.here.isDisconnected();
  }

  /** Announces that a lane has due rows. */
  wake(laneKey: string): void {
    if (!this.here.touch(laneKey)) this.enqueue(laneKey);
  }

  /** As `wake`, but never to a drain that runs: for a drain that ends with rows left, behind everybody else. */
  enqueue(laneKey: string): void {
    if (this.stopped) return;
    if (this.resting.has(laneKey)) {
      this.resting.set(laneKey, true);
      return;
    }
    if (this.pending.size >= MAX_PENDING) {
      this.counters.increment('lane_wakes_dropped');
      return;
    }
    this.pending.add(laneKey);
    this.pump();
  }

  /** Drains a lane here that is due although it was woken: the queue lost the wake, or works off no jobs. */
  rescue(laneKey: string): void {
    if (this.stopped) return;
    if (!this.here.drainHere(laneKey)) this.enqueue(laneKey);
  }

  /** Forgets the wakes that stand in line: the queue is about to be closed, and the other processes' sweeps find the rows. */
  stop(): void {
    this.stopped = true;
    this.pending.clear();
    this.resting.clear();
  }

  private pump(): void {
    for (;;) {
      const away = this.isAway;
      if (!away && this.inFlight >= MAX_ADDS_IN_FLIGHT) return;
      const next = this.pending.values().next();
      if (next.done) return;
      const laneKey = next.value;
      this.pending.delete(laneKey);
      this.rest(laneKey);
      if (!away) void this.add(laneKey);
      else if (!this.mayTryAgain()) this.withoutQueue(laneKey);
      else void this.add(laneKey, this.here.drainHere(laneKey));
    }
  }

  /** A thousand messages a second to one lane need no thousand wakes: the first at once, then one each 25 ms. */
  private rest(laneKey: string): void {
    this.resting.set(laneKey, false);
    setTimeout(() => {
      const again = this.resting.get(laneKey) === true;
      this.resting.delete(laneKey);
      if (again) this.enqueue(laneKey);
    }, REST_MS);
  }

  private withoutQueue(laneKey: string): void {
    this.counters.increment('lane_wakes_failed');
    this.here.drainHere(laneKey);
  }

  private mayTryAgain(): boolean {
    return !this.here.isDisconnected() && this.inFlight === 0 && performance.now() - this.triedAt >= TRY_AGAIN_MS;
  }

  /** @param drained this process drains the lane whatever the queue says */
  private async add(laneKey: string, drained = false): Promise<void> {
    this.inFlight++;
    this.triedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('the queue did not take a wake in time')), WAKE_TIMEOUT_MS);
      // A hint that hangs keeps no process from its end.
      timer.unref();
    });
    const deduplication = { id: deduplicationId(laneKey), keepLastIfActive: true };
    const added = this.queue.add('drain', { laneKey }, { removeOnComplete: true, removeOnFail: true, deduplication });
    // The loser of the race may still fail later; that failure is the same one.
    added.catch(() => undefined);
    try {
      await Promise.race([added, timeout]);
      this.failing = false;
      this.counters.increment('lane_wakes');
    } catch {
      this.failing = true;
      if (drained) this.counters.increment('lane_wakes_failed');
      else if (!this.stopped) this.withoutQueue(laneKey);
    } finally {
      clearTimeout(timer);
      this.inFlight--;
      this.pump();
    }
  }
}

// BullMQ uses ":" inside its keys.
function deduplicationId(laneKey: string): string {
  return createHash('sha1').update(laneKey).digest('base64url');
}
