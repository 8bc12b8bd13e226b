import { createReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';

/** A file as the body of an answer, with the faults that were asked for. */
export interface FileBody {
  path: string;
  sizeBytes: number;
  /** The connection is cut after so many bytes. */
  cutAfterBytes?: number;
  /** The last byte is another one: the size is right, the checksum is not. */
  spoilLastByte?: boolean;
  /** 0: as fast as it goes. */
  bytesPerSecond?: number;
}

/** A slow file comes in so many pieces a second. */
const PIECES_PER_SECOND = 10;

/** Writes the body of an answer whose head is written. Never rejects: whoever has gone needs no answer. */
export async function sendFile(response: ServerResponse, file: FileBody): Promise<void> {
  try {
    await pipeline(piecesOf(file), response);
  } catch {
    response.destroy();
  }
}

async function* piecesOf(file: FileBody): AsyncGenerator<Buffer> {
  const { path, sizeBytes, cutAfterBytes, spoilLastByte = false, bytesPerSecond = 0 } = file;
  const highWaterMark = bytesPerSecond > 0 ? Math.max(1, Math.ceil(bytesPerSecond / PIECES_PER_SECOND)) : 64 * 1024;
  let sent = 0;
  for await (const read of createReadStream(path, { highWaterMark })) {
    const piece = read as Buffer;
    if (cutAfterBytes !== undefined && sent + piece.length > cutAfterBytes) {
      yield piece.subarray(0, cutAfterBytes - sent);
      throw new Error('cut');
    }
    sent += piece.length;
    if (spoilLastByte && sent === sizeBytes) piece[piece.length - 1] = (piece.at(-1) ?? 0) ^ 0xff;
    yield piece;
    if (bytesPerSecond > 0) await sleep((1000 * piece.length) / bytesPerSecond, undefined, { ref: false });
  }
}
