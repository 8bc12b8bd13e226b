const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Milliseconds to wait as a `Retry-After` header asks, in seconds or as an HTTP date, at most an hour; null where the
 * header is missing or says nothing readable.
 */
export function parseRetryAfter(header: string | string[] | undefined, nowMs: number): number | null {
  const value = (Array.isArray(header) ? header[0] : header)?.trim();
  if (value === undefined || value === '') {
    return null;
  }
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1_000 : /[a-z]/i.test(value) ? Date.parse(value) - nowMs : NaN;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}
