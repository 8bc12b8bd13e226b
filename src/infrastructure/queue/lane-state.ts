import { TokenBucket } from '../../common/token-bucket.js';
import { burstRows, type Hold, type LanePace } from './lane-hold.js';

/** A lane that brought rows is looked at after the first of these, then after twice as long for each empty look, up to the second. */
const MIN_EMPTY_DELAY_MS = 50;
const MAX_EMPTY_DELAY_MS = 250;
/** A lane that has used up its pace waits at least for so much of it: one claim for several rows. */
const MIN_PACE_MS = 25;
/** Until a claim that failed is tried again. */
const FAILED_MS = 1_000;
/** For so long no wake here takes back a lane that was handed over, so that another process gets it. */
const HANDED_OVER_MS = 100;

/** `lookAt` of a lane without a planned look: the next wake plans one. */
export const NOT_BEFORE_A_WAKE = Infinity;

/** What a claim that has the lane found. */
interface Found {
  hold: Hold;
  pace: LanePace;
  rows: number;
  /** For so long after a row it is looked at without a wake. */
  warmMs: number;
  /** Monotonic ms from which it may be handed over, if it is taken now. */
  handOverAt: number;
}

/**
 * What a process knows of a lane. A lane is *released*: its row in the database has no owner; *forgotten*: it is not in memory
 * any more; *handed over*: released for another process, which is told of it. It is warm until `warmUntil`.
 *
 * | State                                                  | By             | `bucket`  | `lookAt`                                    | `ignoreWakesUntil` | `releaseWhenIdle` |
 * | ------------------------------------------------------ | -------------- | --------- | ------------------------------------------- | ------------------ | ----------------- |
 * | woken                                                  | `wake`         | as before | now, or `ignoreWakesUntil` if that is ahead | as before          | false             |
 * | a claim is under way                                   | `beginClaim`   | as before | next wake                                   | as before          | as before         |
 * | held, all asked for came                               | `claimGranted` | set       | now                                         | as before          | as before         |
 * | held, some rows came                                   | `claimGranted` | set       | in 50 ms                                    | as before          | as before         |
 * | held, none came                                        | `claimGranted` | set       | in 100, 200, 250 ms                         | as before          | not warm: true    |
 * | held, without a slot                                   | `claimGranted` | set       | now: then its pace is used up               | as before          | as before         |
 * | its pace is used up                                    | `rest`         | set       | when a row is free                          | as before          | as before         |
 * | denied: another process holds it, or its row is locked | `claimDenied`  | null      | in 250 ms                                   | in 250 ms          | not warm: true    |
 * | its claim failed                                       | `claimFailed`  | null *    | in 1 s                                      | in 1 s             | not warm: true    |
 * | paused                                                 | `claimPaused`  | as before | now; next wake **                           | in 250 ms          | true              |
 * | to be released                                         | `planRelease`  | as before | now; next wake **                           | as before          | true              |
 * | released                                               | `released`     | null      | forgotten ***                               | as before          | as before         |
 * | handed over                                            | `handOver`     | as before | as before                                   | in 100 ms          | as before         |
 *
 * "Next wake" is `NOT_BEFORE_A_WAKE`. "Not warm: true" is the state "to be released".
 * `*`: as before, where nothing can have been committed.
 * `**`: while rows are under way; the end of each is a wake.
 * `***`: or the next wake, while rows are under way; or the end of `ignoreWakesUntil`, if that is ahead.
 */
export class Lane {
  /** Monotonic ms of the next look, or `NOT_BEFORE_A_WAKE`. */
  lookAt: number;
  /** Monotonic ms before which no wake makes it look: a claim was denied, another process shall take it, it is paused, or its claim failed. */
  ignoreWakesUntil = -Infinity;
  /** Monotonic ms: a look that finds nothing after this is the last one. */
  warmUntil: number;
  /** The lane is released by a look at which no row of it is worked on; a wake withdraws this. */
  releaseWhenIdle = false;
  /** Rows that are worked on. */
  inFlight = 0;
  /** A claim is under way: how much of `bucket` it takes is not known yet. */
  claiming = false;
  /** Unused pace, in rows; null where this process does not hold the lane, as far as it knows. */
  bucket: TokenBucket | null = null;
  pace: LanePace | null = null;
  /** Monotonic ms from which it may be handed over, where this process holds it: see `HandOver`. */
  handOverAt = Infinity;
  /** From a look that found nothing to the next one. */
  private emptyDelayMs = MIN_EMPTY_DELAY_MS;

  constructor(now: number) {
    this.lookAt = now;
    this.warmUntil = now;
  }

  isHeldHere(): this is this & { bucket: TokenBucket } {
    return this.bucket !== null && !this.claiming;
  }

  /** It may have due rows. */
  wake(now: number, warmMs: number): void {
    this.warmUntil = now + warmMs;
    const lookAt = Math.max(now, this.ignoreWakesUntil);
    // The look that was to release it is not needed any more.
    this.lookAt = this.releaseWhenIdle ? lookAt : Math.min(this.lookAt, lookAt);
    this.releaseWhenIdle = false;
    this.emptyDelayMs = MIN_EMPTY_DELAY_MS;
  }

  setPace(now: number, pace: LanePace): void {
    if (this.pace !== pace) this.bucket?.setLimits(limitsOf(pace), now);
    this.pace = pace;
  }

  /** Its pace gives the next row in `waitMs`. */
  rest(now: number, waitMs: number): void {
    this.lookAt = now + Math.max(waitMs, MIN_PACE_MS);
  }

  beginClaim(): void {
    this.claiming = true;
    // A wake from now on is about rows that this claim may not have seen.
    this.lookAt = NOT_BEFORE_A_WAKE;
  }

  /** This process holds it. @returns whether the claim brought all that it asked for. */
  claimGranted(now: number, { hold, pace, rows, warmMs, handOverAt }: Found): boolean {
    this.claiming = false;
    if (this.bucket === null) this.handOverAt = handOverAt;
    // Null: the lane was held before, and its bucket goes on.
    if (hold.newUnusedRows !== null) this.bucket = new TokenBucket(limitsOf(pace), now, hold.newUnusedRows);
    this.bucket?.take(now, rows);
    if (rows > 0) {
      this.warmUntil = now + warmMs;
      this.emptyDelayMs = MIN_EMPTY_DELAY_MS;
    } else {
      this.emptyDelayMs = Math.min(2 * this.emptyDelayMs, MAX_EMPTY_DELAY_MS);
    }
    const gotAll = rows > 0 && rows >= hold.slots;
    // Without a slot the next look finds that its pace is used up, and puts it off until that gives a row.
    const isAskedAtOnce = gotAll || hold.slots === 0;
    this.lookAt = Math.min(this.lookAt, isAskedAtOnce ? now : now + this.emptyDelayMs);
    if (rows === 0 && hold.slots > 0) this.releaseUnlessWarm(now);
    return gotAll;
  }

  /** Another process holds it, or another transaction has locked its row. */
  claimDenied(now: number): void {
    this.claiming = false;
    this.bucket = null;
    this.lookAt = this.ignoreWakesUntil = now + MAX_EMPTY_DELAY_MS;
    this.releaseUnlessWarm(now);
  }

  claimPaused(now: number): void {
    this.claiming = false;
    this.ignoreWakesUntil = now + MAX_EMPTY_DELAY_MS;
    // A hold would keep the other processes from it when the pause is over.
    this.planRelease(now);
  }

  /** @param mayBeCommitted the claim may have been: what is left of the pace, and the hold, is not known. */
  claimFailed(now: number, { mayBeCommitted }: { mayBeCommitted: boolean }): void {
    this.claiming = false;
    if (mayBeCommitted) this.bucket = null;
    this.lookAt = this.ignoreWakesUntil = now + FAILED_MS;
    this.releaseUnlessWarm(now);
  }

  /**
   * The next look releases it. Where rows are under way it is only not looked at until one ends, which wakes it. It is warm again when
   * a time comes that is known here, or when the sweep finds due rows.
   */
  planRelease(now: number): void {
    this.releaseWhenIdle = true;
    this.lookAt = this.inFlight === 0 ? now : NOT_BEFORE_A_WAKE;
  }

  /** Its row has no owner any more. @returns whether it may be forgotten. */
  released(now: number): boolean {
    this.bucket = null;
    if (this.inFlight > 0) this.lookAt = NOT_BEFORE_A_WAKE;
    else if (this.ignoreWakesUntil > now) this.lookAt = this.ignoreWakesUntil;
    else return true;
    return false;
  }

  handOver(now: number): void {
    this.ignoreWakesUntil = now + HANDED_OVER_MS;
  }

  private releaseUnlessWarm(now: number): void {
    if (this.warmUntil <= now) this.planRelease(now);
  }
}

/** A pace as the limits of its bucket. */
function limitsOf(pace: LanePace) {
  return { ratePerSecond: pace.ratePerSecond, burst: burstRows(pace) };
}
