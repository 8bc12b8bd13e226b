/** How much is refused: nothing, reads, writes too, notifications of the platform too. */
export const SHEDDING = { none: 0, reads: 1, writes: 2, notifications: 3 } as const;
export type Shedding = (typeof SHEDDING)[keyof typeof SHEDDING];

export interface PressureLimits {
  /** Mean delay of the event loop from which reads are refused, in milliseconds; 0: never. */
  loopDelayMs: number;
  /** Statements that wait for a connection from which reads are refused; 0: never. */
  poolWaiting: number;
}

export interface Look {
  /** Mean delay of the event loop since the last look, in milliseconds. */
  loopDelayMs: number;
  /** Statements that wait for a connection right now. */
  poolWaiting: number;
}

/** Writes are refused from twice the limit on, notifications from four times. */
const WRITES_AT = 2;
const NOTIFICATIONS_AT = 4;
/** One look's part in the mean over time: about six looks make it. */
const PART = 0.15;
/** One look counts for so many limits at the most, so that a single stall (0.9 limits) refuses nobody. */
const MOST = 6;

/**
 * Tells from a row of looks at the process what should be refused. The delay of the loop is a mean over several looks,
 * for a single stall is no overload; a queue for connections counts at once, for it is a mean already.
 */
export class Pressure {
  private delays = 0;

  constructor(private readonly limits: PressureLimits) {}

  note({ loopDelayMs, poolWaiting }: Look): Shedding {
    this.delays += PART * (Math.min(shareOf(loopDelayMs, this.limits.loopDelayMs), MOST) - this.delays);
    const share = Math.max(this.delays, shareOf(poolWaiting, this.limits.poolWaiting));
    if (share >= NOTIFICATIONS_AT) return SHEDDING.notifications;
    if (share >= WRITES_AT) return SHEDDING.writes;
    return share >= 1 ? SHEDDING.reads : SHEDDING.none;
  }
}

function shareOf(value: number, limit: number): number {
  return limit === 0 || Number.isNaN(value) ? 0 : value / limit;
}
