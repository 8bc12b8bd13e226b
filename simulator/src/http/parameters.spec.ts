import { request } from 'undici';
import {
  PHONE_NUMBER_ID,
  type SimulatorRig,
  startRig,
  WABA_ID,
} from '../../../test/support/simulator/simulator-rig.js';

const CONTACTS = [{ name: { formatted_name: 'Ana' }, phones: [{ phone: '+4915112345678' }] }];
const COMPONENTS = [{ type: 'body', parameters: ['Ana', '4711'].map((text) => ({ type: 'text', text })) }];
const MESSAGES = `/v26.0/${PHONE_NUMBER_ID}/messages`;

describe('the parameters of a call', () => {
  let rig: SimulatorRig;

  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig.stop());

  interface Answer {
    status: number;
    json: Record<string, unknown> & { error?: { code: number; message: string; error_data?: { details: string } } };
  }
  async function call(path: string, type: string | null, body?: string | FormData, authorization = 'Bearer token') {
    const response = await fetch(`${rig.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...(authorization && { authorization }), ...(type !== null && { 'content-type': type }) },
      body,
    });
    return { status: response.status, json: await response.json() } as Answer;
  }
  const form = (values: Record<string, string>) => new URLSearchParams(values).toString();
  const parts = (values: Record<string, string>) => {
    const data = new FormData();
    for (const [name, value] of Object.entries(values)) data.set(name, value);
    return data;
  };
  const FORM = 'application/x-www-form-urlencoded';
  const JSON_TYPE = 'application/json';
  const text = { messaging_product: 'whatsapp', to: '+4915112345678', type: 'text', text: '{"body":"Hi"}' };

  it.each<[string, string, string | null, string | FormData]>([
    ['a form', MESSAGES, FORM, form(text)],
    ['a form of several parts', MESSAGES, null, parts(text)],
    ['the query alone', `${MESSAGES}?${form(text)}`, FORM, ''],
    [
      'the query and JSON',
      `${MESSAGES}?messaging_product=whatsapp`,
      JSON_TYPE,
      JSON.stringify({ to: text.to, text: { body: 'Hi' } }),
    ],
    [
      'JSON with JSON in a string',
      MESSAGES,
      JSON_TYPE,
      JSON.stringify({ ...text, type: 'contacts', contacts: JSON.stringify(CONTACTS) }),
    ],
    [
      'a template with its components in a string',
      MESSAGES,
      JSON_TYPE,
      JSON.stringify({
        ...text,
        type: 'template',
        template: { name: 'order_update', language: { code: 'en_US' }, components: JSON.stringify(COMPONENTS) },
      }),
    ],
  ])('come in %s', async (_, path, type, body) => {
    const { status, json } = await call(path, type, body);
    expect([status, json.error]).toEqual([200, undefined]);
  });

  it('are those of the body where the query says something else', async () => {
    const { json } = await call(
      `${MESSAGES}?to=nonsense`,
      JSON_TYPE,
      JSON.stringify({ ...text, text: { body: 'Hi' } }),
    );
    expect(json.contacts).toEqual([{ input: '+4915112345678', wa_id: '4915112345678' }]);
  });

  it('are kept as they are where they only look like JSON', async () => {
    const callback = '{"order":1}';
    await call(MESSAGES, FORM, form({ ...text, biz_opaque_callback_data: callback }));
    const [message] = rig.simulator.messages.list({ callback });
    expect(message?.body).toMatchObject({
      text: { body: 'Hi' },
      biz_opaque_callback_data: callback,
    });
  });

  it('never hold the token, which may stand in the body', async () => {
    const callback = 'with-token';
    const values = { ...text, biz_opaque_callback_data: callback, access_token: 'token' };
    for (const [type, body] of [
      [FORM, form(values)],
      [JSON_TYPE, JSON.stringify({ ...values, text: { body: 'Hi' } })],
    ] as const) {
      expect((await call(MESSAGES, type, body, '')).status).toBe(200);
    }
    const taken = rig.simulator.messages.list({ callback });
    expect(taken.map(({ body }) => 'access_token' in (body as object))).toEqual([false, false]);
    expect((await call(MESSAGES, FORM, form(text), '')).json.error?.code).toBe(190);
  });

  it.each<[string, string, string]>([
    ['a form that breaks off', 'multipart/form-data; boundary=XX', '--XX\r\nContent-Disposition: form-data; name="to"'],
    ['a form without a boundary', 'multipart/form-data', 'x'],
    ['JSON that breaks off', JSON_TYPE, '{"to":'],
    ['a list', JSON_TYPE, '[1]'],
  ])('are refused in %s', async (_, type, body) => {
    const { status, json } = await call(MESSAGES, type, body);
    expect([status, json.error?.code]).toEqual([400, 100]);
  });

  it('of a template may stand in a form', async () => {
    const components = JSON.stringify([{ type: 'BODY', text: 'All is well.' }]);
    const draft = { name: 'in_a_form', language: 'en_US', category: 'utility', components };
    const rest = { allow_category_change: 'true', message_send_ttl_seconds: '60' };
    const { json } = await call(`/v26.0/${WABA_ID}/message_templates`, FORM, form({ ...draft, ...rest }));
    expect(json).toMatchObject({ status: 'PENDING', category: 'UTILITY' });
    const { json: listed } = await call(
      `/v26.0/${WABA_ID}/message_templates?name=in_a_form&fields=message_send_ttl_seconds,components{type,text}`,
      null,
    );
    expect(listed.data).toEqual([
      { id: json.id, message_send_ttl_seconds: 60, components: [{ type: 'BODY', text: 'All is well.' }] },
    ]);
  });

  it('of an upload may stand in the query, and the type in the form overrides that of the file', async () => {
    const data = new FormData();
    data.set('type', 'text/plain');
    data.set('file', new Blob(['hello']), 'a.txt');
    const { json } = await call(`/v26.0/${PHONE_NUMBER_ID}/media?messaging_product=whatsapp`, null, data);
    expect((await call(`/v26.0/${String(json.id)}`, null)).json).toMatchObject({
      mime_type: 'text/plain',
      file_size: 5,
    });
  });

  it('are read under the names of the platform, and of no other', async () => {
    const status = async (host: string) =>
      (await request(`${rig.url}/v26.0/${PHONE_NUMBER_ID}`, { headers: { host, authorization: 'Bearer token' } }))
        .statusCode;
    expect([await status('graph.facebook.com'), await status('lookaside.fbsbx.com')]).toEqual([200, 200]);
    expect(await status('graph.facebook.com.example.com')).toBe(403);
  });
});
