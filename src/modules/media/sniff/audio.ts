import { type ByteReader, demand, NotTakenError } from './byte-reader.js';
import { type Format, FORMATS } from './formats.js';

/** So many frames in a row are no coincidence; those of AMR have three bits only that must be as they are. */
const FRAMES = 3;
const AMR_FRAMES = 24;
const AMR_MAGIC_BYTES = 6;
const MAX_PADDING_BYTES = 8_192;

const noFrames = () =>
  new NotTakenError(null, 'The file begins like audio, but is no MP3, AAC or AMR, or is cut short');

/** Bytes of one frame from its first bytes; null where they are none. */
type FrameLength = (head: Buffer) => number | null;

/**
 * MP3 or AAC (ADTS), mostly behind an ID3 tag. The library needs eleven bits that are set, as other files have too: here
 * frames follow one another.
 */
export async function examineMpegAudio(file: ByteReader): Promise<Format> {
  const tag = await file.take(0, 10);
  const tagBytes = 10 + tag.subarray(6).reduce((sum, byte) => sum * 128 + byte, 0);
  const start = isTagged(tag) ? tagBytes + (await zerosAt(file, tagBytes)) : 0;
  if (await haveFrames(file, start, adtsLength, FRAMES)) return FORMATS.aac;
  if (await haveFrames(file, start, mp3Length, FRAMES)) return FORMATS.mp3;
  throw noFrames();
}

export function isTagged(head: Buffer): boolean {
  return head.toString('latin1', 0, 3) === 'ID3';
}

/** Some writers fill up behind the tag; the library takes such a file for nothing that it knows. */
async function zerosAt(file: ByteReader, at: number): Promise<number> {
  return Math.max(
    0,
    (await file.look(at, MAX_PADDING_BYTES)).findIndex((byte) => byte !== 0),
  );
}

async function haveFrames(file: ByteReader, start: number, lengthOf: FrameLength, frames: number): Promise<boolean> {
  let at = start;
  for (let frame = 0; frame < frames; frame++) {
    const head = await file.look(at, 7);
    // The end of the file, or the old tag that is there.
    if (frame > 0 && (head.length === 0 || head.toString('latin1', 0, 3) === 'TAG')) return true;
    const length = lengthOf(head);
    if (length === null || at + length > file.sizeBytes) return false;
    at += length;
  }
  return true;
}

function adtsLength(head: Buffer): number | null {
  const [sync = 0, flags = 0, profile = 0, high = 0, middle = 0, low = 0] = head;
  if (head.length < 7 || sync !== 0xff || (flags & 0xf6) !== 0xf0 || ((profile >> 2) & 0x0f) > 12) return null;
  const length = ((high & 0x03) << 11) | (middle << 3) | (low >> 5);
  return length > 7 ? length : null;
}

const MPEG1_KBITS = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const MPEG2_KBITS = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const MPEG1_HERTZ = [44_100, 48_000, 32_000];

function mp3Length(head: Buffer): number | null {
  const [sync = 0, flags = 0, rates = 0] = head;
  const version = (flags >> 3) & 0x03; // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
  const isLayer3 = (flags & 0xe6) === 0xe2;
  if (head.length < 4 || sync !== 0xff || !isLayer3 || version === 1) return null;
  const kbits = (version === 3 ? MPEG1_KBITS : MPEG2_KBITS)[rates >> 4] ?? 0;
  const hertz = MPEG1_HERTZ[(rates >> 2) & 0x03];
  if (kbits === 0 || hertz === undefined) return null;
  const divisor = version === 3 ? 1 : version === 2 ? 2 : 4;
  const samples = version === 3 ? 144_000 : 72_000;
  return Math.floor((samples * kbits) / (hertz / divisor)) + ((rates >> 1) & 0x01);
}

// RFC 4867: bytes of a frame by its type, its first byte among them; 9 to 14 do not occur in files, 15 is no data.
const AMR_FRAME_BYTES = [13, 14, 16, 18, 20, 21, 27, 32, 6, ...Array.from({ length: 6 }, () => null), 1];

/** AMR narrowband, single channel. */
export async function examineAmr(file: ByteReader): Promise<Format> {
  const lengthOf: FrameLength = ([first = 0xff]) =>
    (first & 0x83) === 0 ? (AMR_FRAME_BYTES[(first >> 3) & 0x0f] ?? null) : null;
  if (await haveFrames(file, AMR_MAGIC_BYTES, lengthOf, AMR_FRAMES)) return FORMATS.amr;
  throw noFrames();
}

/** A page of Ogg with one packet of up to 254 bytes, as the head of Opus is: a header of 28 bytes, whose last is its length. */
const OGG_HEADER_BYTES = 28;

/** Opus in Ogg: one stream, and mono. The platform takes no other. */
export async function examineOpus(file: ByteReader): Promise<Format> {
  const page = await file.take(0, OGG_HEADER_BYTES + 10);
  const next = await file.take(OGG_HEADER_BYTES + (page[OGG_HEADER_BYTES - 1] ?? 0), 6);
  demand(next.toString('latin1', 0, 4) === 'OggS');
  const isBeginning = ((next[5] ?? 0) & 0x02) !== 0;
  if (isBeginning) throw new NotTakenError('application/ogg', 'The file is Ogg with more than one stream');
  const channels = page[OGG_HEADER_BYTES + 9];
  if (channels === 1) return FORMATS.ogg;
  const reason = `The file is Opus with ${channels} channels, and the platform takes mono only`;
  throw new NotTakenError(FORMATS.ogg.mimeType, reason);
}
