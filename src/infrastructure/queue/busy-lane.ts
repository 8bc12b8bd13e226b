import { Signal } from '../../common/signal.js';
import { TokenBucket } from '../../common/token-bucket.js';
import { burstRows, type Claim, type LanePace } from './lane-grant.js';

/** What a process knows of a lane on which it works. */
export class BusyLane {
  /** Rows that are worked on. */
  inFlight = 0;
  /** Some row of it may have become due since its last claim began. */
  isWoken = false;
  /** Monotonic ms: until then it is polled without a wake. */
  warmUntil = -Infinity;
  /** Ends with the drain and the release of the lane. */
  run: Promise<unknown> | null = null;
  /** Since the last release a claim took it, or failed and may have taken it. */
  mayOwn = false;
  /** Monotonic ms from which this process gives it back where others have free slots. */
  giveBackAt = Infinity;
  private pace: LanePace | null = null;
  /** Unused pace, in rows; null where it is not known. */
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

  /** Resolves at the next wake, at the latest after `timeoutMs`; at once where it is woken. */
  woken(timeoutMs: number): Promise<void> {
    return this.isWoken ? Promise.resolve() : this.signal.wait(timeoutMs);
  }

  setPace(now: number, pace: LanePace): void {
    if (this.pace !== pace) this.bucket?.setLimits(limitsOf(pace), now);
    this.pace = pace;
  }

  /** Milliseconds until its pace gives a row. */
  msUntilPace(now: number): number {
    return this.bucket?.msUntil(1, now) ?? 0;
  }

  /** Rows that its unused pace allows; Infinity where the claim looks. */
  rowsByPace(now: number): number {
    return this.bucket === null ? Infinity : Math.floor(this.bucket.level(now));
  }

  /** What a claim reports. @param giveBackAt where it took the lane. */
  claimed(now: number, pace: LanePace, { grant, items }: Claim<unknown>, giveBackAt: number): void {
    // Where this process owned it before, the lane may only be locked at this moment.
    if (grant === null) return this.paceIsUnknown();
    if (grant.paused) return;
    if (grant.unusedRows !== null) {
      this.bucket = new TokenBucket(limitsOf(pace), now, grant.unusedRows);
      this.giveBackAt = giveBackAt;
      this.mayOwn = true;
    }
    this.bucket?.take(now, items.length);
  }

  /** A claim has failed: it may have taken the lane, and rows. */
  claimFailed(): void {
    this.paceIsUnknown();
    this.mayOwn = true;
  }

  /** What is to be written of it when it is released; null where this process cannot own it. */
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

/** A pace as the limits of its bucket. */
function limitsOf(pace: LanePace) {
  return { ratePerSecond: pace.ratePerSecond, burst: burstRows(pace) };
}
