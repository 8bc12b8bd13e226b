import type { Queue } from 'bullmq';
import { createHash } from 'node:crypto';
import type { Counters } from '../operations/counters.js';

export interface DrainJob {
  laneKey: string;
}

const WAKE_TIMEOUT_MS = 1_000;
const MAX_ADDS_IN_FLIGHT = 8;
const MAX_PENDING = 100_000;
/** After a wake its lane is not woken again for this long; what comes meanwhile shares one wake at the end. */
const REST_MS = 25;
/** A lane that stays due although it was woken is woken past BullMQ's deduplication, at most this often. */
const FORCED_EVERY_MS = 10_000;

/**
 * Puts `drain` jobs into a queue. Wakes are hints: they are never awaited, each lane stands in line once however many
 * rows it gets, and a wake that fails is only counted, since the sweep finds due rows by itself.
 */
export class LaneWaker {
  private readonly pending = new Set<string>();
  /** Lanes that were just woken; true where more rows came since. */
  private readonly resting = new Map<string, boolean>();
  private inFlight = 0;
  private stopped = false;

  constructor(
    private readonly queue: Queue<DrainJob>,
    private readonly counters: Counters,
    /** A drain of this process that can take the rows without the queue; returns false where none runs. */
    private readonly touch: (laneKey: string) => boolean = () => false,
  ) {}

  /** Announces that a lane has due rows. */
  wake(laneKey: string): void {
    if (!this.touch(laneKey)) this.enqueue(laneKey);
  }

  /** As `wake`, but always through the queue: for a drain that ends with rows left, behind everybody else. */
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

  /** Wakes a lane that has been due for long: a deduplication key left behind by a crash must not park it. */
  async force(laneKey: string): Promise<void> {
    if (this.stopped) return;
    const round = Math.floor(Date.now() / FORCED_EVERY_MS);
    await this.add(laneKey, { id: `${deduplicationId(laneKey)}-${round}`, ttl: FORCED_EVERY_MS });
  }

  /** Forgets the wakes that stand in line: the queue is about to be closed, and the other processes' sweeps find the rows. */
  stop(): void {
    this.stopped = true;
    this.pending.clear();
    this.resting.clear();
  }

  private pump(): void {
    while (this.inFlight < MAX_ADDS_IN_FLIGHT) {
      const next = this.pending.values().next();
      if (next.done) return;
      this.pending.delete(next.value);
      this.rest(next.value);
      this.inFlight++;
      void this.add(next.value, {
        id: deduplicationId(next.value),
        keepLastIfActive: true,
      }).finally(() => {
        this.inFlight--;
        this.pump();
      });
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

  private async add(
    laneKey: string,
    deduplication: { id: string; keepLastIfActive?: boolean; ttl?: number },
  ): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('the queue did not take a wake in time')), WAKE_TIMEOUT_MS);
      // A hint that hangs keeps no process from its end.
      timer.unref();
    });
    const added = this.queue.add('drain', { laneKey }, { removeOnComplete: true, removeOnFail: true, deduplication });
    // The loser of the race may still fail later; that failure is the same one.
    added.catch(() => undefined);
    try {
      await Promise.race([added, timeout]);
      this.counters.increment('lane_wakes');
    } catch {
      this.counters.increment('lane_wakes_failed');
    } finally {
      clearTimeout(timer);
    }
  }
}

// BullMQ uses ":" inside its keys.
function deduplicationId(laneKey: string): string {
  return createHash('sha1').update(laneKey).digest('base64url');
}
