import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { GraphError } from '../graph-error.js';
import { type PartHead, readMultipart } from './multipart.js';

interface Part extends PartHead {
  bytes: Buffer;
}

const FORM = 'multipart/form-data; boundary=XX';

/** A request whose body comes in pieces of the given sizes, over and over. */
function requestOf(body: Buffer, sizes: readonly number[], type = FORM): IncomingMessage {
  const pieces: Buffer[] = [];
  for (let at = 0, i = 0; at < body.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    pieces.push(body.subarray(at, at + size));
    at += size;
  }
  return Object.assign(Readable.from(pieces), { headers: { 'content-type': type } }) as unknown as IncomingMessage;
}

async function read(request: IncomingMessage): Promise<Part[]> {
  const parts: Part[] = [];
  await readMultipart(request, (head) => {
    const part: Part = { ...head, bytes: Buffer.alloc(0) };
    return {
      write: (bytes) => {
        part.bytes = Buffer.concat([part.bytes, bytes]);
        return Promise.resolve();
      },
      end: () => {
        parts.push(part);
        return Promise.resolve();
      },
    };
  });
  return parts;
}

const encode = (parts: { head: string; bytes: Buffer }[], end = '--XX--\r\n') =>
  Buffer.concat([
    ...parts.flatMap(({ head, bytes }) => [Buffer.from(`--XX\r\n${head}\r\n\r\n`), bytes, Buffer.from('\r\n')]),
    Buffer.from(end),
  ]);
const named = (name: string, rest = '') => `Content-Disposition: form-data; name="${name}"${rest}`;

describe('a multipart form', () => {
  it('is read the same however it is cut to pieces, whatever its parts hold', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      // What looks like a boundary, and is none.
      fc
        .constantFrom('', '\r\n', '--XX', '\r\n--X', '\r\n--', 'a\r\n\r\n--X\r', '\r\n\r\n')
        .map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(bytes, { minLength: 1, maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }),
        async (contents, sizes) => {
          fc.pre(!contents.some((content) => Buffer.concat([Buffer.from('\r\n'), content]).includes('\r\n--XX')));
          const body = encode(contents.map((content, i) => ({ head: named(`part${i}`), bytes: content })));
          const parts = await read(requestOf(body, sizes));
          expect(parts.map(({ name, bytes }) => [name, bytes])).toEqual(
            contents.map((content, i) => [`part${i}`, content]),
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it('names its files, with their types', async () => {
    const head = `${named('file', '; filename="a \\"b\\" %22c%22 \u{1F44D}.pdf"')}\r\ncontent-TYPE:  application/pdf`;
    const [part] = await read(requestOf(encode([{ head, bytes: Buffer.from('x') }]), [7]));
    expect(part).toMatchObject({
      name: 'file',
      filename: 'a "b" "c" \u{1F44D}.pdf',
      contentType: 'application/pdf',
    });
  });

  it('takes a quoted boundary, what stands before the first one, and what follows the last', async () => {
    const body = Buffer.concat([
      Buffer.from('preamble\r\n'),
      encode([{ head: named('a'), bytes: Buffer.from('1') }]),
      Buffer.from('epilogue --XX'),
    ]);
    const type = 'multipart/form-data; charset=utf-8; boundary="XX"';
    expect((await read(requestOf(body, [5], type))).map(({ name }) => name)).toEqual(['a']);
  });

  it('of undici is read byte for byte', async () => {
    const form = new FormData();
    const content = Buffer.alloc(300_000, 'abc\r\n--');
    form.set('type', 'text/plain');
    form.set('file', new Blob([content], { type: 'text/plain' }), 'a.txt');
    const response = new Response(form);
    const type = response.headers.get('content-type') ?? '';
    const parts = await read(requestOf(Buffer.from(await response.arrayBuffer()), [65_536, 1, 1000], type));
    expect(parts.map(({ name, filename }) => [name, filename])).toEqual([
      ['type', null],
      ['file', 'a.txt'],
    ]);
    const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    expect(digest(parts[1]?.bytes ?? Buffer.alloc(0))).toBe(digest(content));
  });

  it.each<[string, Buffer, string?]>([
    ['another type', encode([]), 'application/json'],
    ['no boundary', encode([]), 'multipart/form-data'],
    ['no end', encode([{ head: named('a'), bytes: Buffer.from('1') }], '')],
    ['nothing in it', Buffer.alloc(0)],
    ['a part without name', encode([{ head: 'Content-Disposition: form-data', bytes: Buffer.from('1') }])],
    ['a head without end', encode([{ head: named('a'.repeat(20_000)), bytes: Buffer.from('1') }])],
    ['a torn boundary', Buffer.from('--XX!\r\n\r\n')],
    ['33 parts', encode(Array.from({ length: 33 }, () => ({ head: named('a'), bytes: Buffer.from('1') })))],
  ])('with %s is refused', async (_, body, type = FORM) => {
    await expect(read(requestOf(body, [1000], type))).rejects.toThrow(GraphError);
  });
});
