import { BrokenFileError, type ByteReader, demand } from './byte-reader.js';
import { type Format, FORMATS } from './formats.js';

const MAX_SEGMENTS = 5_000;
/** Some writers fill up a sector or two; megabytes only cost time, because they are looked at one by one. */
const MAX_FILL_BYTES = 65_536;
const MAX_CHUNKS = 50_000;

/** A JPEG whose segments are whole up to the picture itself, with a frame header among them. */
export async function examineJpeg(file: ByteReader): Promise<Format> {
  file.position = 2;
  let frames = 0;
  let fillBytes = 0;
  for (let segment = 0; segment < MAX_SEGMENTS; segment++) {
    const [mark, first = 0] = await file.take(2);
    let code = first;
    while (mark === 0xff && code === 0xff) {
      demand(++fillBytes <= MAX_FILL_BYTES);
      code = (await file.take(1))[0] ?? 0;
    }
    demand(mark === 0xff && code >= 0xc0 && code !== 0xd8 && code !== 0xd9);
    if (code >= 0xd0 && code <= 0xd7) continue;
    const length = (await file.peek(2)).readUInt16BE();
    demand(length >= 2 && file.left >= length);
    if (code === 0xda) {
      demand(frames === 1 && file.left > length);
      return FORMATS.jpeg;
    }
    if (code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code)) {
      // Precision, height, width, components: 8-bit pictures only, as the platform wants them.
      const frame = await file.peek(10);
      demand(frame[2] === 8 && frame.readUInt16BE(5) > 0);
      frames++;
    }
    file.position += length;
  }
  throw new BrokenFileError();
}

/** A PNG whose chunks are whole, from a sensible header to the end mark. */
export async function examinePng(file: ByteReader): Promise<Format> {
  file.position = 8;
  let dataBytes = 0;
  for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
    const head = await file.take(8);
    const length = head.readUInt32BE();
    const name = head.toString('latin1', 4);
    demand(/^[A-Za-z]{4}$/.test(name) && file.left >= length + 4);
    if (chunk === 0) demand(name === 'IHDR' && length === 13 && isPngHeader(await file.peek(13)));
    if (name === 'IDAT') dataBytes += length;
    if (name === 'IEND') {
      demand(dataBytes > 0);
      return FORMATS.png;
    }
    file.position += length + 4;
  }
  throw new BrokenFileError();
}

function isPngHeader(header: Buffer): boolean {
  const [depth = 0, color = 0, compression, filter, interlace = 9] = header.subarray(8);
  const isKnown = [0, 2, 3, 4, 6].includes(color) && [1, 2, 4, 8, 16].includes(depth);
  const isSized = header.readUInt32BE(0) > 0 && header.readUInt32BE(4) > 0;
  return isKnown && isSized && compression === 0 && filter === 0 && interlace < 2;
}

/** A WebP whose chunks are whole and hold a picture. It is a sticker: the platform takes no other WebP. */
export async function examineWebp(file: ByteReader): Promise<Format> {
  const head = await file.peek(30);
  const end = head.readUInt32LE(4) + 8;
  demand(end <= file.sizeBytes);
  file.position = 12;
  let pictures = 0;
  for (let chunk = 0; chunk < MAX_CHUNKS && file.position + 8 <= end; chunk++) {
    const chunkHead = await file.take(8);
    const length = chunkHead.readUInt32LE(4);
    const name = chunkHead.toString('latin1', 0, 4);
    demand(file.position + length <= end && (chunk > 0 || ['VP8 ', 'VP8L', 'VP8X'].includes(name)));
    if (isWebpPicture(name, length, await file.look(6))) pictures++;
    file.position += length + (length % 2);
  }
  demand(pictures > 0);
  return isAnimatedWebp(head) ? FORMATS.animatedSticker : FORMATS.sticker;
}

function isWebpPicture(name: string, length: number, start: Buffer): boolean {
  if (name === 'VP8 ') return length >= 10 && start.readUIntBE(3, 3) === 0x9d012a;
  if (name === 'VP8L') return length >= 5 && start[0] === 0x2f;
  return name === 'ANMF' && length >= 24;
}

/** Where a WebP's bytes say that it moves; bytes 12 to 21 of the file are enough. */
export function isAnimatedWebp(head: Buffer): boolean {
  return head.toString('latin1', 12, 16) === 'VP8X' && ((head[20] ?? 0) & 0x02) !== 0;
}
