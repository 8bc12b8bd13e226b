import { createHash } from 'node:crypto';
import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Table } from '../store.js';

/** A file stored by the platform. */
export interface MediaFile extends Omit<SavedFile, 'head'> {
  id: string;
  /** The number that uploaded it, or that a customer sent it to. */
  phoneNumberId: string;
  /** As given, with parameters: `audio/ogg; codecs=opus`. */
  mimeType: string;
  source: 'upload' | 'webhook';
  /** False if its first bytes belong to another type: it is accepted, but sending it fails. */
  usable: boolean;
  /** Milliseconds since the epoch. */
  createdAt: number;
  expiresAt: number;
  /** Addresses created before this time are invalid; milliseconds. */
  addressesFrom?: number;
}

/** Limits: beyond either, the oldest files are deleted first. */
const MAX_FILES = 10_000;
const MAX_BYTES = 4 * 1024 * 1024 * 1024;

/** Files of all numbers: their data in the state, their bytes in a folder beside it. */
export class MediaStore {
  private folder: string | null;
  private bytes = 0;

  /** @param dataDir null stores the files in a temporary folder until {@link close} */
  constructor(
    private readonly saved: Table<MediaFile>,
    private readonly dataDir: string | null,
  ) {
    this.folder = dataDir === null ? null : join(dataDir, 'media');
  }

  /** Deletes partial files of a killed process, and entries without bytes. */
  open(): void {
    if (this.folder === null) return;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const names = new Set(readdirSync(this.folder));
    for (const file of this.saved.values()) {
      if (names.delete(file.id)) this.bytes += file.sizeBytes;
      else this.saved.delete(file.id);
    }
    for (const name of names) rmSync(join(this.folder, name), { force: true });
  }

  /** Undefined where there is none, or it has expired. */
  get(id: string): MediaFile | undefined {
    const file = this.saved.get(id);
    if (file === undefined || file.expiresAt > Date.now()) return file;
    this.remove(id);
    return undefined;
  }

  /** Oldest first. */
  all(): MediaFile[] {
    return [...this.saved.values()];
  }

  /** Where the bytes of a file are, or must be written before it is added. */
  pathOf(id: string): string {
    this.folder ??= mkdtempSync(join(tmpdir(), 'simulator-media-'));
    return join(this.folder, id);
  }

  add(file: MediaFile): void {
    this.saved.set(file.id, file);
    this.bytes += file.sizeBytes;
    for (const oldest of this.saved.keys()) {
      if (oldest === file.id || (this.saved.size <= MAX_FILES && this.bytes <= MAX_BYTES)) break;
      this.remove(oldest);
    }
  }

  replace(file: MediaFile): void {
    this.saved.set(file.id, file);
  }

  remove(id: string): void {
    this.bytes -= this.saved.get(id)?.sizeBytes ?? 0;
    this.saved.delete(id);
    rmSync(this.pathOf(id), { force: true });
  }

  close(): void {
    if (this.dataDir === null && this.folder !== null) rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface SavedFile {
  /** Lowercase hexadecimal. */
  sha256: string;
  sizeBytes: number;
  /** The first bytes, which show the type. */
  head: Buffer;
}

/** Writes a file as it arrives. */
export async function saveFile(path: string, source: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<SavedFile> {
  const hash = createHash('sha256');
  const saved: SavedFile = { sha256: '', sizeBytes: 0, head: Buffer.alloc(0) };
  const noting = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const bytes of chunks) {
      saved.sizeBytes += bytes.length;
      if (saved.head.length < HEAD_BYTES) saved.head = Buffer.concat([saved.head, bytes]).subarray(0, HEAD_BYTES);
      hash.update(bytes);
      yield bytes;
    }
  };
  await pipeline(source as AsyncIterable<Buffer>, noting, createWriteStream(path, { mode: 0o600 }));
  return { ...saved, sha256: hash.digest('hex') };
}

export const MEDIA_KINDS = ['image', 'video', 'audio', 'document', 'sticker'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

const KIB = 1024;
const MIB = 1024 * KIB;

/** The maximum over all kinds: a document. */
export const MAX_MEDIA_BYTES = 100 * MIB;

const LIMITS: Readonly<Record<MediaKind, number>> = {
  image: 5 * MIB,
  video: 16 * MIB,
  audio: 16 * MIB,
  document: MAX_MEDIA_BYTES,
  sticker: 100 * KIB,
};
const ANIMATED_STICKER_BYTES = 500 * KIB;

const OFFICE = 'application/vnd.openxmlformats-officedocument.';

type Signature = (head: Buffer) => boolean;
const textAt =
  (at: number, text: string): Signature =>
  (head) =>
    head.toString('latin1', at, at + text.length) === text;
const isFrame: Signature = (head) => head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0;
const isBox = textAt(4, 'ftyp');

/** Types that can be uploaded: the kind of message for each, and the signature of its files, where that is checked. */
const TYPES: Readonly<Record<string, readonly [kind: MediaKind, signature?: Signature]>> = {
  'audio/aac': ['audio', (head) => isFrame(head) || textAt(0, 'ADIF')(head)],
  'audio/mp4': ['audio', isBox],
  'audio/mpeg': ['audio', (head) => isFrame(head) || textAt(0, 'ID3')(head)],
  'audio/amr': ['audio', textAt(0, '#!AMR')],
  'audio/ogg': ['audio', textAt(0, 'OggS')],
  'application/vnd.ms-powerpoint': ['document'],
  'application/msword': ['document'],
  [`${OFFICE}wordprocessingml.document`]: ['document'],
  [`${OFFICE}presentationml.presentation`]: ['document'],
  [`${OFFICE}spreadsheetml.sheet`]: ['document'],
  'application/pdf': ['document', textAt(0, '%PDF')],
  'text/plain': ['document'],
  'application/vnd.ms-excel': ['document'],
  'image/jpeg': ['image', textAt(0, '\xff\xd8\xff')],
  'image/png': ['image', textAt(0, '\x89PNG')],
  'image/webp': ['sticker', (head) => textAt(0, 'RIFF')(head) && textAt(8, 'WEBP')(head)],
  'video/mp4': ['video', isBox],
  'video/3gpp': ['video', isBox],
};

export const UPLOAD_TYPES = Object.keys(TYPES);

function baseType(mimeType: string): string {
  return (mimeType.split(';')[0] ?? '').trim().toLowerCase();
}

/** The kind of message for a type; undefined for one that can't be uploaded. */
export function kindOf(mimeType: string): MediaKind | undefined {
  return TYPES[baseType(mimeType)]?.[0];
}

/** Maximum size of a file in bytes. @param head its first bytes, which show an animated sticker */
export function limitOf(kind: MediaKind, head: Buffer): number {
  const animated = kind === 'sticker' && head.toString('latin1', 12, 16) === 'VP8X' && ((head[20] ?? 0) & 2) !== 0;
  return animated ? ANIMATED_STICKER_BYTES : LIMITS[kind];
}

/** Whether a file may be sent as a message of the kind. Every file may be a document. */
export function fits(mimeType: string, kind: MediaKind): boolean {
  return kind === 'document' || kindOf(mimeType) === kind;
}

/** How many of the first bytes {@link looksLike} and {@link limitOf} examine. */
const HEAD_BYTES = 32;

/** Whether the first bytes are those of the type. */
export function looksLike(mimeType: string, head: Buffer): boolean {
  return TYPES[baseType(mimeType)]?.[1]?.(head) ?? true;
}
