/** Time for pure decisions in this process. What is stored takes the database's clock instead. */
export interface Clock {
  /** Milliseconds that never run backwards. */
  monotonic(): number;
}

export const systemClock: Clock = { monotonic: () => performance.now() };
