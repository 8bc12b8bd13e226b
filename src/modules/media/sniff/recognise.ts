import { examineAmr, examineIsoMedia, examineMpegAudio, examineOgg } from './audio-video.js';
import { BrokenFileError, ByteReader, type ByteSource, demand, NotTakenError } from './byte-reader.js';
import { examineCompoundFile, examineZip, zipDirectory } from './documents.js';
import { type Family, isAnimatedWebp } from './first-look.js';
import { type Format, FORMATS } from './formats.js';

// As far as readers of PDF search for its beginning.
const PDF_SEARCH_BYTES = 1_024;
const MAX_SEGMENTS = 5_000;
/** Some writers fill up a sector or two; megabytes only cost time, because they are looked at one by one. */
const MAX_FILL_BYTES = 65_536;
const MAX_CHUNKS = 50_000;

/** How each family is examined, and what its files begin like. */
const EXAMINERS: Readonly<Record<Family, readonly [like: string, (file: ByteReader) => Promise<Format>]>> = {
  jpeg: ['image/jpeg', examineJpeg],
  png: ['image/png', examinePng],
  webp: ['image/webp', examineWebp],
  iso: ['video/mp4', examineIsoMedia],
  mpeg_audio: ['audio', examineMpegAudio],
  amr: ['audio', examineAmr],
  ogg: [FORMATS.ogg.mimeType, examineOgg],
  pdf: ['application/pdf', () => Promise.resolve(FORMATS.pdf)],
  zip: ['a ZIP', examineZip],
  cfb: ['an Office document', examineCompoundFile],
  // Its bytes were looked at one by one as they came.
  text: ['text/plain', () => Promise.resolve(FORMATS.text)],
};

/**
 * Detects the format of a complete file that begins like one of the family. The structure must be whole as far as it
 * matters for the type, and the file must not be something else as well: a PDF or a ZIP can be hidden in files of most
 * other types. Reads some kilobytes here and there, whatever the file's size.
 *
 * @throws NotTakenError
 */
export async function recognise(family: Family, source: ByteSource): Promise<Format> {
  const file = new ByteReader(source);
  const [like, examine] = EXAMINERS[family];
  try {
    const format = await examine(file);
    const second = await secondNature(family, file);
    if (second === null) return format;
    throw new NotTakenError(second, `The file is ${format.mimeType} and ${second} at the same time`);
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
    throw new NotTakenError(null, `The file begins like ${like}, but is broken or cut short`);
  }
}

async function secondNature(family: Family, file: ByteReader): Promise<string | null> {
  if (family !== 'pdf' && (await file.at(0).look(PDF_SEARCH_BYTES)).includes('%PDF-')) return 'application/pdf';
  return family !== 'zip' && (await zipDirectory(file)) !== null ? 'application/zip' : null;
}

/** A JPEG whose segments are whole up to the picture itself, with a frame header among them. */
async function examineJpeg(file: ByteReader): Promise<Format> {
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
async function examinePng(file: ByteReader): Promise<Format> {
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
async function examineWebp(file: ByteReader): Promise<Format> {
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
