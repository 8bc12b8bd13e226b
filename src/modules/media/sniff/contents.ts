import { fileTypeFromBuffer } from 'file-type';
import type { TemporaryFile } from '../../../infrastructure/storage/file-storage.js';
import { type Format, FORMATS } from './formats.js';

/** The first bytes, which decide the family of a file. */
export const HEAD_BYTES = 4_100;

/** A file that can be read at any position. */
export type ByteSource = Pick<TemporaryFile, 'sizeBytes' | 'read'>;

/** The file is refused: `detected` names its type if known, `reason` is a clause for the caller. */
export class NotTakenError extends Error {
  constructor(
    readonly detected: string | null,
    readonly reason?: string,
  ) {
    super(reason ?? detected ?? 'of no known type');
    this.name = 'NotTakenError';
  }
}

/** The library's type for the bytes: reported to the caller, and used to detect binary files that look like text. */
export async function nameOf(head: Buffer): Promise<string | null> {
  try {
    const type = await fileTypeFromBuffer(head);
    // MPEG audio of layers other than MP3's: UTF-16 text may begin with the same bytes.
    return type === undefined || ['mp1', 'mp2'].includes(type.ext) ? null : type.mime;
  } catch {
    return null; // a file that is broken beyond naming
  }
}

// Larger than the index of a 16 MiB film.
const MAX_MOVIE_BYTES = 1_024 * 1_024;
const MAX_BOXES = 1_000;

/** The tracks decide whether an MP4 is video or audio. The brand does not, since many writers use one for both. */
export async function mp4Format(file: ByteSource): Promise<Format> {
  return (await isSoundOnly(file)) ? FORMATS.m4a : FORMATS.mp4;
}

export async function threeGpFormat(file: ByteSource): Promise<Format> {
  if (await isSoundOnly(file)) throw new NotTakenError('audio/3gpp');
  return FORMATS.threeGp;
}

async function isSoundOnly(file: ByteSource): Promise<boolean> {
  const movie = await movieOf(file);
  const kinds = new Set<string>();
  for (let at = movie.indexOf('hdlr'); at >= 0; at = movie.indexOf('hdlr', at + 4)) {
    kinds.add(movie.toString('latin1', at + 12, at + 16));
  }
  return kinds.has('soun') && !kinds.has('vide');
}

/** The box that describes the tracks, before or after the media data; empty where there is none. */
async function movieOf(file: ByteSource): Promise<Buffer> {
  for (let at = 0, boxes = 0; boxes < MAX_BOXES; boxes++) {
    const head = await file.read(at, 16);
    if (head.length < 16) break;
    const short = head.readUInt32BE();
    const bytes = short === 1 ? Number(head.readBigUInt64BE(8)) : short;
    if (head.toString('latin1', 4, 8) === 'moov') return file.read(at, Math.min(bytes, MAX_MOVIE_BYTES));
    if (bytes < 8) break;
    at += bytes;
  }
  return Buffer.alloc(0);
}

const MAX_PADDING_BYTES = 8_192;

export function isTagged(head: Buffer): boolean {
  return head.toString('latin1', 0, 3) === 'ID3';
}

/** MP3 or AAC (ADTS), usually after an ID3 tag, which the library skips only within its bytes. */
export async function mpegAudioFormat(file: ByteSource): Promise<Format> {
  const tag = await file.read(0, 10);
  const at = isTagged(tag) ? 10 + tag.subarray(6).reduce((sum, byte) => sum * 128 + byte, 0) : 0;
  const bytes = await file.read(at, HEAD_BYTES + MAX_PADDING_BYTES);
  // Some writers add padding after the tag.
  const start = Math.max(
    0,
    bytes.findIndex((byte) => byte !== 0),
  );
  const name = await nameOf(bytes.subarray(start));
  if (name === FORMATS.aac.mimeType) return FORMATS.aac;
  if (name === FORMATS.mp3.mimeType || name === null) return FORMATS.mp3;
  throw new NotTakenError(name);
}

/** Position of the channel count in the Opus header, the first packet of an Ogg file. */
const CHANNELS_AT = 37;

/** Accepts only mono Opus, like WhatsApp. */
export async function opusFormat(file: ByteSource): Promise<Format> {
  const [channels = 1] = await file.read(CHANNELS_AT, 1);
  if (channels === 1) return FORMATS.ogg;
  const reason = `The file is Opus with ${channels} channels, and the platform takes mono only`;
  throw new NotTakenError(FORMATS.ogg.mimeType, reason);
}

// Room for the names of some thousand entries.
const MAX_DIRECTORY_BYTES = 256 * 1_024;
const DIRECTORY_ENTRY = 'PK\x01\x02';
const CONTENT_TYPES = '[Content_Types].xml';
const MAIN_PARTS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['word/document.xml', FORMATS.docx],
  ['xl/workbook.xml', FORMATS.xlsx],
  ['ppt/presentation.xml', FORMATS.pptx],
]);

/**
 * Word, Excel and PowerPoint files whose list of content types is not at the beginning, where the library looks for it:
 * some writers put it last. The directory at the end names their parts.
 */
export async function zipFormat(file: ByteSource): Promise<Format> {
  const tail = await file.read(Math.max(0, file.sizeBytes - MAX_DIRECTORY_BYTES), MAX_DIRECTORY_BYTES);
  const names: string[] = [];
  for (let at = 0; (at = tail.indexOf(DIRECTORY_ENTRY, at, 'latin1')) >= 0 && at + 46 <= tail.length; at += 46) {
    names.push(tail.toString('latin1', at + 46, at + 46 + tail.readUInt16LE(at + 28)).replaceAll('\\', '/'));
  }
  const hasMacros = names.some((name) => name.endsWith('/vbaProject.bin'));
  const formats = names.flatMap((name) => MAIN_PARTS.get(name) ?? []);
  const [format] = formats;
  if (format === undefined || formats.length > 1 || hasMacros || !names.includes(CONTENT_TYPES)) {
    throw new NotTakenError('application/zip');
  }
  return format;
}

const ROOT_CLASS_AT = 80;
const CHUNK_BYTES = 64 * 1_024;

/** The first number of the class in a document's root: Word 8 and 6, Excel 8 and 5, PowerPoint. */
const CLASSES: ReadonlyMap<number, Format> = new Map<number, Format>([
  [0x00020906, FORMATS.doc],
  [0x00020900, FORMATS.doc],
  [0x00020820, FORMATS.xls],
  [0x00020810, FORMATS.xls],
  [0x64818d10, FORMATS.ppt],
]);

/** Directory entries of the streams that identify each kind of document, for writers that set no class. */
const STREAMS: readonly (readonly [entry: Buffer, Format])[] = [
  [directoryEntry('WordDocument'), FORMATS.doc],
  [directoryEntry('Workbook'), FORMATS.xls],
  [directoryEntry('Book'), FORMATS.xls],
  [directoryEntry('PowerPoint Document'), FORMATS.ppt],
];

/** An entry begins with its name, padded to 64 bytes, and the length of the name with its zero ([MS-CFB], 2.6.1). */
function directoryEntry(name: string): Buffer {
  const bytes = Buffer.alloc(66);
  bytes.write(name, 'utf16le');
  bytes.writeUInt16LE((name.length + 1) * 2, 64);
  return bytes;
}

/**
 * Word, Excel and PowerPoint files in the binary format before 2007, of which the library recognises only the
 * container.
 */
export async function compoundFormat(file: ByteSource): Promise<Format> {
  const header = await file.read(0, 52);
  if (header.length === 52) {
    const rootAt = (header.readUInt32LE(48) + 1) * 2 ** header.readUInt16LE(30);
    const rootClass = await file.read(rootAt + ROOT_CLASS_AT, 4);
    const format = rootClass.length === 4 ? CLASSES.get(rootClass.readUInt32LE()) : undefined;
    if (format !== undefined) return format;
  }
  // The first match belongs to the document; others belong to embedded documents.
  for (let at = 0; at < file.sizeBytes; at += CHUNK_BYTES) {
    const chunk = await file.read(at, CHUNK_BYTES + 65);
    const found = STREAMS.map(([entry, format]) => ({ at: chunk.indexOf(entry), format })).filter(
      (each) => each.at >= 0,
    );
    const [first] = found.sort((a, b) => a.at - b.at);
    if (first !== undefined) return first.format;
  }
  throw new NotTakenError('application/x-cfb');
}
