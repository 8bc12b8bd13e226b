/** Pace of one lane. */
export interface LanePace {
  ratePerSecond: number;
  /** Seconds of unused pace that may be caught up at once. */
  burstSeconds: number;
}

export interface ClaimRequest {
  laneKey: string;
  /** The process that drains; the claim must see it as the holder of the lane. */
  owner: string;
  limit: number;
}

/** What a room does with the due rows of its lanes. The lanes know nothing of what the rows are. */
export interface LaneHandler<T> {
  /** Also the queue's name. */
  readonly name: string;
  /** Rows of one lane that one process works on at once. */
  readonly maxInFlightPerLane: number;
  /**
   * No row waits for what comes of another. A drain that finds no more then ends at once, though its work is under way:
   * a wake from another process would else wait until the quantum is over.
   */
  readonly independentRows?: boolean;
  /** The lane's pace, or null where it must not run now (its rows then stay due). */
  pace(laneKey: string): Promise<LanePace | null>;
  /** Claims up to `limit` due rows, durably, so that nobody else works on them. */
  claim(request: ClaimRequest): Promise<T[]>;
  /** Works on one row and records what came of it. Must not reject. */
  work(item: T): Promise<void>;
}
