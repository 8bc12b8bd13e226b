import { Signal } from '../../common/signal.js';
import { TokenBucket } from '../../common/token-bucket.js';
import { burstRows, type Claim, type LanePace } from './lane-grant.js';

/** What a process knows about a lane that it works on. */
export class BusyLane {
  /** Rows being worked on. */
  inFlight = 0;
  /** A row may have become due since the last claim began. */
  isWoken = false;
  /** Monotonic ms: until then it is polled without a wake. */
  warmUntil = -Infinity;
  /** The current drain, until it has ended and the lane is released. */
  run: Promise<unknown> | null = null;
  /** This process may own the lane: since the last release a claim took it, or failed and may have taken it. */
  mayOwn = false;
  /** When this process gives the lane back to others with free slots (monotonic ms). */
  giveBackAt = Infinity;
  private pace: LanePace | null = null;
  /** Unused pace, in rows; null: unknown. */
  private bucket: TokenBucket | null = null;
  private readonly signal = new Signal();

  constructor(readonly key: string) {}

  get knowsPace(): boolean {
    return this.bucket !== null;
  }

  wake(warmUntil: number): void {
    this.warmUntil = Math.max(this.warmUntil, warmUntil);
    this.isWoken = true;
    this.signal.notify();
  }

  /** Resolves at the next wake, at the latest after `timeoutMs`; at once if the lane is already woken. */
  woken(timeoutMs: number): Promise<void> {
    return this.isWoken ? Promise.resolve() : this.signal.wait(timeoutMs);
  }

  setPace(now: number, pace: LanePace): void {
    if (this.pace !== pace) this.bucket?.setLimits(limitsOf(pace), now);
    this.pace = pace;
  }

  /** Milliseconds until the pace allows a row. */
  msUntilPace(now: number): number {
    return this.bucket?.msUntil(1, now) ?? 0;
  }

  /** Rows that the unused pace allows; Infinity where it is unknown and the claim decides. */
  rowsByPace(now: number): number {
    return this.bucket === null ? Infinity : Math.floor(this.bucket.level(now));
  }

  /**
   * Records the result of a claim.
   * @param giveBackAt when to give the lane back, if this claim took it.
   */
  claimed(now: number, pace: LanePace, { grant, items }: Claim<unknown>, giveBackAt: number): void {
    // If this process owned the lane before, it may still own it: the lane may only be locked at this moment.
    if (grant === null) return this.paceIsUnknown();
    if (grant.paused) return;
    if (grant.unusedRows !== null) {
      this.bucket = new TokenBucket(limitsOf(pace), now, grant.unusedRows);
      this.giveBackAt = giveBackAt;
      this.mayOwn = true;
    }
    this.bucket?.take(now, items.length);
  }

  /** The claim failed: it may still have taken the lane, and rows. */
  claimFailed(): void {
    this.paceIsUnknown();
    this.mayOwn = true;
  }

  /** What to write when the lane is released; null where this process cannot own it. */
  toRelease(now: number): { laneKey: string; pace: LanePace; unusedRows: number } | null {
    const { key: laneKey, pace, bucket, mayOwn } = this;
    return pace === null || !mayOwn ? null : { laneKey, pace, unusedRows: bucket?.level(now) ?? 0 };
  }

  released(): void {
    this.paceIsUnknown();
    this.mayOwn = false;
  }

  private paceIsUnknown(): void {
    this.bucket = null;
    this.giveBackAt = Infinity;
  }
}

/** The limits of a token bucket for a pace. */
function limitsOf(pace: LanePace) {
  return { ratePerSecond: pace.ratePerSecond, burst: burstRows(pace) };
}
