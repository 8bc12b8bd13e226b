/** The result of one check. `warn`: works, but needs attention. */
export interface Finding {
  check: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
}

export type Result = Omit<Finding, 'check'>;

export const ok = (detail: string): Result => ({ status: 'ok', detail });
export const warn = (detail: string): Result => ({ status: 'warn', detail });
export const fail = (detail: string): Result => ({ status: 'fail', detail });

/** Limit of a check's wait for another server. */
export const REACH_WITHIN_MS = 5_000;
