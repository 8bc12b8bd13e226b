import { createHash } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';
import { request } from 'undici';
import {
  PHONE_NUMBER_ID,
  SECOND_PHONE_NUMBER_ID,
  type SimulatorRig,
  startRig,
} from '../../../test/support/simulator/simulator-rig.js';
import { waitFor } from '../../../test/support/wait-for.js';

interface Media {
  id: string;
  mime_type: string;
  sha256: string;
  url: string;
  filename?: string;
  voice?: boolean;
  animated?: boolean;
  caption?: string;
}

describe("a customer's file", () => {
  let rig: SimulatorRig;

  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig.stop());
  afterEach(() => {
    rig.receiver.requests.length = 0;
  });

  const inbound = (body: object) =>
    rig.client.control('POST', 'inbound', { phone_number_id: PHONE_NUMBER_ID, from: '4915112345678', ...body });
  const received = async (body: object) => {
    const answer = await inbound(body);
    if (answer.status !== 200) throw new Error(answer.text);
    await rig.receiver.until('the message', () => rig.receiver.messages().length === 1);
    return rig.receiver.messages()[0] as Record<string, unknown> & { type: string };
  };
  const mediaOf = (message: Record<string, unknown> & { type: string }) => message[message.type] as Media;
  const fetched = async (url: string) => {
    const response = await request(url, { headers: { authorization: 'Bearer token' } });
    return { status: response.statusCode, bytes: Buffer.from(await response.body.arrayBuffer()) };
  };
  const checksum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64');

  it.each<[string, string, Partial<Media>]>([
    ['image', 'image/jpeg', {}],
    ['video', 'video/mp4', {}],
    ['audio', 'audio/ogg; codecs=opus', { voice: true }],
    ['document', 'application/pdf', { filename: 'document.pdf' }],
    ['sticker', 'image/webp', { animated: false }],
  ])('that is a %s is a real one, of a type that its bytes have', async (type, mimeType, extras) => {
    const media = mediaOf(await received({ message: { type, [type]: {} } }));
    expect(media).toEqual({
      id: expect.stringMatching(/^\d{16}$/),
      mime_type: mimeType,
      sha256: expect.any(String),
      url: expect.stringContaining('source=webhook'),
      ...extras,
    });
    const { bytes } = await fetched(media.url);
    expect((await fileTypeFromBuffer(bytes))?.mime).toBe(mimeType);
    expect(checksum(bytes)).toBe(media.sha256);
    const { json } = await rig.client.call('GET', `/v26.0/${media.id}?phone_number_id=${PHONE_NUMBER_ID}`);
    expect(json).toMatchObject({ sha256: createHash('sha256').update(bytes).digest('hex'), file_size: bytes.length });
    expect((await fetched(String(json.url))).bytes).toEqual(bytes);
  });

  it('can be given, with a name, a caption and a type', async () => {
    const file = { base64: Buffer.from('a;b').toString('base64'), mime_type: 'text/csv', filename: 'a.csv' };
    const media = mediaOf(await received({ message: { type: 'document', document: { caption: 'See' } }, file }));
    expect(media).toMatchObject({ mime_type: 'text/csv', filename: 'a.csv', caption: 'See' });
    expect((await fetched(media.url)).bytes.toString()).toBe('a;b');
  });

  it('can be of any size', async () => {
    const media = mediaOf(await received({ message: { type: 'video' }, file: { size_bytes: 3_000_001 } }));
    const { bytes } = await fetched(media.url);
    expect([bytes.length, checksum(bytes)]).toEqual([3_000_001, media.sha256]);
    expect((await fileTypeFromBuffer(bytes))?.mime).toBe('video/mp4');
  });

  it('of more than 100 MiB is none: an error is in its place', async () => {
    const message = await received({ message: { type: 'video' }, file: { size_bytes: 101 * 1024 * 1024 } });
    expect(message).toMatchObject({ type: 'unsupported', errors: [{ code: 131052 }] });
    expect(message).not.toHaveProperty('video');
  });

  it('keeps a checksum that is given, be it wrong, and an id, without making a file', async () => {
    const files = async () => ((await rig.client.control('GET', 'media')).json.data as unknown[]).length;
    expect(mediaOf(await received({ message: { type: 'image', image: { sha256: 'x' } } })).sha256).toBe('x');
    const before = await files();
    rig.receiver.requests.length = 0;
    expect(mediaOf(await received({ message: { type: 'image', image: { id: '1003' } } }))).toEqual({ id: '1003' });
    expect(await files()).toBe(before);
  });

  it('loses its addresses, and its life, when that is asked for', async () => {
    const media = mediaOf(await received({ message: { type: 'image', image: {} } }));
    const expire = (what: string) => rig.client.control('POST', `media/${media.id}/expire`, { what });
    const current = async () => String((await rig.client.call('GET', `/v26.0/${media.id}`)).json.url);
    const old = await current();
    expect((await expire('addresses')).json).toMatchObject({ id: media.id, source: 'webhook' });
    expect([(await fetched(media.url)).status, (await fetched(old)).status]).toEqual([404, 404]);
    // Those that are made from the next millisecond on are good.
    const ended = Date.now();
    await waitFor(() => Date.now() > ended, { everyMs: 1 });
    const fresh = await current();
    expect((await fetched(fresh)).status).toBe(200);
    expect((await expire('all')).status).toBe(400);
    expect((await expire('file')).status).toBe(200);
    expect((await fetched(fresh)).status).toBe(404);
    expect((await rig.client.call('GET', `/v26.0/${media.id}`)).json.error?.error_subcode).toBe(33);
    expect((await expire('file')).status).toBe(404);
  });

  it.each<[string, object]>([
    ['a file that is none', { message: { type: 'image' }, file: 'x' }],
    ['bytes that are none', { message: { type: 'image' }, file: { base64: '?' } }],
    ['no bytes', { message: { type: 'image' }, file: { size_bytes: 0 } }],
  ])('with %s is refused', async (_, body) => {
    expect((await inbound(body)).status).toBe(400);
  });
});

describe("a customer's message that is marked as read", () => {
  let rig: SimulatorRig;

  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig.stop());

  const mark = (messageId: string, more: object = {}, from = PHONE_NUMBER_ID) =>
    rig.client.call('POST', `/v26.0/${from}/messages`, {
      messaging_product: 'whatsapp',
      status: 'read',
      message_id: messageId,
      ...more,
    });
  const listed = async () =>
    (await rig.client.control('GET', 'inbound')).json as unknown as { data: Record<string, unknown>[] };

  it('is shown as read, with how often and until when typing was shown', async () => {
    const wrote = await rig.client.control('POST', 'inbound', {
      phone_number_id: PHONE_NUMBER_ID,
      from: '4915112345678',
    });
    const { id } = wrote.json as { id: string };
    expect((await listed()).data[0]).toMatchObject({
      id,
      from: '4915112345678',
      read_at: null,
      reads: 0,
      typing_until: null,
    });
    expect(await mark(id)).toMatchObject({ status: 200, json: { success: true } });
    const [read] = (await listed()).data;
    expect(read).toMatchObject({ id, read_at: expect.any(String) as string, reads: 1, typing_until: null });
    expect((await mark(id, { typing_indicator: { type: 'text' } })).status).toBe(200);
    expect((await listed()).data[0]).toMatchObject({
      read_at: read?.read_at,
      reads: 2,
      typing_until: expect.any(String) as string,
    });
    for (const [messageId, from, more] of [
      ['wamid.unknown', PHONE_NUMBER_ID, {}],
      [id, SECOND_PHONE_NUMBER_ID, {}],
      [id, PHONE_NUMBER_ID, { typing_indicator: { type: 'voice' } }],
    ] as const) {
      expect(await mark(messageId, more, from)).toMatchObject({ status: 400, json: { error: { code: 100 } } });
    }
    expect((await listed()).data[0]?.reads).toBe(2);
  });
});
