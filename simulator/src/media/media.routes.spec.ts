import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// Not its `request`: with a form as body that sends nothing on Node 24.
import { fetch, FormData, request } from 'undici';
import type { GraphAnswer } from '../../../test/support/simulator/simulator-client.js';
import {
  PHONE_NUMBER_ID,
  SECOND_PHONE_NUMBER_ID,
  type SimulatorRig,
  startRig,
} from '../../../test/support/simulator/simulator-rig.js';

const TO = '+4915112345678';
const KIB = 1024;
const JPEG = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), randomBytes(2000)]);
const starting = (head: string | Buffer, bytes = 100) =>
  Buffer.concat([typeof head === 'string' ? Buffer.from(head, 'latin1') : head, Buffer.alloc(bytes)]);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('media', () => {
  let rig: SimulatorRig;

  beforeAll(async () => {
    rig = await startRig({ mediaAddressMs: 60_000 });
  });
  afterAll(() => rig.stop());
  afterEach(() => rig.client.control('POST', 'reset'));

  const upload = (bytes: Buffer, type: string, fields: Record<string, string> = {}, number = PHONE_NUMBER_ID) =>
    rig.client.upload(bytes, type, fields, number);
  const uploaded = async (bytes: Buffer, type: string, number = PHONE_NUMBER_ID) => {
    const answer = await upload(bytes, type, {}, number);
    if (answer.status !== 200) throw new Error(answer.text);
    return String(answer.json.id);
  };
  const get = (id: string, query = '') => rig.client.call('GET', `/v26.0/${id}${query}`);
  const download = async (url: string, token = 'token') => {
    const response = await request(url, { headers: token === '' ? {} : { authorization: `Bearer ${token}` } });
    return {
      status: response.statusCode,
      type: response.headers['content-type'],
      bytes: Buffer.from(await response.body.arrayBuffer()),
    };
  };
  const addressOf = async (id: string) => String((await get(id)).json.url);
  const codes = ({ status, json }: GraphAnswer) => [status, json.error?.code, json.error?.error_subcode];

  it('has an address at the proxy with TLS that stands in front', async () => {
    const id = await uploaded(JPEG, 'image/jpeg');
    const authorization = 'Bearer token';
    const urlFor = async (base: string, headers: Record<string, string>): Promise<string> => {
      const { body } = await request(`${base}/v26.0/${id}`, { headers: { authorization, ...headers } });
      return ((await body.json()) as { url: string }).url;
    };
    const { host } = new URL(rig.url);
    expect(await urlFor(rig.url, { 'x-forwarded-proto': 'https' })).toMatch(`https://${host}/whatsapp_business/`);
    const named = await startRig({ publicUrl: 'https://simulator.test' });
    try {
      const answer = await named.client.upload(JPEG, 'image/jpeg', {}, PHONE_NUMBER_ID);
      const { body } = await request(`${named.url}/v26.0/${String(answer.json.id)}`, {
        headers: { authorization, host: 'simulator.test' },
      });
      expect(await body.json()).toMatchObject({
        url: expect.stringMatching('^https://simulator.test/whatsapp_business/'),
      });
    } finally {
      await named.stop();
    }
  });

  it('is uploaded, looked up, downloaded and deleted', async () => {
    const id = await uploaded(JPEG, 'image/jpeg');
    expect(id).toMatch(/^\d{16}$/);
    const { json } = await get(id, `?phone_number_id=${PHONE_NUMBER_ID}`);
    expect(json).toEqual({
      messaging_product: 'whatsapp',
      url: expect.stringContaining(`${rig.url}/whatsapp_business/attachments/?mid=${id}`),
      mime_type: 'image/jpeg',
      sha256: sha256(JPEG),
      file_size: JPEG.length,
      id,
    });
    expect(await download(String(json.url))).toEqual({ status: 200, type: 'image/jpeg', bytes: JPEG });
    expect((await rig.client.call('DELETE', `/v26.0/${id}`)).json).toEqual({ success: true });
    expect(codes(await get(id))).toEqual([400, 100, 33]);
    expect((await download(String(json.url))).status).toBe(404);
  });

  it('comes from the form that undici makes, and with the type in a field only', async () => {
    const form = new FormData();
    form.set('messaging_product', 'whatsapp');
    form.set('file', new Blob([starting('%PDF-1.7')], { type: 'application/pdf' }), 'a "b".pdf');
    form.set('type', 'application/pdf');
    const response = await fetch(`${rig.url}/v26.0/${PHONE_NUMBER_ID}/media`, {
      method: 'POST',
      headers: { authorization: 'Bearer token' },
      body: form,
    });
    expect([response.status, await response.json()]).toEqual([200, { id: expect.any(String) }]);
  });

  it.each<[string, Buffer, string]>([
    ['a jpeg of 5 MiB', starting(Buffer.from([0xff, 0xd8, 0xff]), 5 * KIB * KIB - 3), 'image/jpeg'],
    ['a voice message', starting('OggS'), 'audio/ogg; codecs=opus'],
    ['a video', starting('\0\0\0\x18ftypmp42'), 'video/mp4'],
    ['a text', Buffer.from('Hello'), 'text/plain'],
    ['a sticker', starting('RIFF\0\0\0\0WEBPVP8 '), 'image/webp'],
    ['an animated sticker of 500 KiB', starting('RIFF\0\0\0\0WEBPVP8X\0\0\0\0\x02', 500 * KIB - 21), 'image/webp'],
  ])('takes %s', async (_, bytes, type) => {
    const { json } = await get(await uploaded(bytes, type));
    expect(json).toMatchObject({ mime_type: type, file_size: bytes.length, sha256: sha256(bytes) });
  });

  it.each<[string, Buffer, string, Record<string, string>]>([
    ['another type', Buffer.from('GIF89a'), 'image/gif', {}],
    ['a voice type that is no voice type', starting('OggS'), 'audio/opus', {}],
    ['another type in its field', JPEG, 'image/jpeg', { type: 'application/zip' }],
    ['no product', JPEG, 'image/jpeg', { messaging_product: '' }],
    ['nothing in it', Buffer.alloc(0), 'text/plain', {}],
    ['a byte beyond 5 MiB', starting(Buffer.from([0xff, 0xd8, 0xff]), 5 * KIB * KIB - 2), 'image/jpeg', {}],
    ['a sticker beyond 100 KiB', starting('RIFF\0\0\0\0WEBPVP8 ', 100 * KIB), 'image/webp', {}],
    ['a field beyond a kilobyte', JPEG, 'image/jpeg', { note: 'x'.repeat(1025) }],
  ])('with %s is refused, and nothing is kept', async (_, bytes, type, fields) => {
    const before = rig.simulator.media.all().length;
    const answer = await upload(bytes, type, fields);
    expect(codes(answer)).toEqual([400, 100, undefined]);
    expect(rig.simulator.media.all()).toHaveLength(before);
    expect(answer.json.error?.message).toMatch(/^\(#100\) (Param|The parameter)/);
  });

  it('survives types that no header can carry', async () => {
    const type = 'text/plain; note=\u{1F44D}\u0007';
    const { json } = await upload(Buffer.from('Hello'), 'text/plain', { type });
    const id = String(json.id);
    expect((await get(id)).json.mime_type).toBe(type);
    expect(await download(await addressOf(id))).toMatchObject({ status: 200, type: 'text/plain; note=???' });
    expect(codes(await upload(Buffer.from('x'), `text/plain; ${'x'.repeat(300)}`))[1]).toBe(100);
  });

  it('says which types it takes', async () => {
    const answer = await upload(Buffer.from('GIF89a'), 'image/gif');
    expect(answer.json.error?.message).toContain(
      'Param file must be a file with one of the following types: audio/aac',
    );
    expect(answer.json.error?.message).toContain("Received file of type 'image/gif'.");
  });

  it('without a file, or no form at all, is refused', async () => {
    const form = new FormData();
    form.set('messaging_product', 'whatsapp');
    for (const body of [form, '{}', '']) {
      const response = await fetch(`${rig.url}/v26.0/${PHONE_NUMBER_ID}/media`, {
        method: 'POST',
        headers: { authorization: 'Bearer token' },
        body,
      });
      expect(response.status).toBe(400);
      await response.arrayBuffer();
    }
  });

  it('belongs to the number that uploaded it', async () => {
    const id = await uploaded(JPEG, 'image/jpeg', SECOND_PHONE_NUMBER_ID);
    expect(codes(await get(id, `?phone_number_id=${PHONE_NUMBER_ID}`))).toEqual([400, 100, undefined]);
    expect(codes(await rig.client.send({ to: TO, type: 'image', image: { id } }))).toEqual([400, 131009, undefined]);
    expect((await rig.client.send({ to: TO, type: 'image', image: { id } }, SECOND_PHONE_NUMBER_ID)).status).toBe(200);
  });

  it('can be sent while it is there, wherever it is in a message', async () => {
    const id = await uploaded(JPEG, 'image/jpeg');
    const header = { type: 'image', image: { id } };
    const buttons = [{ type: 'reply', reply: { id: 'a', title: 'A' } }];
    const interactive = { type: 'button', header, body: { text: 'Well?' }, action: { buttons } };
    const send = () => rig.client.send({ to: TO, type: 'interactive', interactive });
    expect((await send()).status).toBe(200);
    await rig.client.call('DELETE', `/v26.0/${id}`);
    expect(codes(await send())).toEqual([400, 131009, undefined]);
    expect(codes(await rig.client.send({ to: TO, type: 'image', image: { id: '42' } }))[1]).toBe(131009);
    const example = { id: '1037543291543636' };
    expect((await rig.client.send({ to: TO, type: 'sticker', sticker: example })).status).toBe(200);
  });

  it.each<[string, string, Buffer, string]>([
    ['of another kind', 'video', JPEG, 'image/jpeg'],
    ['whose bytes are not what its type says', 'audio', starting('ID3'), 'audio/ogg'],
  ])('%s is taken, and fails with 131053 by notification', async (_, kind, bytes, type) => {
    const id = await rig.client.sendTaken({ to: TO, type: kind, [kind]: { id: await uploaded(bytes, type) } });
    await rig.receiver.until('its failure', () => rig.receiver.statuses(id).length > 0);
    expect(rig.receiver.statuses(id)).toMatchObject([{ status: 'failed', errors: [{ code: 131053 }] }]);
  });

  it('may travel as a document, whatever it is; a link that leads nowhere fails later', async () => {
    const image = await uploaded(JPEG, 'image/jpeg');
    const good = await rig.client.sendTaken({ to: TO, type: 'document', document: { id: image, filename: 'a.jpg' } });
    const link = 'https://files.invalid/a.jpg';
    const bad = await rig.client.sendTaken({ to: TO, type: 'image', image: { link } });
    const ended = (id: string, status: string) => rig.receiver.statuses(id).some((one) => one.status === status);
    await rig.receiver.until('both', () => ended(good, 'read') && ended(bad, 'failed'));
    expect(rig.receiver.statuses(bad)).toMatchObject([{ errors: [{ code: 131053 }] }]);
  });

  it('is given out for a good token only, the one of the call', async () => {
    const url = await addressOf(await uploaded(JPEG, 'image/jpeg'));
    expect((await download(url, '')).status).toBe(401);
    expect((await download(url, 'wrong')).status).toBe(401);
    expect((await download(url.replace(/hash=.{4}/, 'hash=AAAA'))).status).toBe(401);
    const open = await startRig({ accessTokens: null });
    const id = (await open.client.upload(JPEG, 'image/jpeg')).json.id as string;
    const its = String((await open.client.call('GET', `/v26.0/${id}`)).json.url);
    expect((await download(its, 'another')).status).toBe(401);
    expect((await download(its)).status).toBe(200);
    await open.stop();
  });

  it('has addresses that end, and new ones', async () => {
    const brief = await startRig({ mediaAddressMs: -1 });
    const id = (await brief.client.upload(JPEG, 'image/jpeg')).json.id as string;
    const { url } = (await brief.client.call('GET', `/v26.0/${id}`)).json;
    expect((await download(String(url))).status).toBe(404);
    await brief.stop();
  });

  it('fails to be downloaded as often as asked for, in three ways, and then comes', async () => {
    const url = await addressOf(await uploaded(JPEG, 'image/jpeg'));
    const faults = (body: object) => rig.client.control('POST', 'faults', body);
    await faults({ download_failures: 2 });
    expect([await download(url), await download(url), await download(url)].map(({ status }) => status)).toEqual([
      404, 404, 200,
    ]);
    await faults({ download_failures: 1, download_failure: 'server_error' });
    expect((await download(url)).status).toBe(500);
    await faults({ download_failures: 1, download_failure: 'cut' });
    await expect(download(url)).rejects.toThrow(/closed|terminated|reset/i);
    await faults({ download_wrong_bytes: 1 });
    const spoilt = await download(url);
    expect([spoilt.status, spoilt.bytes.length]).toEqual([200, JPEG.length]);
    expect(sha256(spoilt.bytes)).not.toBe(sha256(JPEG));
    expect((await download(url)).bytes).toEqual(JPEG);
    await faults({ download_latency_ms: 20, download_bytes_per_second: 1_000_000 });
    expect((await download(url)).bytes).toEqual(JPEG);
    expect((await faults({})).json).toMatchObject({ download_latency_ms: 20 });
  });

  it.each([{ download_latency_ms: 60_000 }, { download_bytes_per_second: 1 }])(
    'is slow where that is asked for with %j',
    async (slow) => {
      const own = await startRig();
      const media = (await own.client.upload(JPEG, 'image/jpeg')).json.id as string;
      const { url } = (await own.client.call('GET', `/v26.0/${media}`)).json;
      await own.client.control('POST', 'faults', slow);
      let ended = false;
      const end = (): void => void (ended = true);
      download(String(url)).then(end, end);
      // Other calls are answered meanwhile.
      for (let call = 0; call < 20; call++) expect((await own.client.upload(JPEG, 'image/jpeg')).status).toBe(200);
      expect(ended).toBe(false);
      await own.stop();
    },
  );

  it('fails to be uploaded as often as asked for', async () => {
    await rig.client.control('POST', 'faults', { upload_failures: 1 });
    expect(codes(await upload(JPEG, 'image/jpeg'))).toEqual([500, 131000, undefined]);
    expect((await upload(JPEG, 'image/jpeg')).status).toBe(200);
  });

  it('leaves no file behind when an upload breaks off, and outlives a restart', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'simulator-media-'));
    const first = await startRig({ dataDir });
    const kept = (await first.client.upload(JPEG, 'image/jpeg')).json.id as string;
    await first.client.upload(Buffer.from('GIF89a'), 'image/gif');
    const broken = first.client.uploadPieces(piecesOf(200_000, true), 'application/pdf');
    await expect(broken).rejects.toThrow(/./);
    await first.stop();
    const second = await startRig({ dataDir });
    expect(readdirSync(join(dataDir, 'media'))).toEqual([kept]);
    const { url } = (await second.client.call('GET', `/v26.0/${kept}`)).json;
    expect((await download(String(url))).bytes).toEqual(JPEG);
    await second.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
});

/** A PDF of some size, made as it is read; one that breaks off before its end. */
function* piecesOf(size: number, breaksOff = false): Generator<Buffer> {
  const piece = Buffer.alloc(64 * KIB, 'x');
  yield Buffer.from('%PDF-');
  for (let left = size - 5; left > 0; left -= piece.length) {
    if (breaksOff && left < size / 2) throw new Error('broken off');
    yield piece.subarray(0, left);
  }
}
