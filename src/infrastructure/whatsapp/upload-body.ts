import { randomBytes } from 'node:crypto';

/** A file to upload to WhatsApp. */
export interface UploadedFile {
  readonly mimeType: string;
  /** WhatsApp also derives the type from it; only the last part of the path. */
  readonly filename: string;
  /** Exactly the number of bytes that `open` provides. */
  readonly sizeBytes: number;
  /** Opens the file's bytes; called at most once, when there is a connection. */
  readonly open: () => Promise<AsyncIterable<Buffer>>;
}

/** The error thrown by the file's stream, which undici reports as an error of the request. */
export interface Watched {
  failure: { error: unknown } | null;
}

/**
 * A multipart body around one file that is not in memory. The file is opened after the preceding bytes were sent, so
 * that an unsent file is never opened; LengthMismatchError ends a body whose file does not have the stated length.
 *
 * @param taken receives the error of the file's source; an error that ends the request is not a failure of the file.
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

/** A file's bytes; LengthMismatchError where their number differs from the stated one. */
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
    // When the request ends early, its reason is thrown into this generator.
    if (!isOut) taken.failure = { error };
    throw error;
  }
}

/** The encoding of names in quotes that browsers use (WHATWG, multipart/form-data encoding). */
function quotable(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

export class LengthMismatchError extends Error {
  constructor() {
    super('the file is shorter or longer than it was when it was stored');
    this.name = 'LengthMismatchError';
  }
}
