import type { Queue } from 'bullmq';
import { LRUCache } from 'lru-cache';
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

  /** Jobs reach no other worker: each has to look for itself. */
  get jobsUnavailable(): boolean {
    return this.failing || this.connection.isAway;
  }

  /** Puts the lane into the queue at its first row, and then only now and then. */
  announce(laneKey: string): void {
    const now = performance.now();
    if (now - (this.announcedAt.get(laneKey) ?? -Infinity) < REMIND_MS) return;
    if (this.add(laneKey)) this.announcedAt.set(laneKey, now);
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
