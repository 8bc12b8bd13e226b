import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { LRUCache } from 'lru-cache';
import { within } from '../../common/within.js';
import { PgNotifier } from '../database/pg-notifier.js';
import { Counters } from '../operations/counters.js';
import { QueueConnection } from './queue-connection.js';

/** A job of a queue on Redis: this lane has due rows. */
export interface DrainJob {
  laneKey: string;
}

/**
 * A lane is announced at most once in this time. Its owner polls as often while it is warm, and once a second while it
 * waits for rows in flight. A drain that another process woke ends when it finds no row; the sweep finds rows that
 * become due right after that, within 1 s.
 */
const ANNOUNCE_EVERY_MS = 250;
const REDIS_TIMEOUT_MS = 1_000;
/** While this many announcements are in flight, further ones collect, and the next statement takes them all. */
const MAX_IN_FLIGHT = 2;
/** A notification of PostgreSQL holds at most 8,000 bytes. */
const MAX_LANES = 100;
const MAX_PENDING = 100_000;
const NOTICE = 'lanes';

/**
 * `one`: a job on Redis, which one worker gets; without Redis, or while it is away, the same as `all`. `all`: NOTIFY,
 * which all workers get.
 */
export type Hearers = 'one' | 'all';

/**
 * Tells other processes which lanes have due rows. Never awaited, and may get lost: the sweep finds due rows anyway.
 * For lanes that this process cannot serve, use `all`: a job might come back to this process.
 */
@Injectable()
export class LaneWakes {
  private readonly announced = new LRUCache<string, true>({
    maxSize: MAX_PENDING,
    sizeCalculation: () => 1,
    ttl: ANNOUNCE_EVERY_MS,
    perf: { now: () => performance.now() },
    ttlResolution: 0,
  });
  private readonly receivers = new Map<string, (laneKey: string) => void>();
  /** By kind. */
  private readonly pending = { one: new Map<string, Set<string>>(), all: new Map<string, Set<string>>() };
  private inFlight = 0;
  private isStopped = false;

  constructor(
    private readonly redis: QueueConnection,
    private readonly notifier: PgNotifier,
    private readonly counters: Counters,
  ) {
    notifier.on(NOTICE, (notice) => {
      const [kind = '', ...laneKeys] = notice?.split(' ') ?? [];
      for (const laneKey of laneKeys) this.receivers.get(kind)?.(laneKey);
    });
  }

  /** This process receives no wakes, so it must search for due rows itself. */
  get unavailable(): boolean {
    return !this.redis.isConnected && !this.notifier.connected;
  }

  /** Calls `receive` for lanes that another process announces by NOTIFY. */
  on(kind: string, receive: (laneKey: string) => void): void {
    this.receivers.set(kind, receive);
  }

  announce(kind: string, laneKey: string, hearers: Hearers): void {
    const key = announcementOf(kind, laneKey, hearers);
    if (this.isStopped || this.announced.has(key)) return;
    const pending = this.pending[hearers];
    const lanes = pending.get(kind) ?? new Set();
    if (lanes.size >= MAX_PENDING) return this.counters.increment('lane_wakes_dropped');
    this.announced.set(key, true);
    pending.set(kind, lanes.add(laneKey));
    this.pump();
  }

  /** Discards announcements that were not sent: the sweeps of other processes find the rows. */
  stop(): void {
    this.isStopped = true;
    for (const pending of Object.values(this.pending)) pending.clear();
  }

  private pump(): void {
    for (const hearers of ['one', 'all'] as const) this.pumpTo(hearers);
  }

  private pumpTo(hearers: Hearers): void {
    for (const [kind, lanes] of this.pending[hearers]) {
      while (lanes.size > 0 && this.inFlight < MAX_IN_FLIGHT) {
        const laneKeys = [...lanes].slice(0, MAX_LANES);
        for (const laneKey of laneKeys) lanes.delete(laneKey);
        this.inFlight++;
        void this.send(kind, laneKeys, hearers).then((isSent) => {
          if (!isSent) for (const laneKey of laneKeys) this.announced.delete(announcementOf(kind, laneKey, hearers));
          this.counters.increment(isSent ? 'lane_wakes' : 'lane_wakes_failed', laneKeys.length);
          this.inFlight--;
          this.pump();
        });
      }
    }
  }

  /** Does not reject. */
  private async send(kind: string, laneKeys: readonly string[], hearers: Hearers): Promise<boolean> {
    const sent = (work: Promise<unknown>): Promise<boolean> =>
      work.then(
        () => true,
        () => false,
      );
    // Only while connected, because the client of Redis queues commands while it is not.
    const queue = hearers === 'one' && this.redis.isConnected ? this.redis.queueOf<DrainJob>(kind) : null;
    if (queue !== null && (await within(REDIS_TIMEOUT_MS, sent(queue.addBulk(laneKeys.map(drainJob)))))) return true;
    return sent(this.notifier.publish(NOTICE, [kind, ...laneKeys].join(' ')));
  }
}

const announcementOf = (kind: string, laneKey: string, hearers: Hearers): string => `${hearers} ${kind} ${laneKey}`;

function drainJob(laneKey: string): Parameters<Queue<DrainJob>['addBulk']>[0][number] {
  // Without deduplication by lane: the job of a dead worker would swallow each wake until it is found stalled.
  return { name: 'drain', data: { laneKey }, opts: { removeOnComplete: true, removeOnFail: true } };
}
