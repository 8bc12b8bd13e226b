import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { filesOf, noTemporaryFiles, temporaryFilesOf } from './fixture.js';
import { formBody, type RawAnswer, rawUpload } from './raw-upload.js';
import * as sample from './samples.js';

interface Case {
  name: string;
  contentType?: string;
  body: Buffer;
  contentLength?: number;
  cutAfter?: number;
  headers?: string[];
}

const BOUNDARY = '----herald';
const FORM = `multipart/form-data; boundary=${BOUNDARY}`;

describe('hostile uploads', () => {
  let test: TestApp;
  let sender: TestSender;

  beforeAll(async () => {
    test = await startTestApp({ roles: ['api', 'simulator'] });
    sender = await test.sender();
  });

  afterAll(() => test.stop());

  const connection = () => ({
    headers: 'Content-Disposition: form-data; name="connection_id"',
    data: sender.connection.id,
  });
  const filePart = (data: Uint8Array, { filename = 'a.bin', type = 'application/octet-stream' } = {}) => ({
    headers: `Content-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: ${type}`,
    data,
  });
  const send = ({ contentType = FORM, ...rest }: Case): Promise<RawAnswer> =>
    rawUpload({ baseUrl: test.baseUrl, key: sender.key.text, contentType, ...rest });
  const rows = async () =>
    test.database.query<{ mime_type: string; sha256: string }>('select mime_type, sha256 from media_object');

  /** Files under the type of another, and bytes that are no file that is taken. */
  function falseFiles(): Case[] {
    const others = [Buffer.from('<script>alert(1)</script>'), Buffer.from('GIF89a'), randomBytes(3_000).fill(0, 0, 8)];
    const cases: Case[] = others.map((data, at) => ({
      name: `no file ${at}`,
      body: formBody(BOUNDARY, [connection(), filePart(data)]),
    }));
    for (const { name, bytes, mimeType } of sample.everyFormat()) {
      if (/pdf|plain/.test(mimeType)) continue;
      // A whole file under another's declared type.
      const other = mimeType.startsWith('image/') ? 'application/pdf' : 'image/jpeg';
      cases.push({
        name: `${name} as ${other}`,
        body: formBody(BOUNDARY, [connection(), filePart(bytes, { type: other })]),
      });
    }
    return cases;
  }

  function brokenForms(): Case[] {
    const png = sample.png();
    const good = formBody(BOUNDARY, [connection(), filePart(png)]);
    const many = (count: number, part: (n: number) => { headers: string; data: string }) =>
      formBody(
        BOUNDARY,
        Array.from({ length: count }, (_, n) => part(n)),
      );
    const cases: Case[] = [
      { name: 'no boundary', contentType: 'multipart/form-data', body: good },
      { name: 'an empty boundary', contentType: 'multipart/form-data; boundary=', body: good },
      { name: 'another boundary', contentType: 'multipart/form-data; boundary=other', body: good },
      { name: 'a boundary of 2 KiB', contentType: `multipart/form-data; boundary=${'b'.repeat(2_048)}`, body: good },
      { name: 'no body', body: Buffer.alloc(0) },
      { name: 'noise', body: randomBytes(20_000) },
      { name: 'no end', body: good.subarray(0, -6) },
      { name: 'no file', body: formBody(BOUNDARY, [connection()]) },
      { name: 'an empty file', body: formBody(BOUNDARY, [connection(), filePart(Buffer.alloc(0))]) },
      { name: 'no name', body: formBody(BOUNDARY, [{ headers: 'Content-Disposition: form-data', data: 'x' }]) },
      {
        name: 'an empty name',
        body: formBody(BOUNDARY, [{ headers: 'Content-Disposition: form-data; name=""', data: 'x' }]),
      },
      { name: 'no disposition', body: formBody(BOUNDARY, [{ headers: 'X: y', data: 'x' }]) },
      { name: 'headers without end', body: Buffer.from(`--${BOUNDARY}\r\n${'X: y\r\n'.repeat(20_000)}`) },
      { name: 'a header of 100 KiB', body: formBody(BOUNDARY, [{ headers: `X: ${'y'.repeat(100_000)}`, data: 'x' }]) },
      {
        name: 'many fields',
        body: many(1_000, (n) => ({ headers: `Content-Disposition: form-data; name="f${n}"`, data: 'x' })),
      },
      {
        name: 'many files',
        body: many(500, (n) => ({
          headers: `Content-Disposition: form-data; name="file"; filename="${n}"`,
          data: 'x',
        })),
      },
      {
        name: 'a long name',
        body: many(1, () => ({ headers: `Content-Disposition: form-data; name="${'n'.repeat(5_000)}"`, data: 'x' })),
      },
      {
        name: 'a long value',
        body: many(1, () => ({ headers: 'Content-Disposition: form-data; name="type"', data: 'x'.repeat(100_000) })),
      },
      { name: 'compressed', body: good, headers: ['Content-Encoding: gzip'] },
      { name: 'a length of terabytes', body: good, contentLength: 1e13 },
    ];
    for (const name of [
      '__proto__',
      'constructor',
      '__proto__[x]',
      'a[9999999]',
      'type[]',
      '[',
      'hasOwnProperty',
      'toString',
    ]) {
      const field = { headers: `Content-Disposition: form-data; name="${name}"`, data: 'x' };
      cases.push({ name: `a field ${name}`, body: formBody(BOUNDARY, [connection(), field, filePart(png)]) });
    }
    // A form that is cut short anywhere, with a length that says so and one that does not.
    for (let at = 1; at < 24; at++) {
      const cut = Math.floor((good.length * at) / 24);
      cases.push({ name: `cut at ${cut}, with its length`, body: good.subarray(0, cut) });
      cases.push({ name: `cut at ${cut}, and gone`, body: good, cutAfter: cut });
    }
    for (const length of [0, 1, good.length - 8])
      cases.push({ name: `length ${length}`, body: good, contentLength: length });
    // Bytes of a good form that were changed.
    for (let n = 0; n < 80; n++) {
      const body = Buffer.from(good);
      for (let change = 0; change < 3; change++) body[(n * 37 + change * 11) % 260] = (n * 53 + change * 71) % 256;
      cases.push({ name: `damaged ${n}`, body });
    }
    return cases;
  }

  it('meet no 5xx, leave no temporary file, and nothing is stored as what it is not', async () => {
    const cases = [...falseFiles(), ...brokenForms()];
    expect(cases.length).toBeGreaterThanOrEqual(170);
    const outcomes: { name: string; status: number }[] = [];
    for (let at = 0; at < cases.length; at += 8) {
      const some = cases.slice(at, at + 8);
      const answers = await Promise.all(some.map(send));
      for (const [index, { status, body }] of answers.entries()) {
        const name = some[index]?.name ?? '';
        outcomes.push({ name, status });
        if (status >= 400) expect(`${name}: ${body}`).toContain('"code"');
      }
    }
    expect(outcomes.filter(({ status }) => status >= 500)).toEqual([]);
    // A changed byte may hit a header that means nothing; what is stored then is the PNG that was sent.
    await noTemporaryFiles(test.dataDir);
    const stored = await rows();
    expect(new Set(stored.map((row) => row.mime_type))).toEqual(new Set(stored.length === 0 ? [] : ['image/png']));
    const taken = outcomes.filter(({ status }) => status === 201).map(({ name }) => name);
    expect(taken.filter((name) => !name.startsWith('damaged'))).toEqual([]);
    expect(await filesOf(test.dataDir)).toHaveLength(stored.length);
    expect(taken.length).toBeLessThanOrEqual(stored.length);
    expect((await sender.api.get('/media')).status).toBe(200);
  });

  it('names that mean paths, commands or headers stay names', async () => {
    const names = [
      '../../../../tmp/x',
      '..\\..\\x',
      '/etc/cron.d/x',
      'C:\\x',
      'x\\0.png',
      '%2e%2e%2fx',
      '\u202Egnp.exe',
      '$(id)',
      '`id`',
      '; rm -rf /x',
      '\'"><img src=x>',
      'a%0D%0AX-Evil: 1',
      'CON',
      '.htaccess',
      'x'.repeat(5_000),
      '😀'.repeat(400),
    ];
    const before = (await filesOf(test.dataDir)).length;
    for (const filename of names) {
      const quoted = filename.replaceAll('"', '%22');
      const answer = await send({
        name: filename,
        body: formBody(BOUNDARY, [connection(), filePart(sample.png(), { filename: quoted })]),
      });
      expect([filename, answer.status]).toEqual([filename, 201]);
    }
    const files = await filesOf(test.dataDir);
    expect(files).toHaveLength(before + names.length);
    for (const { path } of files) expect(path).toMatch(/^[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f-]{36}$/);
  });

  it('fifty uploads that are broken off leave nothing', async () => {
    const before = await filesOf(test.dataDir);
    const body = formBody(BOUNDARY, [connection(), filePart(sample.pdf(4_000_000))]);
    const cut = (at: number): Promise<RawAnswer> =>
      send({ name: 'cut', body, cutAfter: Math.floor((body.length * (at + 1)) / 52) });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => cut(at)));
    expect(answers.filter(({ status }) => status === 201 || status >= 500)).toEqual([]);
    // The server may look at an upload only after its sender has gone.
    await waitFor(
      async () => {
        expect(await filesOf(test.dataDir)).toEqual(before);
        return true;
      },
      { what: 'nothing to be left' },
    );
    // Nor a place.
    await waitFor(
      async () => {
        const answer = await send({ name: 'no file', body: formBody(BOUNDARY, [connection()]) });
        return answer.status === 400;
      },
      { what: 'a place for an upload' },
    );
  });

  it('are refused while they are still coming, and the file goes at once', async () => {
    const head = formBody(BOUNDARY, [connection(), filePart(Buffer.from('GIF89a'.repeat(2_000)))]).subarray(0, 9_000);
    const answer = await send({ name: 'never ends', body: head, contentLength: 30_000_000 });
    expect([answer.status, answer.body.includes('image/gif')]).toEqual([400, true]);
    await noTemporaryFiles(test.dataDir);
  });

  it.each([
    ['before its parts', ''],
    ['in a part without a name', `--${BOUNDARY}\r\n${filePart(Buffer.alloc(0), { filename: '' }).headers}\r\n\r\n`],
    ['behind its end', `--${BOUNDARY}--\r\n`],
  ])('without an end, %s, are ended', async (_name, beginning) => {
    const form = Buffer.concat([Buffer.from(beginning), Buffer.alloc(33 * 1_024 * 1_024, 'x')]);
    const body = Buffer.concat([Buffer.from(`${form.length.toString(16)}\r\n`), form]);
    const answer = await send({ name: 'endless', body, contentLength: -1, headers: ['Transfer-Encoding: chunked'] });
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('MEDIA_TOO_LARGE')]);
  });

  it('hold a temporary file only while they come', async () => {
    const body = formBody(BOUNDARY, [connection(), filePart(sample.pdf(3_000_000))]);
    const controller = new AbortController();
    const stream = new ReadableStream<Uint8Array>({
      async start(feed) {
        feed.enqueue(body.subarray(0, 1_000_000));
        // The rest never comes.
        await once(controller.signal, 'abort');
      },
    });
    const request = fetch(`${test.baseUrl}/api/v1/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sender.key.text}`, 'content-type': FORM },
      body: stream,
      duplex: 'half',
      signal: controller.signal,
    }).catch(() => 'broken off');
    await waitFor(async () => (await temporaryFilesOf(test.dataDir)).length === 1, { what: 'the temporary file' });
    controller.abort();
    expect(await request).toBe('broken off');
    await noTemporaryFiles(test.dataDir);
  });
});
