import { request } from 'node:http';
import { Readable } from 'node:stream';

const PIECE_BYTES = 64 * 1_024;
const BOUNDARY = '----herald-upload';

/** Who uploads, and where to. */
export interface Uploader {
  baseUrl: string;
  apiKey: string;
  connectionId: string;
}

/** A text of that size that differs from seed to seed, made piece by piece so that it costs this process nothing. */
export function* textPieces(seed: number, bytes: number): Generator<Buffer> {
  for (let sent = 0; sent < bytes; sent += PIECE_BYTES) {
    const piece = Buffer.alloc(PIECE_BYTES, `upload ${seed} `);
    piece.write(String(sent).padStart(12, '0'), 0);
    yield piece;
  }
}

/**
 * Uploads such a text, a multiple of 64 KiB long, on a connection of its own; resolves with the answer.
 *
 * @param sentBytes fewer than `bytes`: the rest never comes
 */
export function uploadText(
  { baseUrl, apiKey, connectionId }: Uploader,
  seed: number,
  bytes: number,
  sentBytes = bytes,
): Promise<{ status: number; text: string }> {
  const head = Buffer.from(
    [
      `--${BOUNDARY}`,
      'Content-Disposition: form-data; name="connection_id"',
      '',
      connectionId,
      `--${BOUNDARY}`,
      `Content-Disposition: form-data; name="file"; filename="${seed}.txt"`,
      'Content-Type: text/plain',
      '',
      '',
    ].join('\r\n'),
  );
  const tail = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  return new Promise((resolve, reject) => {
    const req = request(`${baseUrl}/api/v1/media`, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        'content-length': head.length + bytes + tail.length,
      },
    });
    req.on('error', reject);
    req.on('response', (res) => {
      let text = '';
      res.on('data', (chunk) => (text += String(chunk)));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text }));
    });
    const body = function* (): Generator<Buffer> {
      yield head;
      yield* textPieces(seed, sentBytes);
      if (sentBytes === bytes) yield tail;
    };
    Readable.from(body(), { objectMode: true, highWaterMark: 1 }).pipe(req, { end: sentBytes === bytes });
  });
}
