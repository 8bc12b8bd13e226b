import fc from 'fast-check';
import { jsonViolations } from './json-violations.js';

function violationsOf(text: string) {
  return jsonViolations(JSON.parse(text), text).map(({ field, rule }) => `${rule} ${field}`);
}

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}

describe('jsonViolations', () => {
  it('finds nothing wrong with any ordinary JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5, stringUnit: 'grapheme' }), (text) => {
        fc.pre(!/__proto__|constructor|\\u0000/.test(text));
        expect(violationsOf(text)).toEqual([]);
      }),
    );
  });

  it('takes 32 levels and refuses 33', () => {
    expect(violationsOf(nested(32))).toEqual([]);
    expect(violationsOf(nested(33))).toEqual([`depth ${Array.from({ length: 32 }, () => 'a').join('.')}`]);
    expect(violationsOf(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toHaveLength(1);
  });

  it('takes 1,000 keys and refuses 1,001, wherever they stand', () => {
    const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',')}}`;
    expect(violationsOf(keys(1_000))).toEqual([]);
    expect(violationsOf(keys(1_001))).toEqual(['keys ']);
    expect(violationsOf(`[${keys(600)},${keys(600)}]`)).toEqual(['keys [1]']);
  });

  it('takes 10,000 items and refuses 10,001, wherever they stand', () => {
    const items = (count: number) => `[${Array.from({ length: count }, () => '0').join(',')}]`;
    expect(violationsOf(items(10_000))).toEqual([]);
    expect(violationsOf(items(10_001))).toEqual(['items ']);
    expect(violationsOf(`{"a":${items(6_000)},"b":${items(6_000)}}`)).toEqual(['items b']);
  });

  it('names 20 violations at most, and 200 characters of each path at most', () => {
    const key = 'k'.repeat(55_000);
    const text = JSON.stringify({ [key]: Array.from({ length: 9_000 }, () => '\u0000') });
    const violations = jsonViolations(JSON.parse(text), text);
    expect(violations).toHaveLength(20);
    const field = `${'k'.repeat(199)}\u2026`;
    expect(violations[0]).toEqual({
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
  ])('refuses %s, naming the place', (text, violations) => {
    expect(violationsOf(text).join(',')).toBe(violations);
  });

  it('takes every well-formed text, escaped or not', () => {
    expect(violationsOf('{"a":"\\ud83d\\ude00 \\n \\u0001 é 😀"}')).toEqual([]);
  });
});
