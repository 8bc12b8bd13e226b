import { jest } from '@jest/globals';
import { jsonViolations } from './json-violations.js';
import { readJson } from './read-json.js';

const list = (item: string, count: number): string => `[${Array.from({ length: count }, () => item).join(',')}]`;
const keys = (count: number): string => `{${Array.from({ length: count }, (_, n) => `"key_${n}":0`).join(',')}}`;

describe('readJson', () => {
  it.each([
    ['items', list('0', 20_000)],
    ['items of a list within', `{"a":{"b":${list('{}', 20_000)}}}`],
    ['items of several lists', `{"a":${list('{}', 6_000)},"b":${list('[]', 6_000)}}`],
    ['keys', keys(20_000)],
    ['keys of many objects', `{"a":${list('{"x":1}', 5_000)}}`],
    ['levels', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['levels of objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ])('says the same of too many %s as if all were parsed, and parses only up to there', (_what, text) => {
    const whole = jsonViolations(JSON.parse(text), text);
    const parse = jest.spyOn(JSON, 'parse');
    try {
      expect(readJson(Buffer.from(text)).violations).toEqual(whole);
      const parsed = parse.mock.calls.map(([part]) => part);
      expect(parsed).toHaveLength(1);
      expect(parsed).not.toContain(text);
    } finally {
      parse.mockRestore();
    }
  });

  it('refuses too many keys that stand more than once', () => {
    expect(readJson(Buffer.from(`{${'"a":0,'.repeat(5_000)}"a":0}`)).violations).toEqual([
      { field: '', rule: 'keys', message: 'The body has more than 1000 keys; send fewer.' },
    ]);
  });

  it.each([
    ['a word', '{"a":1,\n"é": x}', 'look at line 2, column 6'],
    ['a byte order mark', '\ufeff{"a" 1}', 'look at line 1, column 6'],
    ['an open list', '\n\n[1', 'it ends too early'],
    ['a long text', `{"a":"${'é'.repeat(20_000)}",\n "b":\n}`, 'look at line 3, column 1'],
    ['too many items', `{"a":${list('0', 20_000)},\n "b":\n}`, 'look at line 3, column 1'],
  ])('says where it cannot be read: %s', (_what, text, place) => {
    expect(() => readJson(Buffer.from(text))).toThrow(
      expect.objectContaining({
        extra: { details: [expect.objectContaining({ message: `The body is not valid JSON: ${place}.` })] },
      }) as Error,
    );
  });

  it('reads a text with a byte order mark', () => {
    expect(readJson(Buffer.from('\ufeff{"a":1}')).value).toEqual({ a: 1 });
  });
});
