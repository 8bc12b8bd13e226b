import { randomBytes } from 'node:crypto';

export interface FilePart {
  readonly name: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
}

/** A multipart body around one file that is not in memory. */
export interface Multipart {
  readonly contentType: string;
  /** Of the whole body, head and tail included. */
  readonly contentLength: number;
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** Makes what stands before and after the file's bytes. */
export function multipartAround(file: FilePart, fields: Readonly<Record<string, string>>): Multipart {
  const boundary = `herald-${randomBytes(18).toString('hex')}`;
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${quotable(name)}"\r\n\r\n${value}\r\n`,
  );
  const disposition = `form-data; name="${quotable(file.name)}"; filename="${quotable(file.filename)}"`;
  const fileHead = `--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${file.mimeType}\r\n\r\n`;
  const head = Buffer.from([...parts, fileHead].join(''));
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    contentLength: head.length + file.sizeBytes + tail.length,
    head,
    tail,
  };
}

/** As browsers write names inside quotes (WHATWG, multipart/form-data encoding). */
function quotable(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/**
 * Head, file, tail. The file is opened when the head was taken, so that one that is never sent is never opened.
 * @throws LengthMismatchError when the file has not as many bytes as it was said to have
 */
export async function* bodyOf(
  { head, tail }: Multipart,
  open: () => Promise<AsyncIterable<Buffer>>,
  sizeBytes: number,
): AsyncGenerator<Buffer> {
  yield head;
  let given = 0;
  for await (const chunk of await open()) {
    given += chunk.length;
    if (given > sizeBytes) throw new LengthMismatchError();
    yield chunk;
  }
  if (given !== sizeBytes) throw new LengthMismatchError();
  yield tail;
}

export class LengthMismatchError extends Error {
  constructor() {
    super('the file is shorter or longer than it was when it was stored');
    this.name = 'LengthMismatchError';
  }
}
