import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.js';
import { SecretBox, type SecretPlace } from './secret-box.js';

const keyOne = { version: 1, key: randomBytes(32) };
const keyTwo = { version: 2, key: randomBytes(32) };
const place: SecretPlace = { table: 'connection', column: 'token', organizationId: 'org-1', rowId: 'row-1' };

function boxWith(...keys: { version: number; key: Buffer }[]): SecretBox {
  return new SecretBox({ security: { encryptionKeys: keys } } as unknown as Config);
}

describe('SecretBox', () => {
  it('decrypts what it encrypted, and never encrypts the same bytes to the same ciphertext', () => {
    const box = boxWith(keyOne);
    const first = box.seal('EAAG-token-ü', place);
    expect(box.open(first, place)).toBe('EAAG-token-ü');
    expect(box.seal('EAAG-token-ü', place).equals(first)).toBe(false);
  });

  it('encrypts with the highest version and still decrypts older ones', () => {
    const old = boxWith(keyOne).seal('secret', place);
    const both = boxWith(keyOne, keyTwo);
    expect(both.open(old, place)).toBe('secret');
    expect(both.seal('secret', place).readUInt32BE(0)).toBe(2);
    expect(() => boxWith(keyTwo).open(old, place)).toThrow('no version 1');
  });

  it.each<[string, Partial<SecretPlace>]>([
    ['another row', { rowId: 'row-2' }],
    ['another workspace', { organizationId: 'org-2' }],
    ['another column', { column: 'secret' }],
    ['another table', { table: 'webhook_endpoint' }],
  ])('does not open in %s', (_name, change) => {
    const box = boxWith(keyOne);
    const sealed = box.seal('secret', place);
    expect(() => box.open(sealed, { ...place, ...change })).toThrow();
  });

  it('refuses changed, truncated and relabelled bytes', () => {
    const box = boxWith(keyOne, keyTwo);
    const sealed = box.seal('a longer secret', place);
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => box.open(changed, place)).toThrow();
    }
    for (const length of [0, 4, 20, 31, sealed.length - 1]) {
      expect(() => box.open(sealed.subarray(0, length), place)).toThrow();
    }
  });
});
