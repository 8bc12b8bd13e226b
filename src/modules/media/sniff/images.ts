import { type ByteSource, Cursor, type Finding } from './byte-source.js';
import { type Format, FORMATS } from './formats.js';

const MAX_SEGMENTS = 5_000;
/** Some writers fill up a sector or two; megabytes only cost time, for they are looked at one by one. */
const MAX_FILL_BYTES = 65_536;
const MAX_CHUNKS = 50_000;

const broken = (detected: string): Finding<Format> => ({
  format: null,
  detected: null,
  reason: `The file begins like ${detected}, but is broken or cut short`,
});

/** A JPEG whose segments are whole up to the picture itself, with a frame header among them. */
export async function examineJpeg(source: ByteSource): Promise<Finding<Format>> {
  const cursor = new Cursor(source, 2);
  let frames = 0;
  let fillBytes = 0;
  for (let segment = 0; segment < MAX_SEGMENTS; segment++) {
    let marker = await cursor.take(2);
    while (marker?.[0] === 0xff && marker[1] === 0xff) {
      if (++fillBytes > MAX_FILL_BYTES) return broken('image/jpeg');
      cursor.position -= 1;
      marker = await cursor.take(2);
    }
    const code = marker?.[0] === 0xff ? (marker[1] ?? 0) : 0;
    if (code < 0xc0 || code === 0xd8 || code === 0xd9) return broken('image/jpeg');
    if (code >= 0xd0 && code <= 0xd7) continue;
    const length = (await cursor.peek(2))?.readUInt16BE() ?? 0;
    if (length < 2 || cursor.left < length) return broken('image/jpeg');
    if (code === 0xda) return frames === 1 && cursor.left > length ? { format: FORMATS.jpeg } : broken('image/jpeg');
    if (isFrame(code)) {
      const frame = await cursor.peek(10);
      // Precision, height, width, components: 8-bit pictures only, as the platform wants them.
      if (frame?.[2] !== 8 || frame.readUInt16BE(5) === 0) return broken('image/jpeg');
      frames++;
    }
    cursor.position += length;
  }
  return broken('image/jpeg');
}

function isFrame(code: number): boolean {
  return code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc;
}

/** A PNG whose chunks are whole, from a sensible header to the end mark. */
export async function examinePng(source: ByteSource): Promise<Finding<Format>> {
  const cursor = new Cursor(source, 8);
  let data = 0;
  for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
    const head = await cursor.take(8);
    if (head === null) return broken('image/png');
    const length = head.readUInt32BE();
    const name = head.toString('latin1', 4);
    if (!/^[A-Za-z]{4}$/.test(name) || cursor.left < length + 4) return broken('image/png');
    if (chunk === 0 && !(name === 'IHDR' && length === 13 && isPngHeader(await cursor.peek(13)))) {
      return broken('image/png');
    }
    if (name === 'IDAT') data += length;
    if (name === 'IEND') return data > 0 ? { format: FORMATS.png } : broken('image/png');
    cursor.position += length + 4;
  }
  return broken('image/png');
}

function isPngHeader(header: Buffer | null): boolean {
  if (header === null) return false;
  const [depth = 0, color = 0, compression, filter, interlace = 9] = header.subarray(8);
  const known = [0, 2, 3, 4, 6].includes(color) && [1, 2, 4, 8, 16].includes(depth);
  const sized = header.readUInt32BE(0) > 0 && header.readUInt32BE(4) > 0;
  return known && sized && compression === 0 && filter === 0 && interlace < 2;
}

/** Where a WebP's bytes say that it moves; bytes 12 to 21 of the file are enough. */
export function isAnimatedWebp(head: Buffer): boolean {
  return head.toString('latin1', 12, 16) === 'VP8X' && ((head[20] ?? 0) & 0x02) !== 0;
}

/** A WebP whose chunks are whole and hold a picture. It is a sticker: the platform takes no other WebP. */
export async function examineWebp(source: ByteSource): Promise<Finding<Format>> {
  const head = await source.read(0, 30);
  const end = head.length < 30 ? Infinity : head.readUInt32LE(4) + 8;
  if (end > source.sizeBytes) return broken('image/webp');
  const cursor = new Cursor(source, 12);
  let pictures = 0;
  for (let chunk = 0; chunk < MAX_CHUNKS && cursor.position + 8 <= end; chunk++) {
    const chunkHead = await cursor.take(8);
    const length = chunkHead?.readUInt32LE(4) ?? Infinity;
    const name = chunkHead?.toString('latin1', 0, 4) ?? '';
    if (cursor.position + length > end) return broken('image/webp');
    if (chunk === 0 && !['VP8 ', 'VP8L', 'VP8X'].includes(name)) return broken('image/webp');
    if (await isWebpPicture(name, cursor, length)) pictures++;
    cursor.position += length + (length % 2);
  }
  if (pictures === 0) return broken('image/webp');
  return { format: isAnimatedWebp(head) ? FORMATS.animatedSticker : FORMATS.sticker };
}

async function isWebpPicture(name: string, cursor: Cursor, length: number): Promise<boolean> {
  if (name === 'VP8 ') return length >= 10 && (await cursor.peek(6))?.readUIntBE(3, 3) === 0x9d012a;
  if (name === 'VP8L') return length >= 5 && (await cursor.peek(1))?.[0] === 0x2f;
  return name === 'ANMF' && length >= 24;
}
