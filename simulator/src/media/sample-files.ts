import type { MediaKind } from './media-store.js';

/** The smallest valid file of each kind, which a customer sends by default. */
interface SampleFile {
  mimeType: string;
  /** Null for kinds without one. */
  filename: string | null;
  bytes: Buffer;
}

/** An 8 x 8 grey square. */
const JPEG =
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB' +
  'AQH/wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z';
/** One transparent pixel. */
const WEBP = 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==';
/** 200 ms of silence, Opus, mono. */
const OGG =
  'T2dnUwACAAAAAAAAAAABAAAAAAAAAByf9dkBE09wdXNIZWFkAQE4AYC7AAAAAABPZ2dTAAAAAAAAAAAAAAEAAAABAAAAtgyh3wEWT3B1c1RhZ3MGAAAA' +
  'c2FtcGxlAAAAAE9nZ1MABLgmAAAAAAAAAQAAAAIAAACuKh6aCgMDAwMDAwMDAwP4//74//74//74//74//74//74//74//74//74//4=';
/** A container without tracks. */
const MP4 =
  'AAAAIGZ0eXBpc29tAAACAGlzb21pc28yYXZjMW1wNDEAAAB0bW9vdgAAAGxtdmhkAAAAAAAAAAAAAAAAAAAD6AAAA+gAAQAAAQAAAAAAAAAAAAAAAAEA' +
  'AAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAhtZGF0';
/** One empty page. */
const PDF =
  'JVBERi0xLjQKMSAwIG9iago8PC9UeXBlL0NhdGFsb2cvUGFnZXMgMiAwIFI+PgplbmRvYmoKMiAwIG9iago8PC9UeXBlL1BhZ2VzL0tpZHNbMyAwIFJd' +
  'L0NvdW50IDE+PgplbmRvYmoKMyAwIG9iago8PC9UeXBlL1BhZ2UvUGFyZW50IDIgMCBSL01lZGlhQm94WzAgMCAyMDAgMTAwXT4+CmVuZG9iagp4cmVm' +
  'CjAgNAowMDAwMDAwMDAwIDY1NTM1IGYgCjAwMDAwMDAwMDkgMDAwMDAgbiAKMDAwMDAwMDA1NCAwMDAwMCBuIAowMDAwMDAwMTA1IDAwMDAwIG4gCnRy' +
  'YWlsZXIKPDwvU2l6ZSA0L1Jvb3QgMSAwIFI+PgpzdGFydHhyZWYKMTcwCiUlRU9GCg==';

const sample = (mimeType: string, base64: string, filename: string | null = null): SampleFile => ({
  mimeType,
  filename,
  bytes: Buffer.from(base64, 'base64'),
});

export const SAMPLE_FILES: Readonly<Record<MediaKind, SampleFile>> = {
  image: sample('image/jpeg', JPEG),
  video: sample('video/mp4', MP4),
  audio: sample('audio/ogg; codecs=opus', OGG),
  document: sample('application/pdf', PDF, 'document.pdf'),
  sticker: sample('image/webp', WEBP),
};

const PIECE_BYTES = 64 * 1024;

/** The bytes, padded with zeros to a size, piece by piece; cut where the size is smaller. */
export function* paddedTo(bytes: Buffer, size: number): Generator<Buffer> {
  if (size <= bytes.length) {
    yield bytes.subarray(0, size);
    return;
  }
  yield bytes;
  const zeros = Buffer.alloc(PIECE_BYTES);
  for (let left = size - bytes.length; left > 0; left -= zeros.length) yield zeros.subarray(0, left);
}
