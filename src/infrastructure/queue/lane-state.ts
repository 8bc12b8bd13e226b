import type { TokenBucket } from '../../common/token-bucket.js';
import { burstRows, type LanePace } from './lane-hold.js';

/** A lane that brought rows is looked at after the first of these, then after twice as long for each empty look, up to the second. */
export const MIN_EMPTY_DELAY_MS = 50;
export const MAX_EMPTY_DELAY_MS = 250;

/** `lookAt` of a lane without a planned look: the next wake plans one. */
export const NOT_BEFORE_A_WAKE = Infinity;

/**
 * What a process knows of a lane. A lane is *released*: its row in the database has no owner; *forgotten*: it is not in memory
 * any more; *handed over*: released for another process, which is told of it. It is warm until `warmUntil`.
 *
 * | State                      | `bucket`  | `lookAt`                | `ignoreWakesUntil` | `releaseWhenIdle`      |
 * | -------------------------- | --------- | ----------------------- | ------------------ | ---------------------- |
 * | woken                      | null      | now                     | past               | false                  |
 * | a claim is under way       | as before | next wake               | past               | false                  |
 * | held, rows come            | set       | now; in 50 ms ****      | past               | false                  |
 * | held, no rows come         | set       | in `emptyDelayMs`       | past               | false                  |
 * | held, its pace is used up  | set       | when it gives a row     | past               | false                  |
 * | not warm any more          | as before | now *                   | past               | true                   |
 * | paused                     | as before | now *                   | in 250 ms          | true                   |
 * | held by another process    | null      | in 250 ms **            | in 250 ms          | false **               |
 * | its claim failed           | null ***  | in 1 s **               | in 1 s             | false **               |
 * | handed over                | null      | in 100 ms *             | in 100 ms          | false                  |
 *
 * `*`: the next wake, while rows are in flight; the end of each is a wake. "Next wake" is `NOT_BEFORE_A_WAKE`.
 * `**`: where the lane is not warm any more, as in the state of that name.
 * `****`: now where the claim brought all that it asked for.
 * `***`: as before, where the claim's time was over: nothing was done.
 */
export interface Lane {
  /** Monotonic ms: a look that finds nothing after this is the last one. */
  warmUntil: number;
  /** The lane is released by a look at which no row of it is worked on; a wake withdraws this. */
  releaseWhenIdle: boolean;
  /** Monotonic ms of the next look, or `NOT_BEFORE_A_WAKE`. */
  lookAt: number;
  /** From a look that found nothing to the next one. */
  emptyDelayMs: number;
  /** Rows that are worked on. */
  inFlight: number;
  /** A claim is under way: how much of `bucket` it takes is not known yet. */
  claiming: boolean;
  /** Unused pace, in rows; null where this process does not hold the lane, as far as it knows. */
  bucket: TokenBucket | null;
  pace: LanePace | null;
  /** Monotonic ms from which it may be handed over, where this process holds it: see `HandOver`. */
  handOverAt: number;
  /** Monotonic ms before which no wake makes it look: another process holds it or shall take it, it is paused, or its claim failed. */
  ignoreWakesUntil: number;
}

export const isHeldHere = (lane: Lane): lane is Lane & { bucket: TokenBucket } =>
  lane.bucket !== null && !lane.claiming;

export function newLane(now: number): Lane {
  return {
    warmUntil: now,
    releaseWhenIdle: false,
    lookAt: now,
    emptyDelayMs: MIN_EMPTY_DELAY_MS,
    inFlight: 0,
    claiming: false,
    bucket: null,
    pace: null,
    handOverAt: Infinity,
    ignoreWakesUntil: -Infinity,
  };
}

/** A pace as the limits of its bucket. */
export function limitsOf(pace: LanePace) {
  return { ratePerSecond: pace.ratePerSecond, burst: burstRows(pace) };
}
