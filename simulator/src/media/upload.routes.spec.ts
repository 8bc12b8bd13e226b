import { request } from 'undici';
import {
  PHONE_NUMBER_ID,
  type SimulatorRig,
  startRig,
  WABA_ID,
} from '../../../test/support/simulator/simulator-rig.js';

const APP = '670843887433847';

describe('a resumable upload', () => {
  let rig: SimulatorRig;

  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig.stop());

  const begin = (query: string, app = APP) => rig.client.call('POST', `/v26.0/${app}/uploads?${query}`, '');
  const session = async (length: number) =>
    String((await begin(`file_name=a.jpg&file_length=${length}&file_type=image/jpeg`)).json.id);
  const push = async (id: string, bytes: Buffer, offset: number | null = 0) => {
    const response = await request(`${rig.url}/v26.0/${id}`, {
      method: 'POST',
      headers: { authorization: 'OAuth token', ...(offset === null ? {} : { file_offset: String(offset) }) },
      body: bytes,
    });
    return { status: response.statusCode, json: (await response.body.json()) as Record<string, unknown> };
  };

  it('gives a handle, which a template and a profile take', async () => {
    const id = await session(1000);
    expect(id).toMatch(/^upload:[\w-]+\?sig=[\w-]+$/);
    const { status, json } = await push(id, Buffer.alloc(1000), null);
    expect([status, json]).toEqual([200, { h: expect.stringMatching(/^4::aW1hZ2UvanBlZw==:/) }]);
    const header = { type: 'HEADER', format: 'IMAGE', example: { header_handle: [json.h] } };
    const components = [header, { type: 'BODY', text: 'Look.' }];
    const template = { name: 'pictured', language: 'en_US', category: 'MARKETING', components };
    expect((await rig.client.call('POST', `/v26.0/${WABA_ID}/message_templates`, template)).status).toBe(200);
    const profile = { messaging_product: 'whatsapp', profile_picture_handle: json.h };
    const path = `/v26.0/${PHONE_NUMBER_ID}/whatsapp_business_profile`;
    expect((await rig.client.call('POST', path, profile)).status).toBe(200);
  });

  it('goes on where it stopped, and nowhere else', async () => {
    const id = await session(1000);
    expect((await push(id, Buffer.alloc(600))).json).toEqual({ id, file_offset: 600 });
    expect((await push(id, Buffer.alloc(400), 500)).status).toBe(400);
    expect((await rig.client.call('GET', `/v26.0/${id}`)).json).toEqual({ id, file_offset: 600 });
    expect((await push(id, Buffer.alloc(500), 600)).status).toBe(400);
    expect((await push(id, Buffer.alloc(400), 600)).json).toHaveProperty('h');
  });

  it.each<[string, string, string]>([
    ['another type', 'file_length=10&file_type=text/plain', APP],
    ['no type', 'file_length=10', APP],
    ['no length', 'file_type=image/png', APP],
    ['more than 100 MiB', 'file_length=104857601&file_type=image/png', APP],
    ['another app', 'file_length=10&file_type=image/png', '4711'],
  ])('for %s is refused', async (_, query, app) => {
    const answer = await begin(query, app);
    expect([answer.status, answer.json.error?.code]).toEqual([400, 100]);
  });

  it('of another signature, or that never was, is unknown', async () => {
    const id = await session(10);
    expect((await push(id.replace(/sig=.*/, 'sig=x'), Buffer.alloc(10))).status).toBe(400);
    expect((await push('upload:nothing', Buffer.alloc(10))).status).toBe(400);
  });
});
