import type { IncomingMessage } from 'node:http';
import { GraphError } from '../graph-error.js';

const MOST_HEAD_BYTES = 16 * 1024;
const MOST_PARTS = 32;
const HEAD_END = Buffer.from('\r\n\r\n');

/** What stands above one part of a form. */
export interface PartHead {
  name: string;
  /** Null where the part is a plain field. */
  filename: string | null;
  contentType: string | null;
}

/** Takes the bytes of one part as they come. Each call is waited for, so that the sender is held back. */
export interface PartSink {
  write(bytes: Buffer): Promise<void>;
  end(): Promise<void>;
}

/**
 * Reads `multipart/form-data` without holding a part in memory: `open` says for each part where its bytes go. After a
 * fault the rest of the request is not read; the caller lets it run off before it answers.
 * @throws GraphError 100 where the form is broken, and whatever `open` and its sinks throw
 */
export async function readMultipart(request: IncomingMessage, open: (head: PartHead) => PartSink): Promise<void> {
  const reader = new MultipartReader(boundaryOf(request), open);
  for await (const chunk of request.iterator({ destroyOnReturn: false })) await reader.take(chunk as Buffer);
  reader.finish();
}

function boundaryOf(request: IncomingMessage): string {
  const type = request.headers['content-type'] ?? '';
  const match = /^multipart\/form-data\s*;.*\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) throw broken('The request must be multipart/form-data with a boundary');
  return boundary;
}

class MultipartReader {
  private readonly delimiter: Buffer;
  /** What could not be told apart yet. Begins with a line's end, because the first delimiter has none before it. */
  private rest: Buffer = Buffer.from('\r\n');
  private state: 'before' | 'delimited' | 'head' | 'data' | 'after' = 'before';
  private sink: PartSink | null = null;
  private parts = 0;

  constructor(
    boundary: string,
    private readonly open: (head: PartHead) => PartSink,
  ) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  async take(chunk: Buffer): Promise<void> {
    if (this.state === 'after') return;
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    while (await this.step());
  }

  finish(): void {
    if (this.state !== 'after') throw broken('The form ends before its last boundary');
  }

  /** Does what the bytes at hand allow; false when more are needed. */
  private async step(): Promise<boolean> {
    if (this.state === 'before' || this.state === 'data') return this.passOn();
    if (this.state === 'delimited') return this.readDelimiterEnd();
    if (this.state === 'head') return this.readHead();
    return false;
  }

  private async passOn(): Promise<boolean> {
    const at = this.rest.indexOf(this.delimiter);
    // A delimiter may have begun in the last bytes.
    const certain = at === -1 ? Math.max(0, this.rest.length - this.delimiter.length + 1) : at;
    if (certain > 0 && this.sink !== null) await this.sink.write(this.rest.subarray(0, certain));
    if (at === -1) {
      this.rest = this.rest.subarray(certain);
      return false;
    }
    await this.sink?.end();
    this.sink = null;
    this.rest = this.rest.subarray(at + this.delimiter.length);
    this.state = 'delimited';
    return true;
  }

  private readDelimiterEnd(): boolean {
    if (this.rest.length < 2) return false;
    const end = this.rest.toString('latin1', 0, 2);
    if (end !== '--' && end !== '\r\n') throw broken('A boundary of the form is followed by something else');
    this.rest = this.rest.subarray(2);
    this.state = end === '--' ? 'after' : 'head';
    if (this.state === 'after') this.rest = Buffer.alloc(0);
    return this.state === 'head';
  }

  private readHead(): boolean {
    const at = this.rest.indexOf(HEAD_END);
    if (at > MOST_HEAD_BYTES || (at === -1 && this.rest.length > MOST_HEAD_BYTES)) {
      throw broken('The head of a part of the form is too long');
    }
    if (at === -1) return false;
    if (++this.parts > MOST_PARTS) throw broken(`The form has more than ${MOST_PARTS} parts`);
    this.sink = this.open(parseHead(this.rest.toString('utf8', 0, at)));
    this.rest = this.rest.subarray(at + HEAD_END.length);
    // The delimiter's own line end may be all that stands between the head and the next delimiter.
    this.state = 'data';
    return true;
  }
}

function parseHead(text: string): PartHead {
  const lines = text.split('\r\n');
  const valueOf = (name: string) =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  const disposition = valueOf('content-disposition') ?? '';
  const name = attribute(disposition, 'name');
  if (name === null) throw broken('A part of the form has no name');
  return {
    name,
    filename: attribute(disposition, 'filename'),
    contentType: valueOf('content-type') ?? null,
  };
}

/** Browsers write a quote inside a name as `%22`, curl as `\"`. */
function attribute(disposition: string, name: string): string | null {
  const match = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, 'i').exec(disposition);
  const value = match?.[1] ?? match?.[2];
  if (value === undefined) return null;
  return value.replaceAll(/\\(["\\])/g, '$1').replaceAll('%22', '"');
}

function broken(details: string): GraphError {
  return new GraphError(100, { details });
}
