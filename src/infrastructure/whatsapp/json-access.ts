import { isObject, type JsonObject, storableText } from '../../common/json.js';

/** No honest payload nests deeper; deeper values read as null, so that no recursion can overflow. */
const MAX_DEPTH = 32;

/** The text parsed, or undefined where it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The own property of an object; undefined for anything else, including inherited names such as `constructor`. */
export function own(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function ownObject(value: unknown, key: string): JsonObject | null {
  const found = own(value, key);
  return isObject(found) ? found : null;
}

/** The own array of that name, otherwise an empty one: a single object instead of a list counts as a list of one. */
export function ownList(value: unknown, key: string): unknown[] {
  const found = own(value, key);
  if (Array.isArray(found)) return found;
  return isObject(found) ? [found] : [];
}

export function ownText(value: unknown, key: string): string | null {
  const found = own(value, key);
  return typeof found === 'string' ? found : null;
}

/** A non-empty string of at most 512 characters; a whole number is accepted too, since ids come in both forms. */
export function ownId(value: unknown, key: string): string | null {
  const found = own(value, key);
  if (typeof found === 'number' && Number.isSafeInteger(found) && found >= 0) return String(found);
  return typeof found === 'string' && found.length > 0 && found.length <= 512 ? found : null;
}

/** A whole number, or a string of its digits. */
export function ownInteger(value: unknown, key: string): number | null {
  const found = own(value, key);
  const number = typeof found === 'string' && /^-?\d{1,15}$/.test(found) ? Number(found) : found;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

/** Last second of the year 9999. */
const MAX_SECONDS = 253_402_300_799;

/** Seconds since the epoch, as a number or a string of digits; null for anything else. */
export function ownTime(value: unknown, key: string): Date | null {
  const seconds = ownInteger(value, key);
  return seconds === null || seconds <= 0 || seconds > MAX_SECONDS ? null : new Date(seconds * 1_000);
}

/**
 * JSON that a database can store: strings and keys as in `storableText`, at most 32 levels deep. Returns the same
 * object where nothing changes.
 */
export function storableJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return storableText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return null;
  if (Array.isArray(value)) {
    const items = value.map((item) => storableJson(item, depth + 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let changed = false;
  const entries = Object.entries(value).map(([key, item]) => {
    const entry = [storableText(key), storableJson(item, depth + 1)] as const;
    changed ||= entry[0] !== key || entry[1] !== item;
    return entry;
  });
  // fromEntries keeps `__proto__` as an ordinary key.
  return changed ? Object.fromEntries(entries) : value;
}
