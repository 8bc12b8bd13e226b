import { isUtf8 } from 'node:buffer';
import { fileTypeFromBuffer } from 'file-type';
import type { MediaType } from '../media.types.js';
import { type Format, FORMATS } from './formats.js';

/** So many bytes decide the family of a file. */
export const HEAD_BYTES = 4_100;

/** Formats that begin alike. */
export type Family = 'jpeg' | 'png' | 'webp' | 'iso' | 'mpeg_audio' | 'amr' | 'ogg' | 'pdf' | 'zip' | 'cfb' | 'text';

/** What the beginning of a file shows, before the rest has arrived. */
export interface KnownFamily {
  readonly family: Family;
  /** What such a file mostly is. */
  readonly name: string;
  readonly limitBytes: number;
  readonly types: readonly MediaType[];
}

/** `family` is null where the platform takes no file that begins so; `detected` names it where it is known. */
export type FirstLook = KnownFamily | { readonly family: null; readonly detected: string | null };

const known = (
  family: Family,
  format: Pick<Format, 'mimeType' | 'limitBytes'>,
  ...types: MediaType[]
): KnownFamily => ({
  family,
  name: format.mimeType,
  limitBytes: format.limitBytes,
  types,
});

const zip = { mimeType: 'application/zip', limitBytes: FORMATS.docx.limitBytes };
const compound = { mimeType: 'application/x-cfb', limitBytes: FORMATS.doc.limitBytes };
const text = known('text', FORMATS.text, 'document');

const animated = known('webp', FORMATS.animatedSticker, 'sticker');

const magic =
  (text: string, at = 0) =>
  (start: string): boolean =>
    start.startsWith(text, at);

/** By the first bytes, each of them one character. */
const FAMILIES: readonly (readonly [begins: (start: string) => boolean, KnownFamily])[] = [
  [magic('\xff\xd8\xff'), known('jpeg', FORMATS.jpeg, 'image')],
  [magic('\x89PNG\r\n\x1a\n'), known('png', FORMATS.png, 'image')],
  [(start) => start.startsWith('RIFF') && start.startsWith('WEBP', 8), known('webp', FORMATS.sticker, 'sticker')],
  [magic('ftyp', 4), known('iso', FORMATS.mp4, 'video', 'audio')],
  [magic('ID3'), known('mpeg_audio', FORMATS.mp3, 'audio')],
  [(start) => /^\xff[\xe0-\xff]/.test(start), known('mpeg_audio', FORMATS.mp3, 'audio')],
  [magic('#!AMR\n'), known('amr', FORMATS.amr, 'audio')],
  [magic('OggS'), known('ogg', FORMATS.ogg, 'audio')],
  [(start) => /^%PDF-\d/.test(start), known('pdf', FORMATS.pdf, 'document')],
  [magic('PK\x03\x04'), known('zip', zip, 'document')],
  [magic('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), known('cfb', compound, 'document')],
];

/** Recognises the family by the first bytes. Everything else about the file is only checked when it is complete. */
export async function firstLook(head: Buffer): Promise<FirstLook> {
  const start = head.toString('latin1', 0, 16);
  const found = FAMILIES.find(([begins]) => begins(start))?.[1];
  if (found !== undefined) return found.family === 'webp' && isAnimatedWebp(head) ? animated : found;
  const detected = activeTextType(head) ?? (await nameOf(head));
  const mayBeText = detected === null || (isHarmlessText(detected) && new TextScan().push(head));
  return mayBeText ? text : { family: null, detected };
}

/** Where a WebP's bytes say that it moves; bytes 12 to 21 of the file are enough. */
export function isAnimatedWebp(head: Buffer): boolean {
  return head.toString('latin1', 12, 16) === 'VP8X' && ((head[20] ?? 0) & 0x02) !== 0;
}

/** The library's type for the bytes: it is reported to the caller, and detects binary files that look like text. */
async function nameOf(head: Buffer): Promise<string | null> {
  try {
    return (await fileTypeFromBuffer(head))?.mime ?? null;
  } catch {
    return null; // a file that is broken beyond naming
  }
}

/** Of some formats the library knows two or three letters only, which texts begin with as well. */
const LETTERS_ONLY =
  /^(image\/bmp|text\/|model\/|audio\/|video\/|font\/|application\/(x-|vnd|pgp|octet|zip|gzip|java))/;

function isHarmlessText(detected: string): boolean {
  // None of these works without bytes that no text has, and the whole file is looked at for them.
  return LETTERS_ONLY.test(detected) && !/html|xml|script/.test(detected);
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

/** 1 for bytes that are in no text: what is below a space but tab, line feed, form feed, carriage return; and DEL. */
const FORBIDDEN = new Uint8Array(256).fill(1, 0, 0x20).fill(0, 0x09, 0x0b).fill(0, 0x0c, 0x0e).fill(1, 0x7f, 0x80);
const NOTHING = Buffer.alloc(0);

/** Looks at a text as it comes: valid UTF-8 without control characters. Keeps three bytes at most. */
export class TextScan {
  private carry: Buffer = NOTHING;
  private isText = true;

  /** Returns false from the first byte on that can't be in a text. */
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
  // A plain loop: it meets every byte of every text, and an iterator costs several times as much.
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
