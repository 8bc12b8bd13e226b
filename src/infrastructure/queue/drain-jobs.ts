import type { Queue } from 'bullmq';
import { hash } from 'node:crypto';
import { within } from '../../common/within.js';
import type { Counters } from '../operations/counters.js';
import type { QueueConnection } from './queue-connection.js';

export interface DrainJob {
  laneKey: string;
}

const ADD_TIMEOUT_MS = 1_000;
/** What comes while so many are under way gathers, and the next one takes it all: one statement for many lanes. */
const MAX_ADDS_IN_FLIGHT = 2;
const MAX_JOBS_PER_ADD = 100;
const MAX_PENDING = 100_000;
/** A lane that keeps getting rows is announced once in this time; less than a worker looks at it after the last row. */
const THROTTLE_MS = 2_000;
/** A queue that did not take a job is tried again at most this often. */
const TRY_AGAIN_MS = 1_000;

/**
 * Tells the workers by `drain` jobs which lanes have due rows. Jobs are never awaited and may get lost; the sweep finds
 * due rows by itself.
 */
export class DrainJobs {
  /** Lanes that were announced lately, and whether they got rows since. */
  private readonly throttled = new Map<string, { again: boolean }>();
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

  /** Jobs reach no other worker: each has to look for itself. */
  get jobsUnavailable(): boolean {
    return this.failing || this.connection.isAway;
  }

  /** Puts the lane into the queue, at most once in two seconds. */
  announce(laneKey: string): void {
    if (this.stopped) return;
    const throttled = this.throttled.get(laneKey);
    if (throttled !== undefined) {
      throttled.again = true;
      return;
    }
    this.throttled.set(laneKey, { again: false });
    setTimeout(() => {
      const again = this.throttled.get(laneKey)?.again === true;
      this.throttled.delete(laneKey);
      if (again) this.announce(laneKey);
    }, THROTTLE_MS).unref();
    this.add(laneKey);
  }

  /** Puts the lane behind all others that wait for a worker, once however often this is said; false where it cannot. */
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
    this.throttled.clear();
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
