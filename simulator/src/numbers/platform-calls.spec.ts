import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GraphAnswer } from '../../../test/support/simulator/simulator-client.js';
import {
  PHONE_NUMBER_ID,
  type SimulatorRig,
  startRig,
  WABA_ID,
} from '../../../test/support/simulator/simulator-rig.js';

const NUMBER = `/v26.0/${PHONE_NUMBER_ID}`;
const CUSTOMER = '4915112345678';
const PRODUCT = { messaging_product: 'whatsapp' };
const SUCCESS = [200, { success: true }];

describe('the platform’s calls about numbers and accounts', () => {
  let rig: SimulatorRig;

  beforeEach(async () => {
    rig = await startRig({ templateReviewMs: 20 });
  });
  afterEach(() => rig.stop());

  const post = (path: string, body: object = {}) => rig.client.call('POST', path, body);
  const get = async (path: string) => (await rig.client.call('GET', path)).json;
  const answer = ({ status, json }: GraphAnswer) => [status, json];
  const code = ({ status, json }: GraphAnswer) => [status, json.error?.code];
  const write = (message: unknown = 'Hello', from = CUSTOMER) =>
    rig.client.control('POST', 'inbound', { phone_number_id: PHONE_NUMBER_ID, from, message });
  const fieldsOf = (fields: string) => get(`${NUMBER}?fields=${fields}`);

  describe('registering', () => {
    const register = (pin: string) => post(`${NUMBER}/register`, { ...PRODUCT, pin });

    it('takes a number away, and back with its PIN', async () => {
      expect(answer(await register('123456'))).toEqual(SUCCESS);
      expect(answer(await post(`${NUMBER}/deregister`))).toEqual(SUCCESS);
      expect(code(await rig.client.send({ to: `+${CUSTOMER}` }))).toEqual([400, 133010]);
      expect(code(await register('654321'))).toEqual([400, 133005]);
      expect(answer(await register('123456'))).toEqual(SUCCESS);
      expect((await rig.client.send({ to: `+${CUSTOMER}` })).status).toBe(200);
      expect(await fieldsOf('status,is_pin_enabled')).toEqual({
        id: PHONE_NUMBER_ID,
        status: 'CONNECTED',
        is_pin_enabled: true,
      });
    });

    it.each<[string, object]>([
      ['no product', { pin: '123456' }],
      ['no PIN', PRODUCT],
      ['a short PIN', { ...PRODUCT, pin: '123' }],
      ['a region that is none', { ...PRODUCT, pin: '123456', data_localization_region: 'b1' }],
    ])('is refused with %s', async (_, body) => {
      expect(code(await post(`${NUMBER}/register`, body))).toEqual([400, 100]);
    });

    it('is refused after ten attempts', async () => {
      for (let i = 0; i < 10; i++) await register('123456');
      expect(code(await register('123456'))).toEqual([400, 133016]);
    });

    it('needs a verified number; the code is what the control call shows', async () => {
      await rig.client.control('POST', `numbers/${PHONE_NUMBER_ID}`, {
        status: 'UNVERIFIED',
        code_verification_status: 'NOT_VERIFIED',
        notify: false,
      });
      expect(code(await register('123456'))).toEqual([400, 133006]);
      const ask = { code_method: 'SMS', language: 'en_US' };
      expect(code(await post(`${NUMBER}/request_code`, { ...ask, code_method: 'PIGEON' }))).toEqual([400, 100]);
      expect(answer(await post(`${NUMBER}/request_code`, ask))).toEqual(SUCCESS);
      const { json } = await rig.client.control('GET', `numbers/${PHONE_NUMBER_ID}`);
      expect(code(await post(`${NUMBER}/verify_code`, { code: '1' }))).toEqual([400, 136025]);
      expect(answer(await post(`${NUMBER}/verify_code`, { code: json.verification_code }))).toEqual(SUCCESS);
      expect(answer(await register('123456'))).toEqual(SUCCESS);
      expect(code(await post(`${NUMBER}/request_code`, ask))).toEqual([400, 136024]);
    });
  });

  it('keep a PIN, a new name and an address of a webhook', async () => {
    expect(code(await post(NUMBER))).toEqual([400, 100]);
    const webhook = { override_callback_uri: 'https://example.com/hook', verify_token: 't' };
    const changes = { pin: '111111', new_display_name: 'Lucky Shrub', webhook_configuration: webhook };
    expect(answer(await post(NUMBER, changes))).toEqual(SUCCESS);
    expect(await fieldsOf('new_display_name,new_name_status,webhook_configuration{phone_number}')).toEqual({
      id: PHONE_NUMBER_ID,
      new_display_name: 'Lucky Shrub',
      new_name_status: 'PENDING_REVIEW',
      webhook_configuration: { phone_number: 'https://example.com/hook' },
    });
  });

  it('keep settings, each part by itself', async () => {
    const settings = `${NUMBER}/settings`;
    expect(code(await post(settings, { unknown: {} }))).toEqual([400, 100]);
    expect(code(await post(settings, { calling: { status: 'MAYBE' } }))).toEqual([400, 100]);
    expect(answer(await post(settings, { calling: { status: 'enabled' } }))).toEqual(SUCCESS);
    expect(await get(settings)).toMatchObject({
      calling: { status: 'ENABLED', call_icon_visibility: 'DEFAULT' },
      payload_encryption: { status: 'DISABLED' },
    });
  });

  it('keep the conversational automation, which is a field too', async () => {
    const path = `${NUMBER}/conversational_automation`;
    const commands = [{ command_name: 'help', command_description: 'Get help' }];
    expect(answer(await post(path, { prompts: ['Where is it?'], commands }))).toEqual(SUCCESS);
    expect(answer(await post(path, { enable_welcome_message: true }))).toEqual(SUCCESS);
    const automation = { enable_welcome_message: true, prompts: ['Where is it?'], commands, id: PHONE_NUMBER_ID };
    expect((await fieldsOf('conversational_automation')).conversational_automation).toEqual(automation);
    expect(code(await post(path, { prompts: ['a', 'b', 'c', 'd', 'e'] }))).toEqual([400, 100]);
  });

  it('keep a 2048-bit RSA key, and no other', async () => {
    const path = `${NUMBER}/whatsapp_business_encryption`;
    const pem = (bits: number) =>
      generateKeyPairSync('rsa', {
        modulusLength: bits,
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      }).publicKey;
    expect(await get(path)).toEqual({ data: [] });
    expect(code(await post(path, { business_public_key: pem(1024) }))).toEqual([400, 100]);
    const key = pem(2048);
    expect(answer(await post(path, { business_public_key: key }))).toEqual(SUCCESS);
    expect(await get(path)).toEqual({
      data: [{ business_public_key: key, business_public_key_signature_status: 'VALID' }],
    });
  });

  it('block who wrote within a day, both ways, until they are unblocked', async () => {
    const path = `${NUMBER}/block_users`;
    const block = (...users: string[]) => ({ ...PRODUCT, block_users: users.map((user) => ({ user })) });
    await write();
    const mixed = await post(path, block(`+${CUSTOMER}`, '+4915100000000'));
    expect([mixed.status, mixed.json.error?.code]).toEqual([400, 139100]);
    expect(mixed.json.block_users).toMatchObject({
      added_users: [{ input: `+${CUSTOMER}`, wa_id: CUSTOMER }],
      failed_users: [{ wa_id: '4915100000000', errors: [{ code: 131047 }] }],
    });
    expect(await get(path)).toMatchObject({ data: [{ messaging_product: 'whatsapp', wa_id: CUSTOMER }] });
    expect(code(await rig.client.send({ to: `+${CUSTOMER}` }))).toEqual([400, 130403]);
    expect((await write()).status).toBe(400);
    const unblocked = await rig.client.call('DELETE', path, block(CUSTOMER));
    expect(unblocked.json).toMatchObject({ block_users: { removed_users: [{ wa_id: CUSTOMER }] } });
    expect((await rig.client.send({ to: `+${CUSTOMER}` })).status).toBe(200);
  });

  it('keep QR codes', async () => {
    const path = `${NUMBER}/message_qrdls`;
    expect(code(await post(path, { generate_qr_image: 'PNG' }))).toEqual([400, 100]);
    const { json: made } = await post(path, { prefilled_message: 'Hello', generate_qr_image: 'PNG' });
    expect(made).toMatchObject({ code: expect.stringMatching(/^[A-Z\d]{14}$/), prefilled_message: 'Hello' });
    expect(made.deep_link_url).toBe(`https://wa.me/message/${String(made.code)}`);
    expect(made.qr_image_url).toMatch(/\.png\?/);
    const one = `${path}/${String(made.code)}`;
    expect((await post(path, { code: made.code, prefilled_message: 'Bye' })).json.prefilled_message).toBe('Bye');
    expect(await get(one)).toMatchObject({ data: [{ prefilled_message: 'Bye' }] });
    expect((await get(`${path}?fields=code,qr_image_url.format(SVG)`)).data).toMatchObject([
      { qr_image_url: expect.stringContaining('.svg?') },
    ]);
    expect(answer(await rig.client.call('DELETE', one))).toEqual(SUCCESS);
    expect(code(await rig.client.call('GET', one))).toEqual([400, 100]);
  });

  it('call whom a customer’s answer permits to be called, once calling is on', async () => {
    const connect = { ...PRODUCT, to: `+${CUSTOMER}`, action: 'connect', session: { sdp_type: 'offer', sdp: 'v=0' } };
    const permission = async () =>
      ((await get(`${NUMBER}/call_permissions?user_wa_id=${CUSTOMER}`)).permission as { status: string }).status;
    expect(code(await post(`${NUMBER}/calls`, connect))).toEqual([400, 138000]);
    await post(`${NUMBER}/settings`, { calling: { status: 'ENABLED' } });
    expect([await permission(), ...code(await post(`${NUMBER}/calls`, connect))]).toEqual([
      'no_permission',
      400,
      138006,
    ]);
    const reply = (response: string) => ({
      type: 'interactive',
      interactive: {
        type: 'call_permission_reply',
        call_permission_reply: { response, response_source: 'user_action' },
      },
    });
    await write(reply('accept'));
    expect(await permission()).toBe('temporary');
    expect((await post(`${NUMBER}/calls`, connect)).json).toMatchObject({
      calls: [{ id: expect.stringMatching(/^wacid\./) }],
    });
    expect(code(await post(`${NUMBER}/calls`, { ...PRODUCT, action: 'accept', call_id: 'wacid.x' }))).toEqual([
      400, 100,
    ]);
    await write(reply('reject'));
    expect(await permission()).toBe('no_permission');
  });

  it('send marketing templates alone over marketing_messages', async () => {
    const template = { name: 'order_update', language: { code: 'en_US' }, components: [body('Ana', '4711')] };
    const message = { ...PRODUCT, to: `+${CUSTOMER}`, type: 'template', template };
    expect(code(await post(`${NUMBER}/marketing_messages`, message))).toEqual([400, 131055]);
    const draft = {
      name: 'sale',
      language: 'en_US',
      category: 'MARKETING',
      components: [{ type: 'BODY', text: 'Sale.' }],
    };
    const { json } = await post(`/v26.0/${WABA_ID}/message_templates`, draft);
    await rig.client.control('POST', `templates/${String(json.id)}/review`, { event: 'APPROVED' });
    const sale = { ...message, template: { name: 'sale', language: { code: 'en_US' } }, product_policy: 'STRICT' };
    const taken = await post(`${NUMBER}/marketing_messages`, sale);
    expect(taken.json.messages).toMatchObject([{ message_status: 'accepted' }]);
  });

  it('read an account with whatever is asked for, nested', async () => {
    const fields = [
      'name',
      'currency',
      'health_status{can_send_message,entities{entity_type}}',
      'phone_numbers.limit(1){id,throughput{level}}',
      'message_templates{name,status}',
      'subscribed_apps',
    ];
    expect(await get(`/v26.0/${WABA_ID}?fields=${fields.join(',')}`)).toMatchObject({
      id: WABA_ID,
      currency: 'USD',
      health_status: {
        can_send_message: 'AVAILABLE',
        entities: [{ entity_type: 'WABA' }, { entity_type: 'BUSINESS' }, { entity_type: 'APP' }],
      },
      phone_numbers: { data: [{ id: PHONE_NUMBER_ID, throughput: { level: 'STANDARD' } }] },
      message_templates: {
        data: expect.arrayContaining([expect.objectContaining({ name: 'hello_world', status: 'APPROVED' })]),
      },
      subscribed_apps: { data: [expect.anything()] },
    });
  });

  it.each<[string, number, number]>([
    [`${NUMBER}?fields=nonsense`, 400, 100],
    [`/v26.0/${WABA_ID}?fields=phone_numbers{nonsense}`, 400, 100],
    [`${NUMBER}?fields=id{`, 400, 2500],
    [`${NUMBER}?fields=id,,status`, 400, 2500],
    [`${NUMBER}/messages/wamid.x`, 400, 2500],
    [`${NUMBER}/groups`, 404, 100],
  ])('refuse %s as the platform does', async (path, status, expected) => {
    expect(code(await rig.client.call('GET', path))).toEqual([status, expected]);
  });

  it('show every documented field of a number', async () => {
    await rig.client.control('POST', `numbers/${PHONE_NUMBER_ID}`, { status: 'FLAGGED', notify: false });
    await post(`${NUMBER}/whatsapp_business_profile`, { ...PRODUCT, about: 'Plants' });
    expect(await fieldsOf('username,quality_score,health_status,whatsapp_business_profile{about}')).toMatchObject({
      quality_score: { score: 'GREEN' },
      health_status: { can_send_message: 'LIMITED' },
      whatsapp_business_profile: { data: [{ about: 'Plants', messaging_product: 'whatsapp' }] },
    });
  });

  it('take flows from draft to published to deprecated, and tell the webhook', async () => {
    const path = `/v26.0/${WABA_ID}/flows`;
    const json = JSON.stringify({ version: '7.0', screens: [{ id: 'A' }] });
    const { json: made } = await post(path, { name: 'sign up', categories: ['SIGN_UP'] });
    expect(made).toMatchObject({ success: true, validation_errors: [{ error: 'INVALID_FLOW_JSON' }] });
    const flow = `/v26.0/${String(made.id)}`;
    expect(code(await post(`${flow}/publish`))).toEqual([400, 139002]);
    expect(code(await post(path, { name: 'sign up' }))).toEqual([400, 100]);
    const form = new FormData();
    for (const [name, value] of [
      ['name', 'flow.json'],
      ['asset_type', 'FLOW_JSON'],
    ] as const)
      form.set(name, value);
    form.set('file', new Blob([json], { type: 'application/json' }), 'flow.json');
    const headers = { authorization: 'Bearer token' };
    const uploaded = await fetch(`${rig.url}${flow}/assets`, { method: 'POST', headers, body: form });
    expect(await uploaded.json()).toEqual({ success: true, validation_errors: [] });
    const { data } = (await get(`${flow}/assets`)) as unknown as { data: { download_url: string }[] };
    expect(await (await fetch(data[0]?.download_url ?? '', { headers })).json()).toEqual(JSON.parse(json));
    expect(code(await post(`${flow}/deprecate`))).toEqual([400, 139003]);
    expect(answer(await post(`${flow}/publish`))).toEqual(SUCCESS);
    expect(code(await post(flow, { name: 'other' }))).toEqual([400, 139001]);
    expect(code(await rig.client.call('DELETE', flow))).toEqual([400, 139004]);
    expect(answer(await post(`${flow}/deprecate`))).toEqual(SUCCESS);
    expect(await get(`${path}?fields=status,json_version`)).toMatchObject({
      data: [{ id: made.id, status: 'DEPRECATED', json_version: '7.0' }],
    });
    const events = () =>
      rig.receiver.requests.flatMap(({ body: sent }) => sent.entry.flatMap(({ changes }) => changes));
    await rig.receiver.until('both changes', () => events().filter(({ field }) => field === 'flows').length === 2);
  });

  it('publish a flow at once, and delete a draft', async () => {
    const flow = { name: 'a', flow_json: '{"version":"7.0","screens":[{}]}', publish: true };
    const { json } = await post(`/v26.0/${WABA_ID}/flows`, flow);
    expect((await get(`/v26.0/${String(json.id)}`)).status).toBe('PUBLISHED');
    const { json: copy } = await post(`/v26.0/${WABA_ID}/flows`, { name: 'b', clone_flow_id: json.id });
    expect(answer(await rig.client.call('DELETE', `/v26.0/${String(copy.id)}`))).toEqual(SUCCESS);
    expect(code(await rig.client.call('GET', `/v26.0/${String(copy.id)}`))).toEqual([400, 100]);
  });

  it('bring numbers back with a reset, which is announced', async () => {
    await rig.client.control('POST', `numbers/${PHONE_NUMBER_ID}`, {
      status: 'BANNED',
      quality_rating: 'RED',
      verified_name: 'Other',
      notify: false,
    });
    await post(`${NUMBER}/settings`, { calling: { status: 'ENABLED' } });
    await rig.client.control('POST', 'reset');
    expect(await fieldsOf('status,quality_rating')).toMatchObject({ status: 'CONNECTED', quality_rating: 'GREEN' });
    expect(await get(`${NUMBER}/settings`)).toMatchObject({ calling: { status: 'DISABLED' } });
    const changes = () =>
      rig.receiver.requests.flatMap(({ body: sent }) => sent.entry.flatMap((entry) => entry.changes));
    await rig.receiver.until('what has changed', () => changes().length === 2);
    expect(changes().map(({ field, value }) => [field, (value as { event?: string }).event])).toEqual([
      ['account_update', 'DISABLED_UPDATE'],
      ['phone_number_name_update', undefined],
    ]);
    await rig.client.control('POST', 'reset');
    expect((await rig.client.control('GET', 'count')).json).toMatchObject({ notifications: { pending: 0 } });
  });
});

it('gives an app tokens, which are accepted although only some were named', async () => {
  const rig = await startRig({ accessTokens: ['token'], appSecret: 'the-secret' });
  try {
    const ask = async (query: string) =>
      (await (await fetch(`${rig.url}/oauth/access_token?${query}`)).json()) as {
        access_token?: string;
        error?: { code: number };
      };
    const app = 'client_id=670843887433847';
    expect((await ask('grant_type=client_credentials')).error?.code).toBe(101);
    expect((await ask('client_id=1&client_secret=the-secret')).error?.code).toBe(101);
    expect((await ask(`${app}&client_secret=wrong&grant_type=client_credentials`)).error?.code).toBe(1);
    expect((await ask(`${app}&client_secret=the-secret`)).error?.code).toBe(100);
    for (const grant of [
      'grant_type=client_credentials',
      'code=AQ',
      'grant_type=fb_exchange_token&fb_exchange_token=t',
    ]) {
      const { access_token: token } = await ask(`${app}&client_secret=the-secret&${grant}`);
      const read = await fetch(`${rig.url}${NUMBER}`, { headers: { authorization: `Bearer ${token}` } });
      expect(read.status).toBe(200);
    }
    expect((await fetch(`${rig.url}${NUMBER}`, { headers: { authorization: 'Bearer other' } })).status).toBe(401);
  } finally {
    await rig.stop();
  }
});

it('sends a bare number as it is, where it is set so', async () => {
  const rig = await startRig({ bareNumbers: 'as-is' });
  try {
    const { json } = await rig.client.send({ to: CUSTOMER });
    expect(json.contacts).toEqual([{ input: CUSTOMER, wa_id: CUSTOMER }]);
  } finally {
    await rig.stop();
  }
});

it('keeps all of it over a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'herald-simulator-'));
  try {
    const first = await startRig({ dataDir });
    await first.client.call('POST', `${NUMBER}/settings`, { calling: { status: 'ENABLED' } });
    await first.client.call('POST', `${NUMBER}/message_qrdls`, { prefilled_message: 'Hi' });
    const { json } = await first.client.call('POST', `/v26.0/${WABA_ID}/flows`, { name: 'a' });
    await first.stop();
    const second = await startRig({ dataDir });
    const read = async (path: string) => (await second.client.call('GET', path)).json;
    expect(await read(`${NUMBER}/settings`)).toMatchObject({ calling: { status: 'ENABLED' } });
    expect((await read(`${NUMBER}/message_qrdls`)).data).toHaveLength(1);
    expect((await read(`/v26.0/${String(json.id)}`)).name).toBe('a');
    await second.stop();
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

const body = (...texts: string[]) => ({ type: 'body', parameters: texts.map((text) => ({ type: 'text', text })) });
