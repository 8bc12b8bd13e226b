/** `Sun, 06 Nov 1994 08:49:37 GMT`, the form that RFC 9110 requires; the two obsolete forms are not read. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * The wait that a `Retry-After` header asks for, in milliseconds from 0 to `longestMs`; null where the header is
 * missing, repeated, or neither seconds nor an HTTP date.
 */
export function parseRetryAfter(
  header: string | string[] | undefined,
  nowMs: number,
  longestMs: number,
): number | null {
  const value = typeof header === 'string' ? header.trim() : '';
  const waitMs = /^\d{1,12}$/.test(value)
    ? Number(value) * 1_000
    : HTTP_DATE.test(value)
      ? Date.parse(value) - nowMs
      : Number.NaN;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), longestMs);
}
