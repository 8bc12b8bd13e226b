import type { Claim, ClaimRequest, LanePace } from './lane-grant.js';
import type { LostClaimError } from './lost-claims.js';

/** One kind of work: what its lanes are, how its rows are claimed, and what is done with one. */
export interface QueueKind<T> {
  /** Also the queue's name. */
  readonly name: string;
  /** Rows of one lane that one process works on at once. */
  readonly maxPerLane: number;
  /** Of those, the rows of this lane that may be worked on now. Default: all. */
  window?(laneKey: string): number;
  /** The lane's pace, or null where it must not run now (its rows then stay due). The same object means that it has not changed. */
  pace(laneKey: string): Promise<LanePace | null>;
  /**
   * Claims due rows of many lanes, durably, so that no other process works on them: see `laneGrants`. One answer a request, in
   * the same order; an Error for a lane whose claim failed.
   *
   * @param withinMs the time of each statement; default: that of every statement. A kind with one lane keeps none waiting, and may pass it over.
   */
  claim(requests: readonly ClaimRequest[], withinMs?: number): Promise<(Claim<T> | Error)[]>;
  /**
   * Works on one row and records the outcome. Must not reject. Resolves with the milliseconds until the row is due again
   * where it waits for its time, else with null.
   */
  work(item: T): Promise<number | null>;
  /**
   * Releases what a claim took that rejected with this error, or answered with it, for one of these lanes. Must not reject.
   * Absent: what it took is due again after its lease, and is done again without harm.
   */
  releaseLost?(lost: LostClaimError, laneKeys: readonly string[]): Promise<void>;
  /** From now on claimed rows whose requests are not sent yet go back. */
  stop(): void;
}

/** For a kind whose statement claims for one lane: a lane whose claim fails does not keep back the rows of the others. */
export function claimEach<T>(
  requests: readonly ClaimRequest[],
  claim: (request: ClaimRequest) => Promise<Claim<T>>,
): Promise<(Claim<T> | Error)[]> {
  return Promise.all(requests.map((request) => claim(request).catch(errorOf)));
}

export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
