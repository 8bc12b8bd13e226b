import fc from 'fast-check';
import { canonicalJson } from './json.js';

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, shuffled(item)]),
  );
}

describe('canonicalJson', () => {
  it('does not depend on the order of keys, and keeps the meaning', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('distinguishes different values', () => {
    const texts = [{ a: 1 }, { a: '1' }, { a: [1] }, { a: null }, { b: 1 }, [{ a: 1 }], {}, []].map(canonicalJson);
    expect(new Set(texts).size).toBe(texts.length);
  });
});
