import { fieldPath, MAX_FIELD_LENGTH, MAX_DETAILS, type ErrorDetail } from '../../common/app-error.js';
import { clip } from '../../common/clip.js';
import { isStorable, storableText } from '../../common/json.js';
import type { JsonLimit } from './json-scan.js';

/** Items count over all lists together. */
export const JSON_LIMITS: Readonly<Record<JsonLimit, number>> = { keys: 1_000, items: 10_000, depth: 32 };
const TOO_MUCH: Readonly<Record<JsonLimit, string>> = {
  keys: `The body has more than ${JSON_LIMITS.keys} keys; send fewer.`,
  items: `The lists of the body have more than ${JSON_LIMITS.items} items; send fewer.`,
  depth: `The body is nested deeper than ${JSON_LIMITS.depth} levels.`,
};
// Keys that could change an object's prototype when code copies them carelessly.
const DANGEROUS_KEYS = new Set(['__proto__', 'constructor']);

/**
 * Violations that make parsed JSON unusable for any route: too deep, too many keys or items, keys that name prototypes,
 * and text that PostgreSQL or UTF-8 can't represent (U+0000, unpaired surrogates). Each violation names its place.
 * Stops at the first violation of depth or number, which concerns the whole body, and at the twentieth of any kind.
 *
 * @param text the text that was parsed: if it has no escapes, its strings are valid.
 */
export function jsonViolations(value: unknown, text: string): ErrorDetail[] {
  if (typeof value !== 'object' || value === null) return [];
  const walk = new Walk(text.includes('\\u'));
  walk.enter(value, '', 1);
  return walk.violations;
}

/** The violation of a limit, at its place. */
export function tooMuch(limit: JsonLimit, path: string): ErrorDetail {
  return { field: clip(path, MAX_FIELD_LENGTH), rule: limit, message: TOO_MUCH[limit] };
}

class Walk {
  readonly violations: ErrorDetail[] = [];
  private keys = 0;
  private items = 0;
  private stopped = false;

  constructor(private readonly checkTexts: boolean) {}

  enter(value: object, path: string, depth: number): void {
    if (depth > JSON_LIMITS.depth) return this.stop(path, 'depth');
    if (Array.isArray(value)) {
      this.items += value.length;
      if (this.items > JSON_LIMITS.items) return this.stop(path, 'items');
      for (let index = 0; index < value.length && !this.stopped; index++) this.visit(value[index], path, index, depth);
      return;
    }
    for (const key in value) {
      if (this.stopped) return;
      if (++this.keys > JSON_LIMITS.keys) return this.stop(path, 'keys');
      if (DANGEROUS_KEYS.has(key)) this.add(path, key, 'forbidden_key', 'is not allowed as a key; remove it.');
      else if (this.checkTexts && !isStorable(key)) this.add(path, storableText(key), 'text', BAD_KEY);
      if (this.stopped) return;
      this.visit((value as Record<string, unknown>)[key], path, key, depth);
    }
  }

  private visit(item: unknown, path: string, key: string | number, depth: number): void {
    if (typeof item === 'string') {
      if (this.checkTexts && !isStorable(item)) this.add(path, key, 'text', BAD_TEXT);
    } else if (typeof item === 'object' && item !== null) {
      this.enter(item, fieldPath(path, key), depth + 1);
    }
  }

  private add(path: string, key: string | number, rule: string, message: string): void {
    const field = clip(fieldPath(path, key), MAX_FIELD_LENGTH);
    this.violations.push({ field, rule, message: `${field} ${message}` });
    if (this.violations.length >= MAX_DETAILS) this.stopped = true;
  }

  private stop(path: string, limit: JsonLimit): void {
    this.stopped = true;
    this.violations.push(tooMuch(limit, path));
  }
}

const BAD_TEXT = 'must not contain U+0000 or half of a surrogate pair.';
const BAD_KEY = 'is a key with U+0000 or half of a surrogate pair; remove it.';
