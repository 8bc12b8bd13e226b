import type { CheckName } from './probes.js';

/** The result of one delivery; `error` is a stable word where no answer came. */
export type ProbeAnswer = { status: number; durationMs: number } | { error: string; durationMs: number };

/** Posts one delivery, within ten seconds; never rejects. */
export type Post = (headers: Record<string, string>, body: string, signal: AbortSignal) => Promise<ProbeAnswer>;

export interface ConformanceResult {
  check: CheckName;
  event_type: string;
  title: string;
  expected: 'success' | 'refusal';
  outcome: 'passed' | 'failed' | 'not_run';
  http_status: number | null;
  error: string | null;
  duration_ms: number | null;
  problem: string | null;
  fix: string | null;
}

export interface ConformanceReport {
  passed: boolean;
  /** False: the run ended before every probe was tried. */
  complete: boolean;
  duration_ms: number;
  results: ConformanceResult[];
}
