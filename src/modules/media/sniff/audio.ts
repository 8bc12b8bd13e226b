import { type ByteSource, type Finding } from './byte-source.js';
import { type Format, FORMATS } from './formats.js';

const MAX_PADDING_BYTES = 8_192;
/** So many frames in a row are no coincidence; those of AMR have three bits only that must be as they are. */
const FRAMES = 3;
const AMR_FRAMES = 24;

const broken = (reason: string): Finding<Format> => ({ format: null, detected: null, reason });
const NO_FRAMES = broken('The file begins like audio, but is no MP3, AAC or AMR, or is cut short');

/** Bytes of one frame from its first bytes; null where they are none. */
type FrameLength = (head: Buffer) => number | null;

/** MP3 or AAC behind an ID3 tag, which may hold pictures of several megabytes. */
export async function examineTagged(source: ByteSource): Promise<Finding<Format>> {
  const tag = await source.read(0, 10);
  const [, , , version = 0xff, revision = 0xff, flags = 0] = tag;
  const size = tag.subarray(6, 10);
  if (tag.length < 10 || version > 4 || revision === 0xff || size.some((byte) => byte > 0x7f)) return NO_FRAMES;
  const length = size.reduce((sum, byte) => sum * 128 + byte, 0);
  const start = 10 + length + ((flags & 0x10) === 0 ? 0 : 10);
  const padding = await source.read(start, MAX_PADDING_BYTES);
  const zeros = padding.findIndex((byte) => byte !== 0);
  return zeros < 0 ? NO_FRAMES : examineFrames(source, start + zeros);
}

/** MP3 or AAC (ADTS) whose frames follow one another from `start`. */
export async function examineFrames(source: ByteSource, start = 0): Promise<Finding<Format>> {
  if (await haveFrames(source, start, adtsLength)) return { format: FORMATS.aac };
  if (await haveFrames(source, start, mp3Length)) return { format: FORMATS.mp3 };
  return NO_FRAMES;
}

async function haveFrames(source: ByteSource, start: number, lengthOf: FrameLength, frames = FRAMES): Promise<boolean> {
  let position = start;
  for (let frame = 0; frame < frames; frame++) {
    if (frame > 0 && (await isEnd(source, position))) return true;
    const length = lengthOf(await source.read(position, 7));
    if (length === null || position + length > source.sizeBytes) return false;
    position += length;
  }
  return true;
}

/** The end of the file, or the old tag that stands there. */
async function isEnd(source: ByteSource, position: number): Promise<boolean> {
  if (position === source.sizeBytes) return true;
  return (await source.read(position, 3)).toString('latin1') === 'TAG';
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

export const AMR_MAGIC = '#!AMR\n';
// RFC 4867: bytes of a frame by its type, its first byte among them; 9 to 14 do not occur in files.
const AMR_FRAME_BYTES = [13, 14, 16, 18, 20, 21, 27, 32, 6];
const AMR_NO_DATA = 15;

/** AMR narrowband, single channel. */
export async function examineAmr(source: ByteSource): Promise<Finding<Format>> {
  const lengthOf: FrameLength = ([first = 0xff]) => {
    const type = (first >> 3) & 0x0f;
    if ((first & 0x83) !== 0) return null;
    return type === AMR_NO_DATA ? 1 : (AMR_FRAME_BYTES[type] ?? null);
  };
  return (await haveFrames(source, AMR_MAGIC.length, lengthOf, AMR_FRAMES)) ? { format: FORMATS.amr } : NO_FRAMES;
}

/** Ogg with one stream, which is Opus and mono: the platform takes no other. */
export async function examineOgg(source: ByteSource): Promise<Finding<Format>> {
  const page = await pageAt(source, 0);
  if (page === null || !page.isFirst) return broken('The file begins like audio/ogg, but is broken or cut short');
  const head = await source.read(page.dataAt, 19);
  if (head.toString('latin1', 0, 8) !== 'OpusHead') {
    return { format: null, detected: 'audio/ogg', reason: 'The file is Ogg, but not Opus' };
  }
  const [version = 0xff, channels = 0] = head.subarray(8);
  const next = await pageAt(source, page.end);
  if (head.length < 19 || version > 15 || next === null) {
    return broken('The file begins like audio/ogg; codecs=opus, but is broken or cut short');
  }
  if (next.isFirst) {
    return { format: null, detected: 'application/ogg', reason: 'The file is Ogg with more than one stream' };
  }
  if (channels !== 1) {
    return {
      format: null,
      detected: FORMATS.ogg.mimeType,
      reason: `The file is Opus with ${channels} channels, and the platform takes mono only`,
    };
  }
  return { format: FORMATS.ogg };
}

async function pageAt(
  source: ByteSource,
  position: number,
): Promise<{ dataAt: number; end: number; isFirst: boolean } | null> {
  const head = await source.read(position, 27);
  if (head.length < 27 || head.toString('latin1', 0, 4) !== 'OggS' || head[4] !== 0) return null;
  const count = head[26] ?? 0;
  const segments = await source.read(position + 27, count);
  if (segments.length < count) return null;
  const dataAt = position + 27 + count;
  const end = dataAt + segments.reduce((sum, length) => sum + length, 0);
  return end > source.sizeBytes ? null : { dataAt, end, isFirst: ((head[5] ?? 0) & 0x02) !== 0 };
}
