import type { Hold, HoldRequest, LanePace } from './lane-hold.js';

export type { LanePace } from './lane-hold.js';

/** `limit`: rows wanted. */
export type ClaimRequest = HoldRequest;

export interface Claim<T> {
  /** What the claim's `laneHold` answered. */
  hold: Hold | null;
  /** No more than `hold.slots`; none without a hold. */
  items: T[];
  /** Due rows may be left. Default: as many came as the hold gave slots. */
  more?: boolean;
}

/** What a module does with the due rows of its lanes. Lanes are independent of what the rows are. */
export interface LaneHandler<T> {
  /** Also the queue's name. */
  readonly name: string;
  /** Rows of one lane that one process works on at once. */
  readonly maxInFlightPerLane: number;
  /** The lane's pace, or null where it must not run now (its rows then stay due). */
  pace(laneKey: string): Promise<LanePace | null>;
  /**
   * Claims due rows, durably, so that no other process works on them. One statement takes or renews the hold on the
   * lane and claims: see `laneHold`.
   */
  claim(request: ClaimRequest): Promise<Claim<T>>;
  /**
   * Works on one row and records the outcome. Must not reject. Resolves with true where another row may wait that could
   * not be claimed as long as this one was under way.
   */
  work(item: T): Promise<boolean>;
  /** From now on claimed rows that are not on the wire yet go back. */
  stop(): void;
}
