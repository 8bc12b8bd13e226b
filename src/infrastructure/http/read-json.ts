import { isUtf8 } from 'node:buffer';
import type { AppError, ErrorDetail } from '../../common/app-error.js';
import { invalidField } from '../../common/common.errors.js';
import { BYTE_ORDER_MARK, JsonScan } from './json-scan.js';
import { JSON_LIMITS, jsonViolations, tooMuch } from './json-violations.js';

/** Below this size, `JSON.parse` takes at most a millisecond. */
const SCANNED_FROM_BYTES = 8 * 1_024;

/**
 * Parses the JSON of a body, and returns the violations that make it unusable. JSON with too many keys, items or levels
 * is not parsed, because that takes up to a hundred times as long as other JSON of its size; `value` is undefined then.
 *
 * @throws INVALID_REQUEST (400) saying where it can't be read.
 */
export function readJson(bytes: Buffer): { value: unknown; violations: ErrorDetail[] } {
  requireUtf8(bytes);
  const from = markLength(bytes);
  if (bytes.length >= SCANNED_FROM_BYTES) {
    const { errorAt, beyond } = scanned(bytes);
    if (errorAt !== null) throw notJson(bytes, errorAt);
    if (beyond !== null) {
      const violations = violationsOf(bytes.toString('utf8', from, beyond.at) + beyond.ending);
      // Empty where a repeated key hides the excess elements.
      return { value: undefined, violations: violations.length > 0 ? violations : [tooMuch(beyond.limit, '')] };
    }
  }
  const text = bytes.toString('utf8', from);
  try {
    const value: unknown = JSON.parse(text);
    return { value, violations: jsonViolations(value, text) };
  } catch {
    throw notJson(bytes, scanned(bytes).errorAt ?? bytes.length);
  }
}

/** @throws INVALID_REQUEST (400). */
export function requireUtf8(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw invalidField('', 'encoding', 'The body is not valid UTF-8; encode it as UTF-8.');
}

/** Bytes of the byte order mark that some programs put before the text. */
export function markLength(bytes: Buffer): number {
  const { length } = BYTE_ORDER_MARK;
  return BYTE_ORDER_MARK.equals(bytes.subarray(0, length)) ? length : 0;
}

/** @param at the position where it is no longer JSON, in bytes. */
export function notJson(bytes: Buffer, at: number): AppError {
  return invalidField('', 'json', `The body is not valid JSON: ${placeOf(bytes, at)}.`);
}

function placeOf(bytes: Buffer, at: number): string {
  if (at >= bytes.length) return 'it ends too early';
  let line = 1;
  for (let i = 0; i < at; i++) if (bytes[i] === 0x0a) line += 1;
  const lineFrom = line === 1 ? markLength(bytes) : bytes.lastIndexOf(0x0a, at - 1) + 1;
  return `look at line ${line}, column ${bytes.toString('utf8', lineFrom, at).length + 1}`;
}

function scanned(bytes: Buffer): JsonScan {
  const scan = new JsonScan({ limits: JSON_LIMITS });
  scan.push(bytes);
  scan.end();
  return scan;
}

function violationsOf(text: string): ErrorDetail[] {
  return jsonViolations(JSON.parse(text), text);
}
