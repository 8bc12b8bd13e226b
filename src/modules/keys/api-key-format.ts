import { hash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** `test` keys belong to OTP sandbox projects and send nothing; all others are `live`. */
export type KeyMode = 'live' | 'test';

/** What a key gives access to: the API of a workspace, or the admin API. */
export type KeyKind = KeyMode | 'admin';

export interface ParsedKey {
  mode: KeyKind;
  /** The public part; identifies the key in lists and logs. */
  id: string;
  secret: string;
}

const ID_LENGTH = 12;
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

/** The public part of a key of any kind. */
export const KEY_ID = /^[0-9A-Za-z]{12}$/;

/** For secret scanners: matches every key that Herald has made. */
export const KEY_PATTERN = /^(hrld_(live|test|admin)_([0-9A-Za-z]{12})_([0-9A-Za-z]{32}))([0-9A-Za-z]{6})$/;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new id and secret (71 and 190 bits), and their full text. */
export function newKey(mode: KeyKind): ParsedKey & { text: string } {
  const id = randomBase62(ID_LENGTH);
  const secret = randomBase62(SECRET_LENGTH);
  return { mode, id, secret, text: formatKey({ mode, id, secret }) };
}

export function formatKey({ mode, id, secret }: ParsedKey): string {
  const body = `hrld_${mode}_${id}_${secret}`;
  return body + checksumOf(body);
}

/** Parses a key's text. Null where it is not a key: the checksum rejects a mistyped or invented one without a query. */
export function parseKey(text: string): ParsedKey | null {
  const [, body = '', mode, id = '', secret = '', checksum] = KEY_PATTERN.exec(text) ?? [];
  return mode === undefined || checksumOf(body) !== checksum ? null : { mode: mode as KeyKind, id, secret };
}

/** The stored form of a key's secret part. */
export function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

// Used for an unknown id, so that it takes as long as a wrong secret.
const NO_HASH = Buffer.alloc(32);

/** In constant time, whether the key is known or not. */
export function isSecretOf<K extends { secretHash: Buffer }>(key: K | null, secret: string): key is K {
  return timingSafeEqual(digestOf(secret), key?.secretHash ?? NO_HASH) && key !== null;
}

/** CRC-32 of the text as six characters of base62, most significant first. */
function checksumOf(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62.charAt(randomInt(62))).join('');
}
