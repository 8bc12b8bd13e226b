import { type ByteReader, BrokenFileError, demand, NotTakenError } from './byte-reader.js';
import { type Format, FORMATS } from './formats.js';

/**
 * JPEG, PNG, WebP and MP4 are lists of pieces, each with its name and its length. The library looks at their first bytes
 * only: that a file is whole, and which tracks it has, its pieces say.
 */

interface Piece {
  name: string;
  /** Where its content begins and ends. */
  from: number;
  end: number;
}

/** A piece by its first 16 bytes, fewer at the end; `left` bytes follow in all. Null where they are none. */
type ReadPiece = (head: Buffer, left: number) => { name: string; headBytes: number; bytes: number } | null;

const MIN_PIECE_BYTES = 8;

/** @throws BrokenFileError at a piece that is none, or is not whole. */
async function* piecesOf(file: ByteReader, from: number, end: number, read: ReadPiece): AsyncGenerator<Piece> {
  for (let at = from; end - at >= MIN_PIECE_BYTES;) {
    const piece = read(await file.look(at, 16), end - at);
    if (piece === null || at + piece.bytes > end) throw new BrokenFileError();
    yield { name: piece.name, from: at + piece.headBytes, end: at + piece.bytes };
    at += piece.bytes;
  }
}

const FRAME = 'frame header';
const SCAN = 'scan';

const jpegSegment: ReadPiece = (head) => {
  const [mark, code = 0] = head;
  if (mark !== 0xff || code < 0xc0 || code === 0xd8 || code === 0xd9) return null;
  if (code === 0xff) return { name: 'filling', headBytes: 1, bytes: 1 };
  if (code >= 0xd0 && code <= 0xd7) return { name: 'restart', headBytes: 2, bytes: 2 };
  const isFrame = code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);
  const length = head.readUInt16BE(2);
  if (length < 2) return null;
  return { name: isFrame ? FRAME : code === 0xda ? SCAN : 'segment', headBytes: 4, bytes: 2 + length };
};

/** Whole up to the picture itself. */
export async function examineJpeg(file: ByteReader): Promise<Format> {
  let hasFrame = false;
  for await (const { name, end } of piecesOf(file, 2, file.sizeBytes, jpegSegment)) {
    if (name === FRAME) hasFrame = true;
    if (name !== SCAN) continue;
    demand(hasFrame && end < file.sizeBytes);
    return FORMATS.jpeg;
  }
  throw new BrokenFileError();
}

const pngChunk: ReadPiece = (head) => ({
  name: head.toString('latin1', 4, 8),
  headBytes: 8,
  bytes: 12 + head.readUInt32BE(),
});

/** Whole up to its end mark. */
export async function examinePng(file: ByteReader): Promise<Format> {
  let hasData = false;
  for await (const { name } of piecesOf(file, 8, file.sizeBytes, pngChunk)) {
    if (name === 'IDAT') hasData = true;
    if (name === 'IEND' && hasData) return FORMATS.png;
  }
  throw new BrokenFileError();
}

const riffChunk: ReadPiece = (head, left) => {
  const length = head.readUInt32LE(4);
  const bytes = Math.max(8 + length, Math.min(8 + length + (length % 2), left));
  return { name: head.toString('latin1', 0, 4), headBytes: 8, bytes };
};

/** Whole, with a picture. It is a sticker: the platform takes no other WebP. */
export async function examineWebp(file: ByteReader): Promise<Format> {
  const head = await file.take(0, 30);
  const end = head.readUInt32LE(4) + 8;
  demand(end <= file.sizeBytes);
  let hasPicture = false;
  for await (const { name } of piecesOf(file, 12, end, riffChunk)) {
    if (['VP8 ', 'VP8L', 'ANMF'].includes(name)) hasPicture = true;
  }
  demand(hasPicture);
  return isAnimatedWebp(head) ? FORMATS.animatedSticker : FORMATS.sticker;
}

/** By bytes 12 to 21 of the file. */
export function isAnimatedWebp(head: Buffer): boolean {
  return head.toString('latin1', 8, 16) === 'WEBPVP8X' && ((head[20] ?? 0) & 0x02) !== 0;
}

const isoBox: ReadPiece = (head, left) => {
  const name = head.toString('latin1', 4, 8);
  const short = head.readUInt32BE();
  // Some writers fill up the end with zeros.
  if (short === 0 && name === '\0\0\0\0') return { name, headBytes: left, bytes: left };
  if (short !== 1) return short !== 0 && short < 8 ? null : { name, headBytes: 8, bytes: short === 0 ? left : short };
  const bytes = head.length < 16 ? 0 : Number(head.readBigUInt64BE(8));
  return bytes < 16 ? null : { name, headBytes: 16, bytes };
};

/** MP4 and M4A: whether it is a video or audio, its tracks say, and not the brand, which many writers set alike for both. */
export async function examineMp4(file: ByteReader): Promise<Format> {
  return (await isVideo(file)) ? FORMATS.mp4 : FORMATS.m4a;
}

export async function examineThreeGp(file: ByteReader): Promise<Format> {
  if (await isVideo(file)) return FORMATS.threeGp;
  throw new NotTakenError('audio/3gpp');
}

async function isVideo(file: ByteReader): Promise<boolean> {
  const kinds = new Set<string>();
  const whole = { from: 0, end: file.sizeBytes };
  for await (const handler of boxesAt(file, whole, ['moov', 'trak', 'mdia', 'hdlr'])) {
    kinds.add((await file.look(handler.from + 8, 4)).toString('latin1'));
  }
  if (kinds.has('vide')) return true;
  if (kinds.has('soun')) return false;
  throw new NotTakenError(null, 'The file is an MP4 container without video or audio, or is cut short');
}

/** The boxes at the end of a path of names. */
async function* boxesAt(
  file: ByteReader,
  { from, end }: Pick<Piece, 'from' | 'end'>,
  [name, ...path]: readonly string[],
): AsyncGenerator<Piece> {
  for await (const box of piecesOf(file, from, end, isoBox)) {
    if (box.name !== name) continue;
    if (path.length === 0) yield box;
    else yield* unlessBroken(boxesAt(file, box, path));
  }
}

/** A track that is broken is none; the others say what the file is. */
async function* unlessBroken(boxes: AsyncGenerator<Piece>): AsyncGenerator<Piece> {
  try {
    yield* boxes;
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
  }
}
