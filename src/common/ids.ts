import { v7 } from 'uuid';

/** Text of a UUID. Versions and variants are not looked at: a caller's ids may come from anywhere. */
export const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A new UUIDv7: time-ordered, so that inserts touch the right edge of the index only. */
export function newId(): string {
  return v7();
}

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID_PATTERN.test(value);
}
