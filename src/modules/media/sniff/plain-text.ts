import { isUtf8 } from 'node:buffer';

/** 1 for bytes that stand in no text: what is below a space but tab, line feed, form feed, carriage return; and DEL. */
const FORBIDDEN = new Uint8Array(256).fill(1, 0, 0x20).fill(0, 0x09, 0x0b).fill(0, 0x0c, 0x0e).fill(1, 0x7f, 0x80);
const NOTHING = Buffer.alloc(0);

/** Looks at a text as it comes: valid UTF-8 without control characters. Keeps three bytes at most. */
export class TextScan {
  private carry: Buffer = NOTHING;
  private isText = true;

  /** Returns false from the first byte on that can't stand in a text. */
  push(chunk: Buffer): boolean {
    if (!this.isText) return false;
    const whole = this.carry.length === 0 ? chunk : Buffer.concat([this.carry, chunk]);
    const end = whole.length - unfinished(whole);
    this.carry = Buffer.from(whole.subarray(end));
    this.isText = isUtf8(whole.subarray(0, end)) && !hasControls(chunk);
    return this.isText;
  }

  /** The verdict at the end: a character that was cut in two is none. */
  finish(): boolean {
    return this.isText && this.carry.length === 0;
  }
}

function hasControls(bytes: Buffer): boolean {
  // Counted by hand, for it meets every byte of every text: an iterator costs several times as much.
  let found = 0;
  for (let at = 0; at < bytes.length; at++) found |= FORBIDDEN[bytes[at] as number] as number;
  return found !== 0;
}

/** Bytes at the end that begin a character whose rest is still to come. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? back : 0;
  }
  return 0;
}

// What can only be a page or a script; browsers take more for one (WHATWG MIME Sniffing, 7.1), but a text may well begin
// with a comment or a tag, as many a readme does, and is never served for a browser to sniff.
const WEB_PAGE = /^<(!doctype html|html|head|body|title|script|style|iframe)[\s>]|^<(\?php|%)/;

/** The type of a text that is more than plain: what a browser would run or draw. Null for plain text. */
export function activeTextType(head: Buffer): string | null {
  const start = head
    .toString('utf8', 0, 1_024)
    .replace(/^\uFEFF/, '')
    .trimStart()
    .toLowerCase();
  if (start.startsWith('<svg')) return 'image/svg+xml';
  if (start.startsWith('<?xml')) return start.includes('<svg') ? 'image/svg+xml' : 'text/xml';
  return WEB_PAGE.test(start) ? 'text/html' : null;
}
