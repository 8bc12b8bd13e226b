/** What the load generator's process is to do. */
export interface LoadOrder {
  /** Such as `http://127.0.0.1:3000/api/v1/messages`. */
  url: string;
  headers: Record<string, string>;
  /** API keys, used in turn with the bodies; none where `headers` has one for all. */
  apiKeys?: string[];
  /**
   * JSON texts, used in turn. Each request also has an `Idempotency-Key` of its own, and a number of its own where a
   * text has `COUNTED`.
   */
  bodies: string[];
  /** The first of those numbers. Default: 0. */
  countFrom?: number;
  connections: number;
  warmUpMs: number;
  durationMs: number;
}

export interface LoadResult {
  /** Answers with the expected status within the measured time. */
  answered: number;
  /** Other answers, and connections that broke. */
  failed: number;
  /** The first unexpected answer, for the error message. */
  firstFailure: string | null;
  durationMs: number;
  p50Ms: number;
  p99Ms: number;
  /** Share of one core that the generator itself used. */
  cpuShare: number;
}

export const EXPECTED_STATUS = 202;
