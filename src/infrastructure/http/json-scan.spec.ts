import fc from 'fast-check';
import { runs } from '../../../test/support/runs.js';
import { JsonScan, type JsonScanOptions } from './json-scan.js';

/** @param cuts the parts in which the text arrives. */
function scanned(text: string | Buffer, options: JsonScanOptions = {}, cuts: readonly number[] = []): JsonScan {
  const bytes = Buffer.from(text as string);
  const scan = new JsonScan(options);
  let from = 0;
  for (const to of [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    scan.push(bytes.subarray(from, to));
    from = to;
  }
  scan.end();
  return scan;
}

const json = fc.json({ maxDepth: 4, stringUnit: 'grapheme' });
/** With white space, escapes and keys that look like the list's. */
const envelopes = fc
  .array(
    fc.tuple(
      fc.constantFrom('"messages"', '"m\\u0065ssages"', '"messages\\u0000"', '"message"', '"\\u006dessages "', '"x"'),
      fc.oneof(
        json,
        fc.array(json).map((items) => `[ ${items.join(' ,\n')} ]`),
      ),
    ),
    { maxLength: 5 },
  )
  .map((pairs) => ` {${pairs.map(([key, value]) => `${key} : ${value}`).join(',')} }`);
const cuts = fc.array(fc.nat(), { maxLength: 6 });

describe('JsonScan', () => {
  it.each([
    ['{', 1],
    ['', 0],
    ['  ', 2],
    ['{"a":1,}', 7],
    ["{'a':1}", 1],
    ['{"a" 1}', 5],
    ['{"a":1} x', 8],
    ['[1 2]', 3],
    ['[1,]', 3],
    ['[1}', 2],
    ['01', 0],
    ['1.e5', 0],
    ['-', 0],
    ['1e', 0],
    ['{"a": hunter2}', 6],
    ['{"a": "x\u0000"}', 6],
    ['{"a": "\\x"}', 6],
    ['{"a": "\\u12g4"}', 6],
    ['nulls', 0],
    ['{"a":tru}', 5],
    ['"open', 0],
    ['\ufeff{"a":1}}', 10],
  ])('%j stops being JSON at %i', (text, at) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(scanned(text).errorAt).toBe(at);
  });

  it('takes what JSON.parse takes, and nothing else, in whatever parts it arrives', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      '\\u00e9',
      '-',
      '0',
      '1',
      '.5',
      'e',
      '+',
      'true',
      'null',
      ' ',
      '\n',
      '\u0001',
      'é',
    );
    const texts = fc.oneof(
      json,
      fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, cuts, (text, parts) => {
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        expect(scanned(text, {}, parts).errorAt === null).toBe(isJson);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('finds what was broken at or before the end, wherever a text is cut', () => {
    fc.assert(
      fc.property(json, fc.nat(), (text, cut) => {
        const part = Buffer.from(text).subarray(0, cut % Buffer.byteLength(text));
        expect(scanned(part).errorAt ?? 0).toBeLessThanOrEqual(part.length);
      }),
    );
  });

  it('counts and tells apart the items that JSON.parse finds in the list', () => {
    fc.assert(
      fc.property(envelopes, cuts, (text, parts) => {
        const { messages } = JSON.parse(text) as { messages?: unknown };
        const { items, errorAt } = scanned(text, { list: 'messages' }, parts);
        expect(errorAt).toBeNull();
        const bytes = Buffer.from(text);
        const values = items?.map(({ from, to }) => JSON.parse(bytes.toString('utf8', from, to)) as unknown);
        expect(values).toEqual(Array.isArray(messages) ? messages : undefined);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('knows what is beside the list', () => {
    const text = '{"a":[1],"messages":[{"messages":[1,2]}, 2 ],"validation":"strict"}';
    const { listSpan } = scanned(text, { list: 'messages' });
    expect(text.slice(0, listSpan?.from) + text.slice(listSpan?.to)).toBe(
      '{"a":[1],"messages":[],"validation":"strict"}',
    );
  });

  it('looks at nothing behind the first item that is too much', () => {
    const scan = scanned(`{"messages":[${'{},'.repeat(1_000)}nonsense`, { list: 'messages', mostItems: 100 });
    expect([scan.hasTooManyItems, scan.items?.length, scan.errorAt]).toEqual([true, 101, null]);
  });

  it.each([
    ['[{"a":1},{"b":[],"c":2}]', { keys: 2, items: 9, depth: 9 }, { limit: 'keys', at: 17, ending: '"":0}]' }],
    ['{"a":[1,[2,3]]}', { keys: 9, items: 2, depth: 9 }, { limit: 'items', at: 9, ending: '0]]}' }],
    ['{"a":[{"b":[1]}]}', { keys: 9, items: 9, depth: 3 }, { limit: 'depth', at: 12, ending: ']}]}' }],
    ['{"a":[{"b":[1]}]}', { keys: 2, items: 2, depth: 4 }, null],
  ])('%j passes the limits %j there', (text, limits, beyond) => {
    const scan = scanned(text, { limits });
    expect(scan.beyond).toEqual(beyond);
    if (scan.beyond !== null) JSON.parse(text.slice(0, scan.beyond.at) + scan.beyond.ending);
  });
});
