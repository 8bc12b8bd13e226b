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
/** What comes while so many are under way gathers, and the next one takes it all: one statement for many lanes. */
const MAX_ADDS_IN_FLIGHT = 2;
const MOST_AT_ONCE = 100;
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
    while (this.pending.size > 0) {
      const away = this.isAway;
      if (!away && this.inFlight >= MAX_ADDS_IN_FLIGHT) return;
      const laneKeys = this.takePending(away ? 1 : MOST_AT_ONCE);
      if (!away) void this.add(laneKeys);
      else if (!this.mayTryAgain()) this.withoutQueue(laneKeys);
      else void this.add(laneKeys, laneKeys.map((laneKey) => this.here.drainHere(laneKey)).includes(true));
    }
  }

  private takePending(most: number): string[] {
    const laneKeys: string[] = [];
    for (const laneKey of this.pending) {
      if (laneKeys.length === most) break;
      this.pending.delete(laneKey);
      this.rest(laneKey);
      laneKeys.push(laneKey);
    }
    return laneKeys;
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

  private withoutQueue(laneKeys: readonly string[]): void {
    this.counters.increment('lane_wakes_failed', laneKeys.length);
    for (const laneKey of laneKeys) this.here.drainHere(laneKey);
  }

  private mayTryAgain(): boolean {
    return !this.here.isDisconnected() && this.inFlight === 0 && performance.now() - this.triedAt >= TRY_AGAIN_MS;
  }

  /** @param drained this process drains the lanes whatever the queue says */
  private async add(laneKeys: readonly string[], drained = false): Promise<void> {
    this.inFlight++;
    this.triedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('the queue did not take a wake in time')), WAKE_TIMEOUT_MS);
      // A hint that hangs keeps no process from its end.
      timer.unref();
    });
    const jobs = laneKeys.map(drainJob);
    const [job] = jobs;
    const added =
      job !== undefined && jobs.length === 1 ? this.queue.add(job.name, job.data, job.opts) : this.queue.addBulk(jobs);
    // The loser of the race may still fail later; that failure is the same one.
    added.catch(() => undefined);
    try {
      await Promise.race([added, timeout]);
      this.failing = false;
      this.counters.increment('lane_wakes', laneKeys.length);
    } catch {
      this.failing = true;
      if (drained) this.counters.increment('lane_wakes_failed', laneKeys.length);
      else if (!this.stopped) this.withoutQueue(laneKeys);
    } finally {
      clearTimeout(timer);
      this.inFlight--;
      this.pump();
    }
  }
}

function drainJob(laneKey: string) {
  const deduplication = { id: deduplicationId(laneKey), keepLastIfActive: true };
  return { name: 'drain', data: { laneKey }, opts: { removeOnComplete: true, removeOnFail: true, deduplication } };
}

// BullMQ uses ":" inside its keys.
function deduplicationId(laneKey: string): string {
  return createHash('sha1').update(laneKey).digest('base64url');
}
