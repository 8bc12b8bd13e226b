import fc from 'fast-check';
import { jsonFaults, jsonFaultAt } from './json-faults.js';

function faultsOf(text: string) {
  return jsonFaults(JSON.parse(text), text).map(({ field, rule }) => `${rule} ${field}`);
}

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}

describe('jsonFaults', () => {
  it('finds nothing wrong with any ordinary JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5, stringUnit: 'grapheme' }), (text) => {
        fc.pre(!/__proto__|constructor|\\u0000/.test(text));
        expect(faultsOf(text)).toEqual([]);
      }),
    );
  });

  it('takes 32 levels and refuses 33', () => {
    expect(faultsOf(nested(32))).toEqual([]);
    expect(faultsOf(nested(33))).toEqual([`depth ${Array.from({ length: 32 }, () => 'a').join('.')}`]);
    expect(faultsOf(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toHaveLength(1);
  });

  it('takes 1,000 keys and refuses 1,001, wherever they stand', () => {
    const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',')}}`;
    expect(faultsOf(keys(1_000))).toEqual([]);
    expect(faultsOf(keys(1_001))).toEqual(['keys ']);
    expect(faultsOf(`[${keys(600)},${keys(600)}]`)).toEqual(['keys [1]']);
  });

  it('takes 10,000 items and refuses 10,001, wherever they stand', () => {
    const items = (count: number) => `[${Array.from({ length: count }, () => '0').join(',')}]`;
    expect(faultsOf(items(10_000))).toEqual([]);
    expect(faultsOf(items(10_001))).toEqual(['items ']);
    expect(faultsOf(`{"a":${items(6_000)},"b":${items(6_000)}}`)).toEqual(['items b']);
  });

  it('names 20 faults at most, and of each place 200 characters at most', () => {
    const key = 'k'.repeat(55_000);
    const text = JSON.stringify({ [key]: Array.from({ length: 9_000 }, () => '\u0000') });
    const faults = jsonFaults(JSON.parse(text), text);
    expect(faults).toHaveLength(20);
    const field = `${'k'.repeat(199)}\u2026`;
    expect(faults[0]).toEqual({
      field,
      rule: 'text',
      message: `${field} must not contain U+0000 or half of a surrogate pair.`,
    });
  });

  it.each([
    ['{"a":"\\u0000"}', 'text a'],
    ['{"a":{"b":["x","\\ud800"]}}', 'text a.b[1]'],
    ['{"a":"\\udc00\\ud800"}', 'text a'],
    ['["\\u0000"]', 'text [0]'],
    ['{"a\\u0000":1}', 'text a\uFFFD'],
    ['{"x":{"__proto__":{"admin":true}}}', 'forbidden_key x.__proto__'],
    ['{"\\u005f_proto__":1}', 'forbidden_key __proto__'],
    ['{"constructor":{"prototype":{}}}', 'forbidden_key constructor'],
  ])('refuses %s, naming the place', (text, faults) => {
    expect(faultsOf(text).join(',')).toBe(faults);
  });

  it('takes every well-formed text, escaped or not', () => {
    expect(faultsOf('{"a":"\\ud83d\\ude00 \\n \\u0001 é 😀"}')).toEqual([]);
  });
});

describe('jsonFaultAt', () => {
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
    ['{"a": hunter2}', 6],
    ['{"a": "x\u0000"}', 6],
    ['{"a": "\\x"}', 6],
    ['nulls', 0],
    ['{"a":tru}', 5],
    ['"open', 0],
  ])('%j is at fault at %i', (text, at) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(jsonFaultAt(text)).toBe(at);
  });

  it('finds no fault before the end of any JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(jsonFaultAt(text)).toBe(text.length);
      }),
    );
  });

  it('finds what was broken at or before the end, wherever a text is cut', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, cut) => {
        const part = text.slice(0, cut % text.length);
        expect(jsonFaultAt(part)).toBeLessThanOrEqual(part.length);
      }),
    );
  });
});
