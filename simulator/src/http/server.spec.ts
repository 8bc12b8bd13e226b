import {
  PHONE_NUMBER_ID,
  SECOND_PHONE_NUMBER_ID,
  type SimulatorRig,
  startRig,
  WABA_ID,
} from '../../../test/support/simulator/simulator-rig.js';
import { type GraphAnswer, SimulatorClient } from '../../../test/support/simulator/simulator-client.js';

describe('the Graph API', () => {
  let rig: SimulatorRig;

  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig.stop());

  const get = (path: string) => rig.client.call('GET', path);

  it.each(['/v26.0', '/v21.0', '/v23.0', ''])('answers %s and says which version did', async (version) => {
    const answer = await get(`${version}/${PHONE_NUMBER_ID}`);
    expect(answer.status).toBe(200);
    expect(answer.headers['facebook-api-version']).toBe(version === '' ? 'v21.0' : version.slice(1));
    expect(answer.headers['x-fb-request-id']).toMatch(/^A\S{20,}$/);
    expect(answer.headers['x-fb-trace-id']).toMatch(/^A\S{20,}$/);
  });

  it('answers a version that has ended with the oldest living one', async () => {
    expect((await get(`/v18.0/${PHONE_NUMBER_ID}`)).headers['facebook-api-version']).toBe('v21.0');
  });

  it.each<[string, string, string, number, number, number | undefined]>([
    ['a version to come', 'GET', `/v99.0/${PHONE_NUMBER_ID}`, 400, 2500, undefined],
    ['no object at all', 'GET', '/v26.0', 400, 2500, undefined],
    ['an object that is not there', 'GET', '/v26.0/999', 400, 100, 33],
    ['an object that is not there, to send from', 'POST', '/v26.0/999/messages', 400, 100, 33],
    ['sending from an account instead of a number', 'POST', `/v26.0/${WABA_ID}/messages`, 400, 100, 33],
    ['an edge that is not there', 'GET', `/v26.0/${PHONE_NUMBER_ID}/nothing`, 404, 100, undefined],
    ['a field that is not there', 'GET', `/v26.0/${PHONE_NUMBER_ID}?fields=id,nothing`, 400, 100, undefined],
  ])('refuses %s', async (_, method, path, status, code, subcode) => {
    const answer = await rig.client.call(method, path, method === 'POST' ? {} : undefined);
    const { error } = answer.json;
    expect([answer.status, error?.code, error?.error_subcode]).toEqual([status, code, subcode]);
    expect(error).toMatchObject({ message: expect.stringMatching(/./), fbtrace_id: expect.stringMatching(/^A/) });
  });

  it.each([
    ['malformed JSON', '{"a":'],
    ['JSON that is no object', '[]'],
    ['an empty body', ''],
  ])('refuses %s with 100', async (_, body) => {
    const answer = await rig.client.call('POST', `/v26.0/${PHONE_NUMBER_ID}/messages`, body);
    expect([answer.status, answer.json.error?.code]).toEqual([400, 100]);
  });

  it.each([
    ['no token', undefined],
    ['a wrong token', 'wrong'],
  ])('refuses %s with 190 and 401', async (_, token) => {
    const stranger = new SimulatorClient(rig.url, PHONE_NUMBER_ID, token ?? '');
    const answer = await stranger.send({ to: '+4915112345678' });
    expect([answer.status, answer.json.error?.code]).toEqual([401, 190]);
    expect(answer.headers['www-authenticate']).toContain('OAuth');
  });

  it('takes the token in the query too', async () => {
    const stranger = new SimulatorClient(rig.url, PHONE_NUMBER_ID, '');
    expect((await stranger.call('GET', `/v26.0/${PHONE_NUMBER_ID}?access_token=token`)).status).toBe(200);
  });

  it('accepts any token where none is named', async () => {
    const open = await startRig({ accessTokens: null });
    const client = new SimulatorClient(open.url, PHONE_NUMBER_ID, 'whatever');
    expect((await client.send({ to: '+4915112345678' })).status).toBe(200);
    await open.stop();
  });

  it('takes a body that comes in many pieces', async () => {
    const text = { body: 'é'.repeat(4000) };
    const id = await rig.client.sendTaken({ to: '+4915112345678', type: 'text', text, filler: 'x'.repeat(300_000) });
    expect(rig.simulator.messages.list({}).find((message) => message.id === id)?.body).toMatchObject({ text });
  });

  it('refuses a body beyond 4 MiB', async () => {
    const answer = await rig.client.send({ to: '+4915112345678', filler: 'x'.repeat(4 * 1024 * 1024) });
    expect(answer.status).toBe(413);
  });

  it('refuses to mark as read what no customer sent', async () => {
    const answer = await rig.client.call('POST', `/v26.0/${PHONE_NUMBER_ID}/messages`, {
      messaging_product: 'whatsapp',
      status: 'read',
      message_id: 'wamid.unknown',
    });
    expect([answer.status, answer.json.error?.code]).toEqual([400, 100]);
  });

  it('shows a number, with the fields asked for', async () => {
    expect((await get(`/v26.0/${PHONE_NUMBER_ID}?fields=verified_name,status`)).json).toEqual({
      verified_name: 'Lucky Shrub',
      status: 'CONNECTED',
      id: PHONE_NUMBER_ID,
    });
    expect((await get(`/v26.0/${SECOND_PHONE_NUMBER_ID}?fields=country_code,country_dial_code`)).json).toMatchObject({
      country_code: 'DE',
      country_dial_code: '49',
    });
  });

  it('lists the numbers of an account', async () => {
    const { json } = await get(`/v26.0/${WABA_ID}/phone_numbers`);
    expect(json.data).toMatchObject([
      { id: PHONE_NUMBER_ID, quality_rating: 'GREEN', throughput: { level: 'STANDARD' } },
      { id: SECOND_PHONE_NUMBER_ID, platform_type: 'CLOUD_API' },
    ]);
    expect(json.paging).not.toHaveProperty('next');
  });

  it('lists templates 25 at a time, and `next` leads to the end', async () => {
    const { templates } = rig.simulator;
    const seeded = templates.ofAccount(WABA_ID);
    expect(seeded.map(({ name }) => name).sort()).toEqual(['hello_world', 'order_update']);
    for (let i = 0; i < 60; i++) {
      templates.put({ ...(seeded[0] as (typeof seeded)[0]), id: String(10_000 + i), name: `extra_${i}`, createdAt: 1 });
    }
    const names: string[] = [];
    const sizes: number[] = [];
    for (let path: string | undefined = `/v26.0/${WABA_ID}/message_templates?fields=name`; path !== undefined;) {
      const { json } = await get(path);
      const data = json.data as { name: string; id: string }[];
      sizes.push(data.length);
      names.push(...data.map(({ name }) => name));
      const next = (json.paging as { next?: string }).next;
      path = next === undefined ? undefined : next.slice(rig.url.length);
    }
    expect(sizes).toEqual([25, 25, 12]);
    expect(new Set(names).size).toBe(62);
    for (const { id } of templates.ofAccount(WABA_ID).filter(({ name }) => name.startsWith('extra_')))
      templates.remove(id);
  });

  it('narrows templates down, pages backwards, and refuses a cursor that is none', async () => {
    const path = `/v26.0/${WABA_ID}/message_templates`;
    const named = (answer: GraphAnswer) => (answer.json.data as { name: string }[]).map(({ name }) => name);
    expect(named(await get(`${path}?name=order`))).toEqual(['order_update']);
    expect(named(await get(`${path}?status=REJECTED`))).toEqual([]);
    expect(named(await get(`${path}?category=utility&language=en_US`))).toHaveLength(2);
    const first = await get(`${path}?limit=1`);
    const cursors = (first.json.paging as { cursors: { after: string } }).cursors;
    const second = await get(`${path}?limit=1&after=${encodeURIComponent(cursors.after)}`);
    const back = (second.json.paging as { previous: string; next?: string }).previous;
    expect(second.json.paging).not.toHaveProperty('next');
    expect(named(await get(back.slice(rig.url.length)))).toEqual(named(first));
    expect((await get(`${path}?after=bm90aGluZw==`)).json.error?.code).toBe(100);
    expect((await get(`${path}?limit=0`)).json.error?.code).toBe(100);
  });

  it('posts nothing about an account whose app does not want it', async () => {
    const path = `/v26.0/${WABA_ID}/subscribed_apps`;
    expect((await get(path)).json.data).toHaveLength(1);
    expect((await rig.client.call('DELETE', path)).json).toEqual({ success: true });
    expect((await get(path)).json.data).toEqual([]);
    const silent = await rig.client.sendTaken({ to: '+4915112345001' });
    await rig.client.control('POST', 'inbound', { phone_number_id: PHONE_NUMBER_ID, from: '4915112345001' });
    // Another account's message takes as long: once it is read, nothing is left to come for the silent one.
    rig.simulator.registerNumber({
      phoneNumberId: '777',
      wabaId: '888',
      displayPhoneNumber: '+1 650-555-0177',
      verifiedName: 'Another account',
    });
    const other = await rig.client.sendTaken({ to: '+4915112345001' }, '777');
    await rig.receiver.until('read', () => rig.receiver.statuses(other).length === 3);
    expect((await rig.client.call('POST', path)).json).toEqual({ success: true });
    const loud = await rig.client.sendTaken({ to: '+4915112345001' });
    await rig.receiver.until('read', () => rig.receiver.statuses(loud).length === 3);
    expect(rig.receiver.statuses(silent)).toEqual([]);
    expect(rig.receiver.messages()).toEqual([]);
  });
});
