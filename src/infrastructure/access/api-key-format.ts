import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** `test` keys belong to OTP sandbox projects and send nothing; all others are `live`. */
export type KeyMode = 'live' | 'test';

export interface ParsedKey {
  mode: KeyMode;
  /** The public part; names the key in lists and logs. */
  id: string;
  secret: string;
}

const ID_LENGTH = 12;
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const PREFIX_LENGTH = 'hrld_live_'.length;
const BODY_LENGTH = PREFIX_LENGTH + ID_LENGTH + 1 + SECRET_LENGTH;

/** Characters of a whole key; anything else is no key. */
export const KEY_LENGTH = BODY_LENGTH + CHECKSUM_LENGTH;

/** For secret scanners: every key that Herald ever made matches. */
export const KEY_PATTERN = /^hrld_(live|test)_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new id and secret (71 and 190 bits) with their whole text. */
export function newKey(mode: KeyMode): ParsedKey & { text: string } {
  const id = randomBase62(ID_LENGTH);
  const secret = randomBase62(SECRET_LENGTH);
  return { mode, id, secret, text: formatKey({ mode, id, secret }) };
}

export function formatKey({ mode, id, secret }: ParsedKey): string {
  const body = `hrld_${mode}_${id}_${secret}`;
  return body + checksumOf(body);
}

/**
 * Takes a key's text apart. Null where it is none: the checksum rejects a mistyped or invented key without asking the
 * database.
 */
export function parseKey(text: string): ParsedKey | null {
  if (text.length !== KEY_LENGTH || !KEY_PATTERN.test(text)) return null;
  if (checksumOf(text.slice(0, BODY_LENGTH)) !== text.slice(BODY_LENGTH)) return null;
  return {
    mode: text.startsWith('hrld_test_') ? 'test' : 'live',
    id: text.slice(PREFIX_LENGTH, PREFIX_LENGTH + ID_LENGTH),
    secret: text.slice(PREFIX_LENGTH + ID_LENGTH + 1, BODY_LENGTH),
  };
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
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the greatest multiple of 62 in a byte: beyond it some characters would be likelier than others.
      if (byte < 248 && text.length < length) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}
