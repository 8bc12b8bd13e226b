import fc from 'fast-check';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { PHONE_NUMBER_ID, type SimulatorRig, startRig } from '../../../test/support/simulator/simulator-rig.js';

const FORM = 'multipart/form-data; boundary=XX';
const encode = (parts: { head: string; bytes: Buffer }[], end = '--XX--\r\n') =>
  Buffer.concat([
    ...parts.flatMap(({ head, bytes }) => [Buffer.from(`--XX\r\n${head}\r\n\r\n`), bytes, Buffer.from('\r\n')]),
    Buffer.from(end),
  ]);
const named = (name: string, rest = '') => `Content-Disposition: form-data; name="${name}"${rest}`;
const field = (name: string, value: string) => ({ head: named(name), bytes: Buffer.from(value) });
const file = (bytes: Buffer, filename = 'a.txt', name = 'file') => ({
  head: `${named(name, `; filename="${filename}"`)}\r\ncontent-TYPE:  text/plain`,
  bytes,
});
const PRODUCT = field('messaging_product', 'whatsapp');
const TYPE = field('type', 'text/plain');

describe('the form of an upload', () => {
  let rig: SimulatorRig;

  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig.stop());

  async function send(pieces: Iterable<Buffer>, type: string): Promise<{ status: number; code?: number; id?: string }> {
    const response = await request(`${rig.url}/v26.0/${PHONE_NUMBER_ID}/media`, {
      method: 'POST',
      headers: { authorization: 'Bearer token', 'content-type': type },
      body: Readable.from(pieces),
    });
    const answer = (await response.body.json()) as { id?: string; error?: { code: number } };
    return { status: response.statusCode, code: answer.error?.code, id: answer.id };
  }

  async function contentOf(id: string): Promise<Buffer> {
    const { json } = await rig.client.call('GET', `/v26.0/${id}`);
    const response = await request(String(json.url), { headers: { authorization: 'Bearer token' } });
    return Buffer.from(await response.body.arrayBuffer());
  }

  function* cut(body: Buffer, sizes: readonly number[]): Generator<Buffer> {
    for (let at = 0, i = 0; at < body.length; i++) {
      const size = sizes[i % sizes.length] ?? 1;
      yield body.subarray(at, at + size);
      at += size;
    }
  }

  it('is read the same however it is cut to pieces, whatever the file holds', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 200 }).map((array) => Buffer.from(array)),
      // What looks like a boundary, and is none.
      fc
        .constantFrom('\r\n', '--XX', '\r\n--X', '\r\n--', 'a\r\n\r\n--X\r', '\r\n\r\n')
        .map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(
        bytes,
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }),
        async (content, sizes) => {
          fc.pre(!Buffer.concat([Buffer.from('\r\n'), content]).includes('\r\n--XX'));
          const { id } = await send(cut(encode([PRODUCT, file(content), TYPE]), sizes), FORM);
          expect(await contentOf(String(id))).toEqual(content);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('may have a quoted boundary, something before the first one, and any name for its file', async () => {
    const name = 'a \\"b\\" %22c%22 \u{1F44D}.txt';
    const body = Buffer.concat([
      Buffer.from('preamble\r\n'),
      encode([PRODUCT, TYPE, file(Buffer.from('x'), name)]),
      Buffer.from('epilogue --XX'),
    ]);
    const { status } = await send(cut(body, [5]), 'multipart/form-data; charset=utf-8; boundary="XX"');
    expect(status).toBe(200);
  });

  it.each<[string, Buffer, string?]>([
    ['another type', encode([PRODUCT, TYPE, file(Buffer.from('x'))]), 'application/json'],
    ['no boundary', encode([PRODUCT, TYPE, file(Buffer.from('x'))]), 'multipart/form-data'],
    ['no end', encode([PRODUCT, TYPE, file(Buffer.from('x'))], '')],
    ['nothing in it', Buffer.from('\r\n')],
    ['a file without a name', encode([PRODUCT, TYPE, file(Buffer.from('x'), 'a.txt', '')])],
    ['a file of another name', encode([PRODUCT, TYPE, file(Buffer.from('x'), 'a.txt', 'other')])],
    ['a file that is a field', encode([PRODUCT, TYPE, field('file', 'x')])],
    ['two files', encode([PRODUCT, TYPE, file(Buffer.from('x')), file(Buffer.from('y'))])],
    ['a head without end', encode([PRODUCT, TYPE, field('a'.repeat(20_000), ''), file(Buffer.from('x'))])],
    [
      'a head of no known form',
      encode([PRODUCT, TYPE, { head: `${named('file')}\r\na: \u0007`, bytes: Buffer.from('x') }]),
    ],
    ['a torn boundary', Buffer.from('--XX!\r\n\r\n')],
    ['33 parts', encode([PRODUCT, TYPE, file(Buffer.from('x')), ...Array.from({ length: 30 }, () => field('a', '1'))])],
  ])('with %s is refused, and nothing is kept', async (_, body, type = FORM) => {
    const before = rig.simulator.media.all().length;
    expect(await send(cut(body, [1000]), type)).toEqual({ status: 400, code: 100 });
    expect(rig.simulator.media.all()).toHaveLength(before);
  });
});
