import { randomBytes } from 'node:crypto';

/** A file on its way to the platform. */
export interface UploadedFile {
  readonly mimeType: string;
  /** The platform derives types from it too; a path's last part only. */
  readonly filename: string;
  /** Exactly what `open` gives. */
  readonly sizeBytes: number;
  /** Opens the file's bytes; called at most once, when there is a connection. */
  readonly open: () => Promise<AsyncIterable<Buffer>>;
}

/** What the other end of a stream threw: undici reports it as an error of the request. */
export interface Watched {
  failure: { error: unknown } | null;
}

/**
 * A multipart body around one file that is not in memory. The file is opened when what precedes it was taken, so that
 * one that is never sent is never opened; LengthMismatchError ends a body whose file is not as long as was said.
 *
 * @param taken gets what the file's source threw; what ends the request is no failure of the file.
 */
export function multipartAround({ filename, mimeType, sizeBytes, open }: UploadedFile, taken: Watched) {
  const boundary = `herald-${randomBytes(18).toString('hex')}`;
  const part = (name: string, rest: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${rest}`;
  const head = Buffer.from(
    part('messaging_product', '\r\n\r\nwhatsapp\r\n') +
      part('type', `\r\n\r\n${mimeType}\r\n`) +
      part('file', `; filename="${quotable(filename)}"\r\nContent-Type: ${mimeType}\r\n\r\n`),
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* chunks(): AsyncGenerator<Buffer> {
    yield head;
    yield* wholeFile(open, sizeBytes, taken);
    yield tail;
  }
  const contentLength = head.length + sizeBytes + tail.length;
  return { contentType: `multipart/form-data; boundary=${boundary}`, contentLength, chunks: chunks() };
}

/** A file's bytes; LengthMismatchError where they are not as many as was said. */
export async function* wholeFile(
  open: UploadedFile['open'],
  sizeBytes: number,
  taken: Watched,
): AsyncGenerator<Buffer, void> {
  let given = 0;
  let isOut = false;
  try {
    for await (const chunk of await open()) {
      given += chunk.length;
      if (given > sizeBytes) throw new LengthMismatchError();
      isOut = true;
      yield chunk;
      isOut = false;
    }
    if (given !== sizeBytes) throw new LengthMismatchError();
  } catch (error) {
    // A stream throws into its generator what ended the request.
    if (!isOut) taken.failure = { error };
    throw error;
  }
}

/** As browsers write names inside quotes (WHATWG, multipart/form-data encoding). */
function quotable(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

export class LengthMismatchError extends Error {
  constructor() {
    super('the file is shorter or longer than it was when it was stored');
    this.name = 'LengthMismatchError';
  }
}
