import type { MediaType } from '../media.types.js';
import {
  type ByteSource,
  compoundFormat,
  isTagged,
  mp4Format,
  mpegAudioFormat,
  nameOf,
  opusFormat,
  threeGpFormat,
  zipFormat,
} from './contents.js';
import { type Format, FORMATS } from './formats.js';

/** Formats with the same beginning. */
export interface Family {
  /** The usual type of such a file. */
  name: string;
  limitBytes: number;
  types: readonly MediaType[];
  /** The format of a complete file, if its beginning does not decide it. @throws NotTakenError */
  formatOf: (file: ByteSource) => Format | Promise<Format>;
}

function family(format: Format, formatOf: Family['formatOf'] = () => format): Family {
  return { name: format.mimeType, limitBytes: format.limitBytes, types: [format.type], formatOf };
}

const mp4: Family = { ...family(FORMATS.mp4, mp4Format), types: ['video', 'audio'] };
const mpegAudio = family(FORMATS.mp3, mpegAudioFormat);
const animated = family(FORMATS.animatedSticker);
const png = family(FORMATS.png);
// Every byte is checked as it arrives.
export const TEXT = family(FORMATS.text);

/** By the library's name for the beginning of a file. */
const FAMILIES: ReadonlyMap<string, Family> = new Map([
  ['image/jpeg', family(FORMATS.jpeg)],
  ['image/png', png],
  ['image/apng', png],
  // WhatsApp accepts WebP only as a sticker.
  ['image/webp', family(FORMATS.sticker)],
  ['video/mp4', mp4],
  ['video/x-m4v', mp4],
  ['audio/mp4', mp4],
  ['audio/x-m4a', mp4],
  ['video/3gpp', family(FORMATS.threeGp, threeGpFormat)],
  ['audio/mpeg', mpegAudio],
  ['audio/aac', mpegAudio],
  ['audio/amr', family(FORMATS.amr)],
  ['audio/ogg; codecs=opus', family(FORMATS.ogg, opusFormat)],
  ['application/pdf', family(FORMATS.pdf)],
  ['application/zip', { ...family(FORMATS.docx, zipFormat), name: 'application/zip' }],
  [FORMATS.docx.mimeType, family(FORMATS.docx)],
  [FORMATS.xlsx.mimeType, family(FORMATS.xlsx)],
  [FORMATS.pptx.mimeType, family(FORMATS.pptx)],
  ['application/x-cfb', { ...family(FORMATS.doc, compoundFormat), name: 'application/x-cfb' }],
]);

/**
 * What the beginning of a file shows, before the rest has arrived. `family` is null where WhatsApp accepts no such
 * file; `name` is its type, if known.
 */
export async function firstLook(head: Buffer): Promise<{ family: Family | null; name: string | null }> {
  const name = activeTextType(head) ?? (await nameOf(head));
  const found = name === null && isTagged(head) ? mpegAudio : FAMILIES.get(name ?? '');
  if (found !== undefined) {
    const seen = isAnimatedWebp(head) ? animated : found;
    return { family: seen, name: seen.name };
  }
  const mayBeText = name === null || (isHarmlessText(name) && new TextScan().push(head));
  return mayBeText ? { family: TEXT, name: TEXT.name } : { family: null, name };
}

/** By bytes 12 to 21 of the file. */
function isAnimatedWebp(head: Buffer): boolean {
  return head.toString('latin1', 8, 16) === 'WEBPVP8X' && ((head[20] ?? 0) & 0x02) !== 0;
}

/** The library recognises some formats by two or three letters only, with which text may begin too. */
const LETTERS_ONLY =
  /^(image\/bmp|text\/|model\/|audio\/|video\/|font\/|application\/(x-|vnd|pgp|octet|zip|gzip|java))/;

function isHarmlessText(detected: string): boolean {
  // All of these formats contain bytes that text cannot have, and the whole file is checked for them.
  return LETTERS_ONLY.test(detected) && !/html|xml|script/.test(detected);
}

// The beginning of a page or a script. Browsers accept more as one (WHATWG MIME Sniffing, 7.1), but text such as a
// readme may begin with a comment or a tag, and it is never served for a browser to sniff.
const WEB_PAGE = /^<(!doctype html|html|head|body|title|script|style|iframe)[\s>]|^<(\?php|%)/;

/** The type of text that a browser would run or draw. Null for plain text. */
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

/**
 * 1 for bytes that text cannot contain: below a space, except tab, line feed, form feed and carriage return; and DEL.
 */
const FORBIDDEN = new Uint8Array(256).fill(1, 0, 0x20).fill(0, 0x09, 0x0b).fill(0, 0x0c, 0x0e).fill(1, 0x7f, 0x80);

/** Checks text as it arrives: valid UTF-8 without control characters. */
export class TextScan {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private isText = true;

  /** Returns false from the first invalid byte on. */
  push(chunk: Buffer): boolean {
    this.isText = this.isText && this.decodes(chunk) && !hasControls(chunk);
    return this.isText;
  }

  /** The result at the end: an incomplete character is invalid. */
  finish(): boolean {
    return this.isText && this.decodes();
  }

  private decodes(chunk?: Buffer): boolean {
    try {
      this.decoder.decode(chunk, { stream: chunk !== undefined });
      return true;
    } catch {
      return false;
    }
  }
}

function hasControls(bytes: Buffer): boolean {
  // A plain loop: it runs for every byte of every text, and an iterator costs several times as much.
  let found = 0;
  for (let at = 0; at < bytes.length; at++) found |= FORBIDDEN[bytes[at] as number] as number;
  return found !== 0;
}
