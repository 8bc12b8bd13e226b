import { v7 } from 'uuid';

/** Text of a UUID. Versions and variants are not looked at: a caller's ids may come from anywhere. */
export const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A new UUIDv7: time-ordered, so that inserts touch the right edge of the index only. */
export function newId(): string {
  return v7();
}

/** Below every id that `newId` makes from this time on: old rows are found by their keys alone. */
export function lowestIdSince(time: Date): string {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`;
}

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID_PATTERN.test(value);
}
