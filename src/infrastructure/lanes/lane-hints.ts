import type { Queue } from 'bullmq';
import { hash } from 'node:crypto';
import { within } from '../../common/within.js';
import type { CacheInvalidation } from '../access/cache-invalidation.js';
import type { Counters } from '../operations/counters.js';
import type { QueueConnection } from './queue-connection.js';

export interface DrainJob {
  laneKey: string;
}

const ADD_TIMEOUT_MS = 1_000;
/** What comes while so many are under way gathers, and the next one takes it all: one statement for many lanes. */
const MAX_ADDS_IN_FLIGHT = 2;
const MOST_AT_ONCE = 100;
const MAX_PENDING = 100_000;
/**
 * A lane that keeps getting rows is put into the queue for the first of them, and once more when none has come for so
 * long: until then a worker holds it and receives the signals. No longer than the least time that a lane stays with it.
 */
const REST_MS = 2_000;
/** A queue that did not take a job is tried again at most this often. */
const TRY_AGAIN_MS = 1_000;
/**
 * Between two signals; after a longer silence one goes at once. PostgreSQL wakes every connection of the database that
 * listens, whatever it listens for, so each signal costs several transactions.
 */
const SIGNAL_EVERY_MS = 50;
/** Of keys in one signal; PostgreSQL takes 8,000 bytes. */
const SIGNAL_KEYS = 150;

/**
 * Announces to other processes which lanes of a module have due rows: to the holder of a lane by a signal, and to any
 * idle worker by a `drain` job. Hints are never awaited and may get lost; the sweep finds due rows by itself.
 */
export class LaneHints {
  /** Lanes of the next signal. */
  private readonly signalled = new Set<string>();
  private timer: NodeJS.Timeout | null = null;
  private signalledAt = -Infinity;
  /** Lanes that got rows lately. */
  private readonly resting = new Map<string, { again: boolean; timer: NodeJS.Timeout }>();
  private readonly pending = new Set<string>();
  private inFlight = 0;
  private failing = false;
  private triedAt = 0;
  private stopped = false;

  constructor(
    private readonly queue: Queue<DrainJob>,
    private readonly notices: Pick<CacheInvalidation, 'on' | 'hint' | 'connected'>,
    private readonly connection: Pick<QueueConnection, 'isAway'>,
    private readonly counters: Counters,
  ) {}

  /** Signals, or the queue, do not work: every worker has to look for itself. */
  get isAway(): boolean {
    return this.failing || this.connection.isAway || !this.notices.connected;
  }

  /** Whether there is any sense in `enqueue`. */
  get takesJobs(): boolean {
    if (this.connection.isAway) return false;
    return !this.failing || (this.inFlight === 0 && performance.now() - this.triedAt >= TRY_AGAIN_MS);
  }

  /** Calls `onHint` with each lane for which another process, or this one, announces due rows. */
  listen(onHint: (laneKey: string) => void): void {
    this.notices.on(this.kind, (keys) => {
      for (const laneKey of keys?.split(' ') ?? []) onHint(laneKey);
    });
  }

  /** Notifies the process that holds the lane, or any worker. */
  announce(laneKey: string): void {
    this.signal(laneKey);
    if (this.stopped) return;
    const resting = this.resting.get(laneKey);
    if (resting !== undefined) {
      resting.again = true;
      resting.timer.refresh();
      return;
    }
    const timer = setTimeout(() => {
      const again = this.resting.get(laneKey)?.again === true;
      this.resting.delete(laneKey);
      if (again) this.announce(laneKey);
    }, REST_MS).unref();
    this.resting.set(laneKey, { again: false, timer });
    this.enqueue(laneKey);
  }

  /** Signals the process that holds the lane. */
  signal(laneKey: string): void {
    if (this.stopped) return;
    this.signalled.add(laneKey);
    const waitMs = Math.max(0, this.signalledAt + SIGNAL_EVERY_MS - performance.now());
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.signalledAt = performance.now();
      const keys = [...this.signalled];
      this.signalled.clear();
      for (let from = 0; from < keys.length; from += SIGNAL_KEYS) {
        this.notices.hint(this.kind, keys.slice(from, from + SIGNAL_KEYS).join(' '));
      }
    }, waitMs).unref();
  }

  /** Puts the lane behind all others that wait for a worker, once however often this is said. */
  enqueue(laneKey: string): void {
    if (this.stopped) return;
    if (!this.takesJobs) this.counters.increment('lane_wakes_failed');
    else if (this.pending.size >= MAX_PENDING) this.counters.increment('lane_wakes_dropped');
    else {
      this.pending.add(laneKey);
      this.pump();
    }
  }

  /**
   * Discards what was not announced yet: the queue is about to be closed, and the other processes' sweeps find the
   * rows.
   */
  stop(): void {
    this.stopped = true;
    this.pending.clear();
    this.resting.clear();
    this.signalled.clear();
  }

  private get kind(): string {
    return `lanes:${this.queue.name}`;
  }

  private pump(): void {
    while (this.pending.size > 0 && this.inFlight < MAX_ADDS_IN_FLIGHT) {
      const laneKeys = [...this.pending].slice(0, MOST_AT_ONCE);
      for (const laneKey of laneKeys) this.pending.delete(laneKey);
      void this.add(laneKeys.map(drainJob));
    }
  }

  private async add(jobs: ReturnType<typeof drainJob>[]): Promise<void> {
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
