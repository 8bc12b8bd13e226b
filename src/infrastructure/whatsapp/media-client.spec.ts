import { createHash, randomBytes } from 'node:crypto';
import { getEventListeners, getMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import { bodyOf, sendJson } from '../../../test/support/local-server.js';
import { FakeMediaPlatform, refusal } from '../../../test/support/whatsapp/fake-media-platform.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { CloudApiClient } from './cloud-api-client.js';
import {
  MediaClient,
  type DownloadExchange,
  type MediaClientOptions,
  type UploadMediaInput,
  type UploadOutcome,
} from './media-client.js';
import { LengthMismatchError, multipartAround, type Watched } from './upload-body.js';

const TOKEN = 'EAAtestTOKEN0123456789abcdef';
const BYTES = randomBytes(300_000);

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function platformAndClient(
  options: Partial<MediaClientOptions> = {},
): Promise<{ platform: FakeMediaPlatform; client: MediaClient }> {
  const platform = await FakeMediaPlatform.start();
  return { platform, client: clientOf(platform, options) };
}

function clientOf(platform: FakeMediaPlatform, options: Partial<MediaClientOptions> = {}): MediaClient {
  const address = { baseUrl: platform.url, apiVersion: 'v26.0' };
  const calls = new CloudApiClient({ ...address, headersTimeoutMs: 15_000, bodyTimeoutMs: 5_000 });
  const client = new MediaClient({ ...address, ...options }, calls);
  closers.push(
    () => client.close(),
    () => calls.close(),
    () => platform.stop(),
  );
  return client;
}

function upload(client: MediaClient, change: Partial<UploadMediaInput> = {}): Promise<UploadOutcome> {
  return client.uploadMedia({
    phoneNumberId: '106540352242922',
    token: TOKEN,
    mimeType: 'image/jpeg',
    filename: 'file.jpg',
    sizeBytes: BYTES.length,
    open: () => Promise.resolve(Readable.from(slices(BYTES))),
    ...change,
  });
}

function* slices(bytes: Buffer, size = 65_536): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Downloads, and returns the outcome with the bytes received. */
async function download(
  client: MediaClient,
  url: string,
  change: { maxBytes?: number; token?: string; signal?: AbortSignal; consume?: (chunk: Buffer) => Promise<void> } = {},
): Promise<DownloadExchange & { bytes: Buffer }> {
  const chunks: Buffer[] = [];
  const consume = (chunk: Buffer): void => void chunks.push(Buffer.from(chunk));
  const exchange = await client.downloadMedia({ url, token: TOKEN, maxBytes: 1_000_000, consume, ...change });
  return { ...exchange, bytes: Buffer.concat(chunks) };
}

describe('an upload', () => {
  it('brings the file to the byte, its type, a name and the token', async () => {
    const { platform, client } = await platformAndClient();
    const outcome = await upload(client);
    expect(platform.uploads).toHaveLength(1);
    const [{ bytes, ...taken }] = platform.uploads as [(typeof platform.uploads)[0]];
    expect(bytes.equals(BYTES)).toBe(true);
    expect(taken).toEqual({
      phoneNumberId: '106540352242922',
      token: `Bearer ${TOKEN}`,
      type: 'image/jpeg',
      filename: 'file.jpg',
      id: '1000',
    });
    expect(outcome).toEqual({ kind: 'uploaded', mediaId: '1000' });
  });

  it('says its length beforehand', async () => {
    const { platform, client } = await platformAndClient();
    let headers: Record<string, unknown> = {};
    platform.before = (request) => {
      headers = request.headers;
      return false;
    };
    await upload(client);
    expect(Number(headers['content-length'])).toBeGreaterThan(BYTES.length);
    expect(headers['transfer-encoding']).toBeUndefined();
  });

  it.each([
    [190, 401, 'lane_paused', 'authentication'],
    [100, 400, 'rejected', 'invalid_content'],
    [131053, 400, 'rejected', 'media_error'],
    [130429, 429, 'lane_paused', 'rate_limited'],
    [131000, 500, 'unknown', 'unknown'],
    [33, 400, 'rejected', 'sender_not_ready'],
  ])('refused with %d is what a send refused so is', async (code, status, kind, category) => {
    const { platform, client } = await platformAndClient();
    platform.before = async (request, response) => {
      await bodyOf(request);
      sendJson(response, status, refusal(code));
      return true;
    };
    expect(await upload(client)).toMatchObject({ kind, category, platformCode: code, traceId: 'Az8' });
  });

  it('that is refused before it has arrived ends with the reason', async () => {
    const { platform, client } = await platformAndClient();
    platform.before = (_request, response) => {
      sendJson(response, 400, refusal(100));
      return true;
    };
    const bytes = Buffer.alloc(5_000_000);
    const open = () => Promise.resolve(Readable.from(slices(bytes)));
    expect(await upload(client, { sizeBytes: bytes.length, open })).toMatchObject({ kind: 'rejected' });
  });

  it.each([
    ['no id', { success: true }],
    ['an empty id', { id: '' }],
    ['an id with a space', { id: 'a b' }],
    ['the answer to a send', { messages: [{ id: 'wamid.A' }] }],
  ])('answered with %s is nothing that can be used', async (_name, body) => {
    const { platform, client } = await platformAndClient();
    platform.before = async (request, response) => {
      await bodyOf(request);
      sendJson(response, 200, body);
      return true;
    };
    expect(await upload(client)).toMatchObject({ kind: 'unknown' });
  });

  it('is made once, whatever breaks', async () => {
    const { platform, client } = await platformAndClient();
    platform.before = (request) => {
      if (platform.asked.length === 1) request.socket.destroy();
      return platform.asked.length === 1;
    };
    expect(await upload(client)).toMatchObject({ kind: 'unknown' });
    expect(await upload(client)).toMatchObject({ kind: 'uploaded' });
    expect([platform.count(/POST/), platform.uploads.length]).toEqual([2, 1]);
  });

  it('to an unknown number is an answer as well', async () => {
    const { platform, client } = await platformAndClient();
    await platform.stop();
    expect(await upload(client)).toMatchObject({ platformCode: null, category: 'platform_unavailable' });
  });

  it('ends where the platform takes no more bytes', async () => {
    const { platform, client } = await platformAndClient({ idleTimeoutMs: 300 });
    platform.before = () => true;
    const bytes = Buffer.alloc(20_000_000);
    const open = () => Promise.resolve(Readable.from(slices(bytes)));
    const outcome = await upload(client, { sizeBytes: bytes.length, open });
    expect(outcome).toMatchObject({
      kind: 'unknown',
      platformMessage: expect.stringContaining('no answer came in time'),
    });
  });

  it('of a file that is not as long as it was throws, and sends no whole file', async () => {
    const { platform, client } = await platformAndClient();
    await expect(upload(client, { sizeBytes: BYTES.length + 1 })).rejects.toThrow(LengthMismatchError);
    await expect(upload(client, { sizeBytes: BYTES.length - 1 })).rejects.toThrow(LengthMismatchError);
    expect(platform.uploads).toHaveLength(0);
  });

  it('of a file that can not be opened throws what the opener threw', async () => {
    const { client } = await platformAndClient();
    const error = new Error('gone');
    await expect(upload(client, { open: () => Promise.reject(error) })).rejects.toBe(error);
  });

  it('stops at the caller’s wish', async () => {
    const { platform, client } = await platformAndClient();
    platform.before = () => true;
    const stop = new AbortController();
    const outcome = upload(client, { signal: stop.signal });
    await waitFor(() => platform.asked.length === 1);
    stop.abort();
    expect(await outcome).toMatchObject({
      kind: 'unknown',
      platformMessage: expect.stringContaining('the connection broke'),
    });
  });

  it('shares the caller’s wish with many others', async () => {
    const { platform, client } = await platformAndClient();
    platform.before = () => true;
    const stop = new AbortController();
    const outcomes = Array.from({ length: 12 }, () => upload(client, { signal: stop.signal }));
    await waitFor(() => platform.asked.length === 12);
    // Node reports more listeners than the limit as a leak.
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(12);
    expect(getMaxListeners(stop.signal)).toBe(Infinity);
    stop.abort();
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ kind: 'unknown' });
  });

  it.each(['', 'a b', 'tökén', 'a\r\nx: y'])('with the token %j is none', async (token) => {
    const { platform, client } = await platformAndClient();
    expect(await upload(client, { token })).toMatchObject({ kind: 'lane_paused', written: false });
    expect(platform.asked).toEqual([]);
  });

  it('never repeats the token in what it says', async () => {
    const { platform, client } = await platformAndClient();
    platform.before = async (request, response) => {
      await bodyOf(request);
      sendJson(response, 401, refusal(190, { message: `Malformed access token ${TOKEN}` }));
      return true;
    };
    const outcome = await upload(client);
    expect(outcome).toMatchObject({ platformMessage: 'Malformed access token [token]' });
    expect(JSON.stringify(outcome)).not.toContain(TOKEN);
  });

  it('says no type that could end the header', async () => {
    const { platform, client } = await platformAndClient();
    await upload(client, { mimeType: 'image/jpeg\r\nx-evil: 1' });
    expect(platform.uploads[0]?.type).toBe('application/octet-stream');
  });
});

describe('a description', () => {
  it('returns the file’s address and type', async () => {
    const { platform, client } = await platformAndClient();
    const id = platform.add({ bytes: BYTES, mimeType: 'image/png' });
    const asked = { mediaId: id, phoneNumberId: '1', token: TOKEN };
    expect(await client.describeMedia(asked)).toEqual({
      ok: true,
      status: 200,
      body: {
        url: `${platform.url}/files/${id}`,
        mimeType: 'image/png',
        sha256: createHash('sha256').update(BYTES).digest('hex'),
        sizeBytes: BYTES.length,
      },
    });
  });

  it.each([
    ['without an address', { id: '1' }],
    ['with none that is an address', { id: '1', url: 'somewhere' }],
  ])('%s is none', async (_name, body) => {
    const { platform, client } = await platformAndClient();
    platform.before = (_request, response) => {
      sendJson(response, 200, body);
      return true;
    };
    const asked = { mediaId: '1', phoneNumberId: '1', token: TOKEN };
    expect(await client.describeMedia(asked)).toMatchObject({ ok: false, kind: 'unavailable' });
  });

  it('takes a size given as text, and leaves out what is missing', async () => {
    const { platform, client } = await platformAndClient();
    platform.before = (_request, response) => {
      sendJson(response, 200, { url: 'https://lookaside.fbsbx.com/a', file_size: '12' });
      return true;
    };
    const asked = { mediaId: '1', phoneNumberId: '1', token: TOKEN };
    expect(await client.describeMedia(asked)).toMatchObject({
      body: { sizeBytes: 12, sha256: null, mimeType: null },
    });
  });

  it('of an unknown file is a refusal', async () => {
    const { client } = await platformAndClient();
    const asked = { mediaId: '1', phoneNumberId: '1', token: TOKEN };
    expect(await client.describeMedia(asked)).toMatchObject({ ok: false, kind: 'rejected', code: 100, subcode: 33 });
  });
});

describe('a deletion', () => {
  it('names the file and its number', async () => {
    const { platform, client } = await platformAndClient();
    expect(await client.deleteMedia({ mediaId: '77', phoneNumberId: '1', token: TOKEN })).toMatchObject({ ok: true });
    expect(platform.deleted).toEqual(['77']);
  });
});

describe('a download', () => {
  it('brings the bytes, with the token asked for', async () => {
    const { platform, client } = await platformAndClient();
    const id = platform.add({ bytes: BYTES });
    const { bytes, ...exchange } = await download(client, `${platform.url}/files/${id}`);
    expect(exchange).toEqual({ kind: 'downloaded', sizeBytes: BYTES.length });
    expect(bytes.equals(BYTES)).toBe(true);
    expect(platform.tokens).toEqual([`Bearer ${TOKEN}`]);
  });

  it('reads no further than it may, whether the length was said or not', async () => {
    const { platform, client } = await platformAndClient();
    const id = platform.add({ bytes: BYTES });
    const said = await download(client, `${platform.url}/files/${id}`, { maxBytes: 1_000 });
    expect([said.kind, said.bytes.length]).toEqual(['too_large', 0]);
    platform.before = (_request, response) => {
      const drip = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(10_000)));
        if (!response.destroyed) response.once('drain', drip);
      };
      response.writeHead(200);
      drip();
      return true;
    };
    const unsaid = await download(client, `${platform.url}/files/${id}`, { maxBytes: 100_000 });
    expect(unsaid.kind).toBe('too_large');
    expect(unsaid.bytes.length).toBeLessThanOrEqual(100_000);
  });

  it.each([
    ['404', 404, { kind: 'refused', status: 404 }],
    ['401', 401, { kind: 'refused', status: 401 }],
    ['500', 500, { kind: 'refused', status: 500 }],
    ['204', 204, { kind: 'refused', status: 204 }],
    ['a part only', 206, { kind: 'refused', status: 206 }],
    ['a redirect to nowhere', 302, { kind: 'refused', status: 302 }],
  ])('answered with %s', async (_name, status, exchange) => {
    const { platform, client } = await platformAndClient();
    platform.before = (_request, response) => {
      response.writeHead(status).end();
      return true;
    };
    expect(await download(client, `${platform.url}/files/1`)).toMatchObject(exchange);
  });

  it('follows redirects within the platform, a few', async () => {
    const { platform, client } = await platformAndClient();
    const id = platform.add({ bytes: BYTES });
    let left = 3;
    platform.before = (_request, response) => {
      if (left-- <= 0) return false;
      response.writeHead(302, { location: `/files/${id}` }).end();
      return true;
    };
    expect(await download(client, `${platform.url}/elsewhere`)).toMatchObject({ kind: 'downloaded' });
    left = 4;
    expect(await download(client, `${platform.url}/elsewhere`)).toMatchObject({ kind: 'address' });
  });

  it.each([
    'https://evil.test/a',
    'http://lookaside.fbsbx.com/a',
    'file:///etc/passwd',
    'http://[::1]/a',
    '//evil.test/a',
  ])('follows none to %s', async (location) => {
    const { platform, client } = await platformAndClient();
    platform.before = (_request, response) => {
      response.writeHead(302, { location }).end();
      return true;
    };
    expect(await download(client, `${platform.url}/files/1`)).toMatchObject({ kind: 'address' });
  });

  it('sends the token to no other host, whatever the redirect', async () => {
    const { platform, client } = await platformAndClient();
    const other = await FakeMediaPlatform.start();
    closers.push(() => other.stop());
    other.add({ bytes: BYTES });
    platform.before = (_request, response) => {
      response.writeHead(307, { location: `${other.url}/files/1000` }).end();
      return true;
    };
    expect(await download(client, `${platform.url}/files/1`)).toMatchObject({ kind: 'address' });
    expect(await download(client, `${other.url}/files/1000`)).toMatchObject({ kind: 'address' });
    expect(other.asked).toEqual([]);
  });

  it('connects to no address of our own network behind a name of the platform', async () => {
    const asked: string[] = [];
    const { client } = await platformAndClient({
      lookup: (hostname, _options, callback) => {
        asked.push(hostname);
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    });
    expect(await download(client, 'https://lookaside.fbsbx.com/a')).toMatchObject({ kind: 'broken', code: 'EPRIVATE' });
    expect(asked).toEqual(['lookaside.fbsbx.com']);
  });

  it('that stops half way is broken off, also where it would have been whole', async () => {
    const { platform, client } = await platformAndClient({ idleTimeoutMs: 1_000 });
    let cut = (): void => undefined;
    platform.before = (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('half');
      cut = () => void response.destroy();
      return true;
    };
    const consume = (): Promise<void> => Promise.resolve(cut());
    expect(await download(client, `${platform.url}/cut`, { consume })).toMatchObject({ kind: 'broken' });
    expect(await download(client, `${platform.url}/silent`)).toMatchObject({
      kind: 'broken',
      code: 'UND_ERR_BODY_TIMEOUT',
    });
  });

  it('waits for who takes the bytes', async () => {
    const { platform, client } = await platformAndClient();
    const id = platform.add({ bytes: Buffer.alloc(3_000_000) });
    let atOnce = 0;
    let most = 0;
    const consume = async (): Promise<void> => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce--;
    };
    const exchange = await download(client, `${platform.url}/files/${id}`, { maxBytes: 3_000_000, consume });
    expect(exchange.kind).toBe('downloaded');
    expect(most).toBe(1);
  });

  it('throws what the taker throws, and reads no more', async () => {
    const { platform, client } = await platformAndClient();
    const id = platform.add({ bytes: BYTES });
    const error = new Error('the disk is full');
    const consume = () => Promise.reject(error);
    await expect(download(client, `${platform.url}/files/${id}`, { consume })).rejects.toBe(error);
  });

  it('stops at the caller’s wish and when the client is closed', async () => {
    const { platform, client } = await platformAndClient();
    platform.before = (_request, response) => {
      response.writeHead(200).write('x');
      return true;
    };
    const stop = new AbortController();
    const stopped = download(client, `${platform.url}/files/1`, { signal: stop.signal });
    const closed = download(client, `${platform.url}/files/2`);
    await waitFor(() => platform.asked.length === 2);
    stop.abort();
    expect(await stopped).toMatchObject({ kind: 'broken', code: 'CLOSED' });
    await client.close();
    expect(await closed).toMatchObject({ kind: 'broken', code: 'CLOSED' });
    expect(await download(client, `${platform.url}/files/3`)).toMatchObject({ kind: 'broken', code: 'CLOSED' });
  });
});

async function* chunks(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

async function whole(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

const FILE = { filename: 'file.jpg', mimeType: 'image/jpeg', sizeBytes: 8 };

describe('a multipart body', () => {
  it('reads as its fields and its file, and is as long as it says', async () => {
    const multipart = multipartAround(
      { ...FILE, open: () => Promise.resolve(chunks('abc', 'defgh')) },
      { failure: null },
    );
    const body = await whole(multipart.chunks);
    expect(body).toHaveLength(multipart.contentLength);
    const form = await new Response(new Uint8Array(body), {
      headers: { 'content-type': multipart.contentType },
    }).formData();
    expect([form.get('messaging_product'), form.get('type')]).toEqual(['whatsapp', 'image/jpeg']);
    const file = form.get('file') as File;
    expect([file.name, file.type, await file.text()]).toEqual(['file.jpg', 'image/jpeg', 'abcdefgh']);
  });

  it('lets no name leave its quotes', async () => {
    const file = { ...FILE, filename: 'a"\r\nx: y.jpg', open: () => Promise.resolve(chunks()) };
    const head = await multipartAround(file, { failure: null }).chunks.next();
    expect(String(head.value)).toContain('filename="a%22%0D%0Ax: y.jpg"');
  });

  it.each([
    ['shorter', ['abc']],
    ['longer', ['abcde', 'fghi']],
  ])('stops where the file is %s than it was said to be', async (_name, texts) => {
    const taken: Watched = { failure: null };
    const body = multipartAround({ ...FILE, open: () => Promise.resolve(chunks(...texts)) }, taken).chunks;
    await expect(whole(body)).rejects.toThrow(LengthMismatchError);
    expect(taken.failure?.error).toBeInstanceOf(LengthMismatchError);
  });

  it('opens the file only when it is its turn', async () => {
    let opened = 0;
    const open = (): Promise<AsyncIterable<Buffer>> => {
      opened += 1;
      return Promise.resolve(chunks('abcdefgh'));
    };
    const body = multipartAround({ ...FILE, open }, { failure: null }).chunks;
    await body.next();
    expect(opened).toBe(0);
    await body.next();
    expect(opened).toBe(1);
  });
});
