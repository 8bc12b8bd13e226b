import { NIL, v7 } from 'uuid';
import { databaseClock } from './clock.js';

/** A UUID of any version and variant: a caller's ids may come from anywhere. */
export const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Sorts before every other id: the start of a walk over ids. */
export const FIRST_ID: string = NIL;

const BYTES = 16;
const RANDOM = new Uint8Array(256 * BYTES);
/**
 * If the clock is set back, ids continue after the last one. Beyond this difference the clock was wrong before, and ids
 * follow it.
 */
const MAX_AHEAD_MS = 86_400_000;
let taken = RANDOM.length;
let msecs = -Infinity;
let sequence = 0;

/** A new UUIDv7 of the database's time: time-ordered, so that inserts touch the right edge of the index only. */
export function newId(): string {
  // Random bytes are fetched in blocks: the uuid package asks the system per id, which takes longer than the rest.
  if (taken === RANDOM.length) {
    crypto.getRandomValues(RANDOM);
    taken = 0;
  }
  const random = RANDOM.subarray(taken, (taken += BYTES));
  const now = databaseClock.now();
  if (now > msecs || msecs - now > MAX_AHEAD_MS) {
    msecs = now;
    sequence =
      (((random[6] ?? 0) & 0x7f) << 24) | ((random[7] ?? 0) << 16) | ((random[8] ?? 0) << 8) | (random[9] ?? 0);
  } else {
    // Within a millisecond ids count up; a full count continues in the next millisecond, like in the uuid package.
    sequence = (sequence + 1) | 0;
    if (sequence === 0) msecs++;
  }
  return v7({ random, msecs, seq: sequence });
}

/** Lower than every id that `newId` makes from this time on, so that old rows are found by their keys alone. */
export function lowestIdSince(time: Date): string {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`;
}

/** Milliseconds since the epoch at which `newId` made an id. */
export function timeOfId(id: string): number {
  return parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID_PATTERN.test(value);
}
