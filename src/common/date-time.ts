const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * Whether the text is an ISO 8601 date-time with a zone, on a day that exists: `Date` reads the 30th of February as a
 * day in March.
 */
export function isDateTime(text: unknown): text is string {
  if (typeof text !== 'string') return false;
  const [, year, month, day] = DATE_TIME.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(text))) return false;
  return Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
}
