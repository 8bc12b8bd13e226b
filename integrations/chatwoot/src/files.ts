import { randomBytes } from 'node:crypto';
import { Refusal } from './failure.js';

const WITHIN_MS = 120_000;
const MOST_REDIRECTS = 5;

/** A file that is read while it is sent on: its bytes are never held as a whole. */
export interface FileStream {
  name: string;
  type: string;
  bytes: AsyncIterable<Uint8Array>;
}

/** The file is larger than the bridge hands on. */
export class FileTooLarge extends Refusal {}

/**
 * Opens a file for reading.
 *
 * @param allowed origins, also of each redirect; null: the address comes from Herald itself
 * @throws Refusal where the file cannot be had, FileTooLarge above `mostBytes`
 */
export async function openFile(
  address: string,
  {
    name,
    allowed,
    mostBytes,
    signal,
  }: { name: string; allowed: ReadonlySet<string> | null; mostBytes: number; signal: AbortSignal },
): Promise<FileStream> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]);
  let url = address;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const origin = URL.canParse(url) ? new URL(url).origin : 'none';
    if (allowed !== null && !allowed.has(origin)) {
      // The address came with the callback: reading whatever it names would reach into the bridge's own network.
      throw new Refusal(`its address is at ${origin}, which CHATWOOT_FILE_ORIGINS of the bridge does not name.`);
    }
    const answer = await fetch(url, { redirect: 'manual', signal: within }).catch((error: unknown) => {
      throw new TemporaryFileError('no answer', error);
    });
    const next = answer.headers.get('location');
    if (answer.status >= 300 && answer.status < 400 && next !== null) {
      await answer.body?.cancel();
      url = new URL(next, url).href;
      continue;
    }
    if (!answer.ok || answer.body === null) {
      await answer.body?.cancel();
      if (answer.status >= 500 || answer.status === 429) throw new TemporaryFileError(`status ${answer.status}`);
      throw new Refusal(`it cannot be read (status ${answer.status}).`);
    }
    if (Number(answer.headers.get('content-length') ?? 0) > mostBytes) {
      await answer.body.cancel();
      throw new FileTooLarge(`it is larger than ${mostBytes / 1024 ** 2} MiB.`);
    }
    const type = answer.headers.get('content-type')?.split(';')[0]?.trim() ?? 'application/octet-stream';
    return { name, type, bytes: limited(answer.body, mostBytes) };
  }
  throw new Refusal('it is redirected too often.');
}

/** The store of the files is away for the moment. */
export class TemporaryFileError extends Error {
  override readonly name = 'TemporaryFileError';

  constructor(why: string, cause?: unknown) {
    super(why, { cause });
  }
}

/** Whether `cause` of a failed request is a file that was larger than its length said. */
export function tooLargeOf(error: unknown): FileTooLarge | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof FileTooLarge) return cause;
  }
  return null;
}

async function* limited(body: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > mostBytes) throw new FileTooLarge(`it is larger than ${mostBytes / 1024 ** 2} MiB.`);
    yield chunk;
  }
}

/** A form with one file, behind its fields, as a body that is written while the file is read. */
export function formWith(fields: Readonly<Record<string, string>>, field: string, file: FileStream): RequestInit {
  const boundary = `herald-${randomBytes(16).toString('hex')}`;
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`,
  );
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(field)}"; filename="${quoted(file.name)}"\r\n` +
    `Content-Type: ${/^[\w.+-]+\/[\w.+-]+$/.test(file.type) ? file.type : 'application/octet-stream'}\r\n\r\n`;
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(parts.join('') + head);
    yield* file.bytes;
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  return {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: ReadableStream.from(bytes()),
    duplex: 'half',
  } as unknown as RequestInit;
}

/** As browsers escape names in forms. */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
