import { v7, validate } from 'uuid';

/** A new UUIDv7: time-ordered, so that inserts touch the right edge of the index only. */
export function newId(): string {
  return v7();
}

/** True for any textual UUID (every version), in upper or lower case. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && validate(value);
}
