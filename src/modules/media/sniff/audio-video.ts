import { type ByteReader, BrokenFileError, demand, NotTakenError } from './byte-reader.js';
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

/** MP3 or AAC (ADTS) whose frames follow one another, mostly behind an ID3 tag, which may hold large pictures. */
export async function examineMpegAudio(file: ByteReader): Promise<Format> {
  let start = 0;
  if ((await file.look(3)).toString('latin1') === 'ID3') {
    const tag = await file.look(10);
    const [, , , version = 0xff, revision = 0xff, flags = 0] = tag;
    const size = tag.subarray(6, 10);
    if (tag.length < 10 || version > 4 || revision === 0xff || size.some((byte) => byte > 0x7f)) throw noFrames();
    start = 10 + size.reduce((sum, byte) => sum * 128 + byte, 0) + ((flags & 0x10) === 0 ? 0 : 10);
    const zeros = (await file.at(start).look(MAX_PADDING_BYTES)).findIndex((byte) => byte !== 0);
    if (zeros < 0) throw noFrames();
    start += zeros;
  }
  if (await haveFrames(file.at(start), adtsLength, FRAMES)) return FORMATS.aac;
  if (await haveFrames(file.at(start), mp3Length, FRAMES)) return FORMATS.mp3;
  throw noFrames();
}

async function haveFrames(file: ByteReader, lengthOf: FrameLength, frames: number): Promise<boolean> {
  for (let frame = 0; frame < frames; frame++) {
    // The end of the file, or the old tag that is there.
    if (frame > 0 && (file.left === 0 || (await file.look(3)).toString('latin1') === 'TAG')) return true;
    const length = lengthOf(await file.look(7));
    if (length === null || length > file.left) return false;
    file.position += length;
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
  if (await haveFrames(file.at(AMR_MAGIC_BYTES), lengthOf, AMR_FRAMES)) return FORMATS.amr;
  throw noFrames();
}

/** Ogg with one stream, which is Opus and mono: the platform takes no other. */
export async function examineOgg(file: ByteReader): Promise<Format> {
  const first = await takePage(file);
  demand(first.isFirst);
  if (first.data.toString('latin1', 0, 8) !== 'OpusHead') {
    throw new NotTakenError('audio/ogg', 'The file is Ogg, but not Opus');
  }
  const [version = 0xff, channels = 0] = first.data.subarray(8);
  const second = await takePage(file);
  demand(first.data.length >= 19 && version <= 15);
  if (second.isFirst) throw new NotTakenError('application/ogg', 'The file is Ogg with more than one stream');
  if (channels === 1) return FORMATS.ogg;
  const reason = `The file is Opus with ${channels} channels, and the platform takes mono only`;
  throw new NotTakenError(FORMATS.ogg.mimeType, reason);
}

async function takePage(file: ByteReader): Promise<{ data: Buffer; isFirst: boolean }> {
  const [, , , , version, flags = 0, ...rest] = await file.peek(27);
  demand((await file.take(27)).toString('latin1', 0, 4) === 'OggS' && version === 0);
  const segments = await file.take(rest.at(-1) ?? 0);
  const length = segments.reduce((sum, segment) => sum + segment, 0);
  demand(length <= file.left);
  const data = await file.look(Math.min(length, 19));
  file.position += length;
  return { data, isFirst: (flags & 0x02) !== 0 };
}

const MAX_BOXES = 5_000;

interface Box {
  name: string;
  /** Where its content begins and ends. */
  from: number;
  end: number;
}

/** Pictures in the same container. */
const PICTURES = new Set(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1', 'avif', 'avis', 'crx ']);

/**
 * MP4, 3GP and M4A are one container. Whether it is a video or audio, its tracks say, and not the brand, which many
 * writers set alike for both.
 */
export async function examineIsoMedia(file: ByteReader): Promise<Format> {
  const brand = (await file.at(8).look(4)).toString('latin1');
  if (PICTURES.has(brand)) throw new NotTakenError(brand.startsWith('av') ? 'image/avif' : 'image/heif');
  if (brand === 'qt  ') throw new NotTakenError('video/quicktime');
  if (brand.startsWith('3g2')) throw new NotTakenError('video/3gpp2');
  const budget = { boxes: MAX_BOXES };
  const top = await boxesIn(file, 0, file.sizeBytes, budget);
  const movie = top.find((box) => box.name === 'moov');
  demand(top[0]?.name === 'ftyp' && movie !== undefined);
  const kinds = await trackKinds(file, movie, budget);
  const isMobile = brand.startsWith('3g');
  if (kinds.has('vide')) return isMobile ? FORMATS.threeGp : FORMATS.mp4;
  if (!kinds.has('soun')) throw new NotTakenError(null, 'The file is an MP4 container without video or audio');
  if (isMobile) throw new NotTakenError('audio/3gpp');
  return FORMATS.m4a;
}

async function trackKinds(file: ByteReader, movie: Box, budget: { boxes: number }): Promise<Set<string>> {
  let boxes = [movie];
  for (const name of ['trak', 'mdia', 'hdlr']) {
    const inside: Box[] = [];
    for (const { from, end } of boxes) {
      // A track that is broken is none; the others say what the file is.
      const children = await boxesIn(file, from, end, budget).catch(noBoxes);
      inside.push(...children.filter((box) => box.name === name));
    }
    boxes = inside;
  }
  const kinds = new Set<string>();
  for (const { from, end } of boxes) {
    if (end - from >= 12) kinds.add((await file.at(from + 8).look(4)).toString('latin1'));
  }
  return kinds;
}

function noBoxes(error: unknown): Box[] {
  if (error instanceof BrokenFileError) return [];
  throw error;
}

/** The boxes between two places. */
async function boxesIn(file: ByteReader, from: number, end: number, budget: { boxes: number }): Promise<Box[]> {
  const boxes: Box[] = [];
  file.position = from;
  while (end - file.position >= 8) {
    demand(--budget.boxes >= 0);
    const { position } = file;
    const head = await file.look(16);
    const name = head.toString('latin1', 4, 8);
    const short = head.readUInt32BE();
    if (short === 0 && name === '\0\0\0\0') break; // padding at the end
    demand(/^[\x20-\x7e\xa9]{4}$/.test(name) && (short !== 1 || head.length === 16));
    const headBytes = short === 1 ? 16 : 8;
    const size = short === 1 ? Number(head.readBigUInt64BE(8)) : short === 0 ? end - position : short;
    demand(size >= headBytes && position + size <= end);
    boxes.push({ name, from: position + headBytes, end: position + size });
    file.position += size;
  }
  return boxes;
}
