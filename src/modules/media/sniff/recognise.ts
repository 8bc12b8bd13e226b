import { fileTypeFromBuffer } from 'file-type';
import type { MediaType } from '../media.types.js';
import { examineAmr, examineMpegAudio, examineOpus, isTagged } from './audio.js';
import { BrokenFileError, ByteReader, type ByteSource, NotTakenError } from './byte-reader.js';
import { examineCompoundFile, examineZip, zipDirectory } from './documents.js';
import { type Format, FORMATS } from './formats.js';
import { examineJpeg, examineMp4, examinePng, examineThreeGp, examineWebp, isAnimatedWebp } from './pieces.js';

/** So many bytes decide the family of a file. */
export const HEAD_BYTES = 4_100;
// As far as readers of PDF search for its beginning.
const PDF_SEARCH_BYTES = 1_024;

/** Formats that begin alike. */
export interface Family {
  /** What such a file mostly is. */
  name: string;
  limitBytes: number;
  types: readonly MediaType[];
  /** What its files begin like, in a sentence. */
  like: string;
  /** The format of a whole file. @throws NotTakenError, BrokenFileError */
  examine: (file: ByteReader) => Promise<Format>;
}

function family(
  { mimeType: name, limitBytes }: Pick<Format, 'mimeType' | 'limitBytes'>,
  types: readonly MediaType[],
  examine: Family['examine'],
  like = name,
): Family {
  return { name, limitBytes, types, like, examine };
}

const zip = { mimeType: 'application/zip', limitBytes: FORMATS.docx.limitBytes };
const compound = { mimeType: 'application/x-cfb', limitBytes: FORMATS.doc.limitBytes };
const mpegAudio = family(FORMATS.mp3, ['audio'], examineMpegAudio, 'audio');
const animated = family(FORMATS.animatedSticker, ['sticker'], examineWebp);
const png = family(FORMATS.png, ['image'], examinePng);
const mp4 = family(FORMATS.mp4, ['video', 'audio'], examineMp4);
const office = family(zip, ['document'], examineZip, 'a ZIP');
const pdf = family(FORMATS.pdf, ['document'], () => Promise.resolve(FORMATS.pdf));
// Its bytes are looked at one by one as they come.
export const TEXT = family(FORMATS.text, ['document'], () => Promise.resolve(FORMATS.text));

/** By the library's name of what a file begins like. */
const FAMILIES: ReadonlyMap<string, Family> = new Map([
  ['image/jpeg', family(FORMATS.jpeg, ['image'], examineJpeg)],
  ['image/png', png],
  ['image/apng', png],
  ['image/webp', family(FORMATS.sticker, ['sticker'], examineWebp)],
  ['video/mp4', mp4],
  ['video/x-m4v', mp4],
  ['audio/mp4', mp4],
  ['audio/x-m4a', mp4],
  ['video/3gpp', family(FORMATS.threeGp, ['video'], examineThreeGp)],
  ['audio/mpeg', mpegAudio],
  ['audio/aac', mpegAudio],
  ['audio/amr', family(FORMATS.amr, ['audio'], examineAmr, 'audio')],
  ['audio/ogg; codecs=opus', family(FORMATS.ogg, ['audio'], examineOpus)],
  ['application/pdf', pdf],
  ['application/zip', office],
  [FORMATS.docx.mimeType, office],
  [FORMATS.xlsx.mimeType, office],
  [FORMATS.pptx.mimeType, office],
  ['application/x-cfb', family(compound, ['document'], examineCompoundFile, 'an Office document')],
]);

/**
 * What the beginning of a file shows, before the rest has arrived. `family` is null where the platform takes no file that
 * begins so; `name` says what it is as far as that is known.
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

/**
 * Detects the format of a complete file that begins like one of the family. The structure must be whole as far as it
 * matters for the type, and the file must not be something else as well: a PDF or a ZIP can be hidden in files of most
 * other types. Reads some kilobytes here and there, whatever the file's size.
 *
 * @throws NotTakenError
 */
export async function recognise({ examine, like }: Family, source: ByteSource): Promise<Format> {
  const file = new ByteReader(source);
  try {
    const format = await examine(file);
    const isPdf = examine !== pdf.examine && (await file.look(0, PDF_SEARCH_BYTES)).includes('%PDF-');
    const isZip = examine !== examineZip && !isPdf && (await zipDirectory(file)) !== null;
    if (!isPdf && !isZip) return format;
    const second = isPdf ? pdf.name : zip.mimeType;
    throw new NotTakenError(second, `The file is ${format.mimeType} and ${second} at the same time`);
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
    throw new NotTakenError(null, `The file begins like ${like}, but is broken or cut short`);
  }
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

/** Looks at a text as it comes: valid UTF-8 without control characters. */
export class TextScan {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private isText = true;

  /** Returns false from the first byte on that can't be in a text. */
  push(chunk: Buffer): boolean {
    this.isText = this.isText && this.decodes(chunk) && !hasControls(chunk);
    return this.isText;
  }

  /** The verdict at the end: a character that was cut in two is none. */
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
  // A plain loop: it meets every byte of every text, and an iterator costs several times as much.
  let found = 0;
  for (let at = 0; at < bytes.length; at++) found |= FORBIDDEN[bytes[at] as number] as number;
  return found !== 0;
}
