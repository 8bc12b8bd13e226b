import fc from 'fast-check';
import { anyText } from '../../../test/support/any-text.js';
import { formatKey, KEY_PATTERN, newKey, parseKey } from './api-key-format.js';

const KEY_LENGTH = 61;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base62 = (length: number) =>
  fc.array(fc.constantFrom(...BASE62), { minLength: length, maxLength: length }).map((letters) => letters.join(''));
const anyKey = fc.record({
  mode: fc.constantFrom('live' as const, 'test' as const),
  id: base62(12),
  secret: base62(32),
});

describe('API key format', () => {
  it('reads hrld_live_<id 12>_<secret 32><checksum 6>', () => {
    const key = newKey('live');
    expect(key.text).toMatch(/^hrld_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/);
    expect(key.text).toHaveLength(KEY_LENGTH);
    expect(key.text.slice(10, 22)).toBe(key.id);
    expect(key.text.slice(23, 55)).toBe(key.secret);
  });

  it('never changes its checksum', () => {
    const text = formatKey({ mode: 'live', id: '0123456789ab', secret: 'abcdefghijklmnopqrstuvwxyzABCDEF' });
    expect(text).toBe('hrld_live_0123456789ab_abcdefghijklmnopqrstuvwxyzABCDEF2lvII8');
  });

  it('reads back what it wrote', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        const text = formatKey(key);
        expect(text).toMatch(KEY_PATTERN);
        expect(parseKey(text)).toEqual(key);
      }),
    );
  });

  it('refuses a key with any one character changed', () => {
    fc.assert(
      fc.property(anyKey, fc.nat(KEY_LENGTH - 1), fc.constantFrom(...BASE62, '_', ' '), (key, at, letter) => {
        const text = formatKey(key);
        fc.pre(text[at] !== letter);
        expect(parseKey(text.slice(0, at) + letter + text.slice(at + 1))).toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  it('refuses every text that is no key', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 100 }), (text) => {
        expect(parseKey(text)).toBeNull();
      }),
    );
    const text = newKey('live').text;
    expect(parseKey(`${text} `)).toBeNull();
    expect(parseKey(text.slice(0, -1))).toBeNull();
    expect(parseKey(text.toUpperCase())).toBeNull();
  });

  it('never makes the same id or secret twice and uses the whole alphabet', () => {
    const keys = Array.from({ length: 500 }, () => newKey('test'));
    expect(new Set(keys.map((key) => key.id)).size).toBe(500);
    expect(new Set(keys.map((key) => key.secret)).size).toBe(500);
    expect(new Set(keys.flatMap((key) => [...key.secret])).size).toBe(62);
  });
});
