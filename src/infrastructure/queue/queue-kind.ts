import type { Claim, ClaimRequest, LanePace } from './lane-grant.js';
import type { LostClaimError } from './lost-claims.js';

/** One kind of work: its lanes, how its rows are claimed, and how a row is processed. */
export interface QueueKind<T> {
  /** Also the queue's name. */
  readonly name: string;
  /** Limit of rows of one lane in work in one process. */
  readonly maxPerLane: number;
  /** The part of that limit that this lane may use now. Default: all. */
  window?(laneKey: string): number;
  /**
   * The lane's pace, or null where it must not run now; its rows then stay due. An identical object means an unchanged
   * pace.
   */
  pace(laneKey: string): Promise<LanePace | null>;
  /**
   * Claims due rows of many lanes, durably, so that no other process works on them: see `laneGrants`. One answer per
   * request, in the same order; an Error for a lane whose claim failed.
   *
   * @param withinMs the time limit of each statement; default: that of every statement. A kind with one lane may ignore
   * it, since no other lane waits.
   */
  claim(requests: readonly ClaimRequest[], withinMs?: number): Promise<(Claim<T> | Error)[]>;
  /**
   * Works on one row and records the outcome. Must not reject. Resolves with the milliseconds until the row is due
   * again where it waits for a time, otherwise with null.
   */
  work(item: T): Promise<number | null>;
  /**
   * Releases the rows of these lanes that a claim took when it failed with this error. Must not reject. Without this
   * method the rows are due again after their lease, and doing the work twice must be harmless.
   */
  releaseLost?(lost: LostClaimError, laneKeys: readonly string[]): Promise<void>;
  /** From now on claimed rows whose requests are not sent yet return to the queue. */
  stop(): void;
}

/**
 * For a kind whose statement claims for one lane: a failed claim of one lane does not hold back the rows of the others.
 */
export function claimEach<T>(
  requests: readonly ClaimRequest[],
  claim: (request: ClaimRequest) => Promise<Claim<T>>,
): Promise<(Claim<T> | Error)[]> {
  return Promise.all(requests.map((request) => claim(request).catch(errorOf)));
}

export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
