import { fieldPath, MAX_FIELD_LENGTH, MAX_DETAILS, type ErrorDetail } from '../../common/app-error.js';
import { clip } from '../../common/clip.js';
import { isStorable, storableText } from '../../common/json.js';

const MAX_DEPTH = 32;
const MAX_KEYS = 1_000;
// Of all lists together.
const MAX_ITEMS = 10_000;
// Keys that would reach an object's prototype when code copies them carelessly.
const DANGEROUS_KEYS = new Set(['__proto__', 'constructor']);

/**
 * What makes parsed JSON unfit to work with, whatever it means: too deep, too many keys or items, keys that name
 * prototypes, and texts that PostgreSQL or UTF-8 can't hold (U+0000, half a surrogate pair). Each violation names its
 * place. Stops at the first violation of depth or number, which concerns the whole body, and at the twentieth of any
 * kind.
 *
 * @param text what the value was parsed from: without an escape in it, its texts are valid.
 */
export function jsonViolations(value: unknown, text: string): ErrorDetail[] {
  if (typeof value !== 'object' || value === null) return [];
  const walk = new Walk(text.includes('\\u'));
  walk.enter(value, '', 1);
  return walk.violations;
}

class Walk {
  readonly violations: ErrorDetail[] = [];
  private keys = 0;
  private items = 0;
  private stopped = false;

  constructor(private readonly checkTexts: boolean) {}

  enter(value: object, path: string, depth: number): void {
    if (depth > MAX_DEPTH) return this.stop(path, 'depth', `The body is nested deeper than ${MAX_DEPTH} levels.`);
    if (Array.isArray(value)) {
      this.items += value.length;
      if (this.items > MAX_ITEMS) {
        return this.stop(path, 'items', `The lists of the body have more than ${MAX_ITEMS} items; send fewer.`);
      }
      for (let index = 0; index < value.length && !this.stopped; index++) this.visit(value[index], path, index, depth);
      return;
    }
    for (const key in value) {
      if (this.stopped) return;
      if (++this.keys > MAX_KEYS) {
        return this.stop(path, 'keys', `The body has more than ${MAX_KEYS} keys; send fewer.`);
      }
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

  private stop(field: string, rule: string, message: string): void {
    this.stopped = true;
    this.violations.push({ field: clip(field, MAX_FIELD_LENGTH), rule, message });
  }
}

const BAD_TEXT = 'must not contain U+0000 or half of a surrogate pair.';
const BAD_KEY = 'is a key with U+0000 or half of a surrogate pair; remove it.';

/** White space, then a bracket or comma, a string, or another scalar; only white space where a token is malformed. */
const TOKEN =
  // oxlint-disable-next-line no-control-regex -- JSON's texts must not hold them
  /([ \t\n\r]*)(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)))?/y;

type Token = '{' | '}' | '[' | ']' | ',' | ':' | 'string' | 'scalar';

/** What may stand next, by what is expected; `done` ends a value, `item` begins the next one of a list or an object. */
const VALUE = { '{': 'key or }', '[': 'value or ]', string: 'done', scalar: 'done' } as const;
const NEXT = {
  value: VALUE,
  'value or ]': { ...VALUE, ']': 'done' },
  key: { string: ':' },
  'key or }': { string: ':', '}': 'done' },
  ':': { ':': 'value' },
  next: { ',': 'item', ']': 'done', '}': 'done' },
  end: {},
} as const satisfies Record<string, Partial<Record<Token, string>>>;

/**
 * Where a text stops being JSON, as an offset; its length where it ends too early. The engine's own messages name the
 * place only sometimes, and quote the text, which may hold what no answer should repeat.
 */
export function jsonErrorAt(text: string): number {
  const closing: string[] = [];
  let expected: keyof typeof NEXT = 'value';
  for (TOKEN.lastIndex = 0; ;) {
    const at = TOKEN.lastIndex;
    const [, space = '', mark, string, scalar] = TOKEN.exec(text) ?? [];
    const token = (mark ?? (string && 'string') ?? (scalar && 'scalar')) as Token | undefined;
    const next: string | undefined = token && (NEXT[expected] as Partial<Record<Token, string>>)[token];
    const closes = token === '}' || token === ']';
    if (next === undefined || (closes && closing.pop() !== token)) return at + space.length;
    if (token === '{') closing.push('}');
    if (token === '[') closing.push(']');
    if (next === 'done') expected = closing.length === 0 ? 'end' : 'next';
    else if (next === 'item') expected = closing.at(-1) === '}' ? 'key' : 'value';
    else expected = next as keyof typeof NEXT;
  }
}
