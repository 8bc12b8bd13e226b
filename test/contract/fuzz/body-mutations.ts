import type { SchemaChecks } from './schema-check.js';
import { chosen, FAULTY, only, type Bent, type Mutation, type Refusal } from './mutation.js';
import { encode, type Request } from './request.js';

type Json = Record<string, unknown>;
export type Path = (string | number)[];

/** In the place of numbers and keys that `JSON.stringify` cannot write. */
const RAW = /"@raw:([^"]*)"/g;

/** Of a usual body, and of a batch. */
const LIMIT_BYTES = 256 * 1_024;
const BATCH_LIMIT_BYTES = 4 * 1_024 * 1_024;

/** The body as text, with what is behind `@raw:` as it is. */
function textOf(body: unknown): string {
  return JSON.stringify(body).replace(RAW, (_all, raw: string) => raw);
}

function bent(request: Request, bytes: Buffer, refusal: Refusal | null): Bent {
  const call = encode({ ...request, body: {} });
  return { call: { ...call, body: bytes }, refusal };
}

/** Refused where the schema says so. */
function judged(request: Request, body: unknown, checks: SchemaChecks): Bent {
  const text = textOf(body);
  return bent(request, Buffer.from(text), verdict(request, text, checks));
}

function verdict({ operation }: Request, text: string, checks: SchemaChecks): Refusal | null {
  if (text === '' && operation.body?.required === false) return null;
  try {
    return checks.request(operation.body?.schema ?? {})(JSON.parse(text)) === null ? null : FAULTY;
  } catch {
    return FAULTY;
  }
}

export function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    return [here, ...pathsOf(inner, here)];
  });
}

export function changed(body: unknown, path: Path, change: (holder: Json, key: string) => void): unknown {
  const copy = structuredClone(body);
  let holder = copy as Json;
  for (const step of path.slice(0, -1)) holder = holder[String(step)] as Json;
  change(holder, String(path.at(-1)));
  return copy;
}

function valueAt(body: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, step) => (value as Json)[String(step)], body);
}

/** Puts something else in the place of one of the values that `fits`. */
function replacing(
  kind: string,
  values: (old: unknown) => readonly unknown[],
  fits: (old: unknown) => boolean = () => true,
): Mutation {
  return {
    kind,
    applies: takesJson,
    bend: (request, { place, variant }, checks) => {
      const body = request.body ?? {};
      const paths = pathsOf(body).filter((path) => fits(valueAt(body, path)));
      if (paths.length === 0) return null;
      const path = chosen(paths, place);
      const value = chosen(values(valueAt(body, path)), variant);
      const result = changed(body, path, (holder, key) => {
        holder[key] = value;
      });
      return judged(request, result, checks);
    },
  };
}

/** Puts something into one of the objects, the body itself included, that must be refused wherever it is. */
function inserting(kind: string, entries: readonly (readonly [key: string, value: unknown])[], deep = true): Mutation {
  return {
    kind,
    applies: takesJson,
    bend: (request, { place, variant }) => {
      const body = request.body ?? {};
      const isObject = (path: Path): boolean => {
        const value = valueAt(body, path);
        return typeof value === 'object' && value !== null && !Array.isArray(value);
      };
      const paths: Path[] = [[], ...(deep ? pathsOf(body).filter(isObject) : [])];
      const [key, value] = chosen(entries, variant);
      const result = changed({ body }, ['body', ...chosen(paths, place), key], (holder, last) => {
        Object.defineProperty(holder, last, { value, enumerable: true, configurable: true });
      }) as { body: unknown };
      return bent(request, Buffer.from(textOf(result.body)), FAULTY);
    },
  };
}

function takesJson({ body }: { body: { type: string } | null }): boolean {
  return body?.type === 'application/json';
}

const isText = (value: unknown): boolean => typeof value === 'string';
const nested = (depth: number): string => `@raw:${'['.repeat(depth)}${']'.repeat(depth)}`;
const objects = (depth: number): unknown => (depth === 0 ? 1 : { a: objects(depth - 1) });
const manyKeys = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`k${n}`, n]));

/** Bodies that are no JSON, or no object. */
const BROKEN: readonly (string | Buffer)[] = [
  '',
  '{',
  '{"a":}',
  "{'a':1}",
  '{"a":1,}',
  '{"a":1}{"b":2}',
  'NaN',
  'undefined',
  '\u0000',
  '{"a":\u00011}',
  '[{}',
  'null',
  '[]',
  '[{}]',
  '"text"',
  '17',
  'true',
  '1e999',
  '/* */ {}',
  '{"a":"\n"}',
  '<a/>',
  'a=b',
  Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]),
  Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]), // half a pair, in bytes
  Buffer.from('{}', 'utf16le'),
];

const TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/xml',
  'multipart/form-data; boundary=x',
  'json',
  'application/jsonx',
  'application/json; charset=latin1',
  'application/json, text/plain',
  '*/*',
];

export const BODY_MUTATIONS: readonly Mutation[] = [
  replacing('wrong_type', () => [17, true, 'text', [17], { odd: 1 }, [], {}, 1.5]),
  replacing('null', () => [null]),
  replacing('over_length', () => [300, 1_100, 5_000, 33_000].map((length) => 'x'.repeat(length)), isText),
  replacing(
    'too_many_items',
    (old) => [11, 21, 101].map((length) => Array<unknown>(length).fill((old as unknown[])[0])),
    Array.isArray,
  ),
  replacing(
    'under_length',
    (old) => (isText(old) ? ['', ' '] : [[]]),
    (old) => isText(old) || Array.isArray(old),
  ),
  replacing('bad_value', () => ['no_such_value', 'ftp://x', '12:34', '2026-02-30', '🙂', '../../etc/passwd'], isText),
  replacing('number', () =>
    ['1e400', '-1', '59', '601', '9007199254740993', '1e-7', '-0'].map((text) => `@raw:${text}`),
  ),
  inserting(
    'unknown_field',
    ['no_such_field', 'organization_id', 'id ', 'Type', '$where', ''].map((key) => [key, 1] as const),
    false,
  ),
  inserting('dangerous_key', [
    ['__proto__', { admin: true }],
    ['constructor', { prototype: { admin: true } }],
    ['__proto__', null],
    ['constructor', 'x'],
  ]),
  inserting('unstorable_text', [
    ['note', 'a\u0000b'],
    ['note', '\ud800'],
    ['note', 'x\udfff'],
    ['a\u0000b', 1],
    ['\udc00', 1],
    ['note', ['\u0000']],
  ]),
  inserting('depth', [
    ['deep', nested(33)],
    ['deep', objects(40)],
    ['deep', nested(20_000)],
    ['deep', nested(100_000)],
  ]),
  inserting('keys', [['many', manyKeys]]),
  {
    kind: 'unstorable_value',
    applies: takesJson,
    bend: (request, { place, variant }) => {
      const paths = pathsOf(request.body).filter((path) => isText(valueAt(request.body, path)));
      if (paths.length === 0) return null;
      const result = changed(request.body, chosen(paths, place), (holder, key) => {
        holder[key] = `${String(holder[key])}${chosen(['\u0000', '\ud83d', '\udc00'], variant)}`;
      });
      return bent(request, Buffer.from(textOf(result)), FAULTY);
    },
  },
  {
    kind: 'missing_required',
    applies: takesJson,
    bend: (request, { place }, checks) => {
      const paths = pathsOf(request.body).filter((path) => typeof path.at(-1) === 'string');
      if (paths.length === 0) return null;
      const result = changed(request.body, chosen(paths, place), (holder, key) => {
        delete holder[key];
      });
      return judged(request, result, checks);
    },
  },
  {
    kind: 'broken_json',
    share: 2,
    applies: takesJson,
    bend: (request, { variant }, checks) => {
      const broken = chosen(BROKEN, variant);
      const refusal = typeof broken === 'string' ? verdict(request, broken, checks) : FAULTY;
      return bent(request, Buffer.from(broken), refusal);
    },
  },
  {
    kind: 'content_type',
    applies: takesJson,
    bend: (request, { variant }) => {
      const call = encode({ ...request, body: request.body ?? {} });
      const odd: Record<string, string> =
        variant % 4 === 0
          ? { 'content-encoding': chosen(['gzip', 'br', 'deflate', 'x'], variant) }
          : { 'content-type': chosen(TYPES, variant) };
      const headers = { ...call.headers, ...odd };
      return { call: { ...call, headers }, refusal: only(415, 'UNSUPPORTED_CONTENT_TYPE') };
    },
  },
  {
    kind: 'oversize',
    applies: takesJson,
    bend: (request, { variant }) => {
      const isBatch = ['messages_sendBatch', 'messages_checkBatch'].includes(request.operation.id);
      const limit = isBatch ? BATCH_LIMIT_BYTES : LIMIT_BYTES;
      const length = limit + 1 + (variant % 3) * 100_000;
      const bytes = Buffer.from(textOf(request.body ?? {}).padEnd(length, ' '));
      const call = encode({ ...request, body: {} });
      return { call: { ...call, body: bytes }, refusal: only(413, 'PAYLOAD_TOO_LARGE') };
    },
  },
];
