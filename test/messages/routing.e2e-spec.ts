import type { ApiClient, ApiResponse } from '../support/api-client.js';
import { testPhone } from '../support/factories.js';
import { bytesOf, entries, notify, post, secondsNow } from '../inbound/fixture.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { eventsOf, followedWorkspace, sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
});

afterAll(() => test?.stop());

beforeEach(async () => {
  workspace = await followedWorkspace(test);
});

const events = (count: number, type?: string) => eventsOf(workspace, count, type);

const controlEvents = async (count: number) =>
  (await events(count, 'conversation.control.updated')).map(({ data }) => [
    data.previous_owner,
    data.owner,
    data.owner_role,
  ]);

async function conversationOf(phone: string, api: ApiClient = workspace.api) {
  return (await api.get(`/conversations?to=${phone}`)).body.data[0];
}

async function explanationOf(id: string): Promise<unknown> {
  const { body } = await workspace.api.get(`/messages/${id}/timeline`);
  return (body as unknown as { explanation: unknown }).explanation;
}

let made = 0;

/** One customer, as notifications of any kind name them. */
function customer(phone = testPhone()) {
  const { connection } = workspace;
  const metadata = { display_phone_number: connection.phoneNumber, phone_number_id: connection.phoneNumberId };
  const whatsapp = { messaging_product: 'whatsapp' };
  const change = (field: string, value: object) => entries([{ id: connection.wabaId, changes: [{ field, value }] }]);
  const message = (timestamp: number, body = 'hi') => ({
    from: phone,
    id: `wamid.R${++made}`,
    timestamp: String(timestamp),
    type: 'text',
    text: { body },
  });
  const contacts = [{ wa_id: phone, user_id: `ES.${phone}`, profile: { name: 'Ana' } }];
  return {
    phone,
    change,
    message,
    metadata,
    contacts,
    standby: (at: number, standby: object = { contacts: [], messages: [message(at)] }) =>
      change('standby', { ...whatsapp, metadata, standby }),
    writes: (at: number) => change('messages', { ...whatsapp, metadata, contacts, messages: [message(at)] }),
    handover: (at: number, type: string, given: object) =>
      change('messaging_handovers', {
        ...whatsapp,
        recipient: metadata,
        sender: { phone_number: phone },
        type,
        timestamp: String(at),
        [type]: given,
      }),
  };
}

const PASSED = {
  previous_owner_role: 'ai_agent',
  new_owner_role: 'customer_service',
  metadata: 'm',
  conversation_context: { type: 'summary', summary: { text: 't' } },
};
const TAKEN = { previous_owner_role: 'customer_service', new_owner_role: 'escalation' };

describe('notifications of conversation routing', () => {
  it('what a customer writes to another app is in the journal, and is no message to us', async () => {
    const ana = customer();
    const said = ana.standby(1);
    await notify(test, said);
    await notify(test, said);
    const { data } = (await workspace.api.get(`/messages?from=${ana.phone}`)).body;
    expect(data).toMatchObject([{ direction: 'inbound', body: 'hi', status: 'received', standby: true }]);
    expect(data[0].conversation_id).toEqual(expect.any(String));
    expect(await conversationOf(ana.phone)).toMatchObject({
      id: data[0].conversation_id,
      owner: 'other',
      owner_role: null,
      unread_count: 0,
      last_inbound_at: null,
      service_window_closes_at: null,
      last_message: { standby: true },
    });
    const refused = await workspace.send(ana.phone);
    expect([refused.status, refused.body.error.code]).toEqual([422, 'SERVICE_WINDOW_CLOSED']);
    expect(await events(2)).toMatchObject([
      { type: 'conversation.control.updated', data: { owner: 'other', previous_owner: 'unknown' } },
      {
        type: 'message.standby.received',
        data: { message: { id: data[0].id, standby: true, body: 'hi' }, owner: 'other', owner_role: null },
      },
    ]);
    expect(await explanationOf(data[0].id as string)).toMatchObject({
      summary: expect.stringContaining('to another app'),
      retry: { advised: false },
    });
  });

  it('a handover names the number in recipient; a passed one is ours, with its note and context', async () => {
    const ana = customer();
    await notify(test, ana.standby(1));
    const passed = ana.handover(1, 'control_passed', PASSED);
    await notify(test, passed);
    await notify(test, passed);
    expect(await conversationOf(ana.phone)).toMatchObject({ owner: 'you', owner_role: null });
    const [, event, ...more] = await events(2, 'conversation.control.updated');
    expect(more).toEqual([]);
    expect(event?.data).toEqual({
      conversation_id: (await conversationOf(ana.phone)).id,
      connection_id: workspace.connection.id,
      contact: { phone: ana.phone, user_id: null, name: null },
      owner: 'you',
      owner_role: null,
      previous_owner: 'other',
      previous_owner_role: null,
      note: 'm',
      context: PASSED.conversation_context,
      occurred_at: '1970-01-01T00:00:01.000Z',
    });
  });

  it('control that comes to us brings the window of what was written to the other app', async () => {
    const ana = customer();
    const now = secondsNow();
    await notify(test, ana.standby(now - 60));
    await notify(test, ana.handover(now - 30, 'control_passed', PASSED));
    const { last_inbound_at, service_window_closes_at } = await conversationOf(ana.phone);
    expect(last_inbound_at).toBe(new Date((now - 60) * 1_000).toISOString());
    expect(Date.parse(service_window_closes_at as string)).toBe((now - 60 + 86_400) * 1_000);
    expect((await workspace.send(ana.phone)).status).toBe(202);
  });

  it.each<[string, string, object, object]>([
    ['taken', 'control_taken', TAKEN, { owner: 'other', owner_role: 'escalation' }],
    ['taken by no named app', 'control_taken', {}, { owner: 'other', owner_role: null }],
    [
      'passed on to the Business Agent',
      'control_passed',
      { previous_owner_role: 'customer_service', new_owner_role: 'ai_agent' },
      { owner: 'other', owner_role: 'ai_agent' },
    ],
    [
      'passed by the Business Agent, by its other name',
      'control_passed',
      { previous_owner_app_role: 'meta_business_agent' },
      { owner: 'you', owner_role: null },
    ],
  ])('%s', async (_, type, given, expected) => {
    const ana = customer();
    await notify(test, ana.writes(100));
    expect(await conversationOf(ana.phone)).toMatchObject({ owner: 'you' });
    await notify(test, ana.handover(200, type, given));
    expect(await conversationOf(ana.phone)).toMatchObject(expected);
  });

  it('the latest time wins, in whichever order notifications come', async () => {
    const history = (ana: ReturnType<typeof customer>) => [
      ana.writes(100),
      ana.handover(200, 'control_taken', TAKEN),
      ana.standby(300),
      ana.handover(400, 'control_passed', PASSED),
      ana.writes(500),
      ana.handover(600, 'control_taken', { new_owner_role: 'marketing' }),
      ana.standby(700),
    ];
    const orders = [
      [0, 1, 2, 3, 4, 5, 6],
      [6, 5, 4, 3, 2, 1, 0],
      [5, 0, 6, 4, 1, 3, 2],
    ];
    for (const order of orders) {
      const ana = customer();
      const all = history(ana);
      for (const index of order) await notify(test, all[index]);
      for (const index of order) await notify(test, all[index]);
      expect(await conversationOf(ana.phone)).toMatchObject({ owner: 'other', owner_role: 'marketing' });
    }
    expect((await controlEvents(4)).slice(0, 4)).toEqual([
      ['you', 'other', 'escalation'],
      ['other', 'you', null],
      ['you', 'other', 'marketing'],
      ['unknown', 'other', null],
    ]);
  });

  it('messages say whose the conversation is; the first one makes no event of control', async () => {
    const ana = customer();
    await notify(test, ana.writes(secondsNow() - 10));
    await notify(test, ana.handover(secondsNow() - 9, 'control_taken', TAKEN));
    await notify(test, ana.writes(secondsNow() - 5));
    const received = await events(2, 'message.received');
    expect(received.map(({ data }) => [data.owner, data.owner_role, data.message])).toEqual([
      ['you', null, expect.objectContaining({ standby: false })],
      ['you', null, expect.objectContaining({ standby: false })],
    ]);
    expect(await controlEvents(2)).toEqual([
      ['you', 'other', 'escalation'],
      ['other', 'you', null],
    ]);
  });

  it('a handover before any message is remembered', async () => {
    const ana = customer();
    await notify(test, ana.handover(500, 'control_taken', TAKEN));
    expect(await conversationOf(ana.phone)).toBeUndefined();
    await notify(test, ana.standby(400));
    expect(await conversationOf(ana.phone)).toMatchObject({ owner: 'other', owner_role: 'escalation' });
  });

  it('echoes and statuses of the other app are named and kept; statuses of ours apply', async () => {
    const ana = customer();
    const marker = `wamid.${ana.phone}`;
    const unread = async () => {
      const rows = await test.database.query<{ state: string; unread: string[] | null }>(
        'select state, unread from platform_notification where position($1::bytea in body) > 0 order by id',
        [Buffer.from(marker)],
      );
      return rows.map(({ state, unread: names }) => [state, names]);
    };
    const to = await workspace.contact();
    const id = await workspace.sendAnswered(to);
    await workspace.reaches(id, 'read');
    const { callback } = test.simulator.messages.list({ to })[0] ?? {};
    const status = { id: marker, timestamp: '1', recipient_id: ana.phone };
    await notify(test, ana.standby(1, { statuses: [{ ...status, status: 'delivered' }] }));
    const message = { to: ana.phone, type: 'text', text: { body: 'x' } };
    await notify(test, ana.standby(1, { message_echoes: [{ id: marker, timestamp: '1', message }] }));
    await notify(test, ana.standby(1, { holograms: [marker] }));
    await notify(
      test,
      ana.standby(1, { statuses: [{ ...status, status: 'delivered', biz_opaque_callback_data: callback }] }),
    );
    expect(await unread()).toEqual([
      ['applied', ['standby.statuses']],
      ['applied', ['standby.message_echoes']],
      ['applied', ['standby.holograms']],
      ['applied', null],
    ]);
  });

  it('messages that stand beside standby, or in a list of it, are read too', async () => {
    const [ana, ben] = [customer(), customer()];
    const { metadata } = ana;
    await notify(test, ana.change('standby', { metadata, messages: [ana.message(5)] }));
    await notify(test, ben.change('standby', { metadata, standby: [{ messages: [ben.message(5)] }] }));
    for (const { phone } of [ana, ben]) expect(await conversationOf(phone)).toMatchObject({ owner: 'other' });
  });

  it.each<[string, object, string[]]>([
    ['of another type', { type: 'control_split' }, ['messaging_handovers[control_split]']],
    ['without a contact', { type: 'control_passed', sender: {} }, ['messaging_handovers']],
    ['without a type', { type: undefined }, ['messaging_handovers']],
  ])('a handover %s is named', async (_, change, names) => {
    const ana = customer();
    const value = { recipient: ana.metadata, sender: { phone_number: ana.phone }, timestamp: '1', note: ana.phone };
    const { status } = await post(test, bytesOf(ana.change('messaging_handovers', { ...value, ...change })));
    expect(status).toBe(200);
    const [row] = await test.database.query<{ unread: string[] }>(
      'select unread from platform_notification where position($1::bytea in body) > 0',
      [Buffer.from(ana.phone)],
    );
    expect(row?.unread).toEqual(names);
  });
});

/** Controls the number at the simulator. */
async function simulate(path: string, body: object): Promise<Record<string, unknown>> {
  const url = `${test.simulatorUrl}/_simulator${path.replace('{id}', workspace.connection.phoneNumberId)}`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  expect([response.status, answer.error]).toEqual([200, undefined]);
  return answer;
}

describe('with a second responder', () => {
  const control = (id: string, body: object, api = workspace.api) => api.post(`/conversations/${id}/control`, body);

  async function writesTo(
    responder: 'ON' | 'ESCALATION' | 'OFF',
    phone = testPhone(),
    timestamp = secondsNow(),
  ): Promise<string> {
    await simulate('/numbers/{id}', { second_responder: responder });
    const message = { type: 'text', text: { body: 'Hello' }, timestamp };
    await simulate('/inbound', { phone_number_id: workspace.connection.phoneNumberId, from: phone, message });
    await waitFor(async () => (await conversationOf(phone)) !== undefined);
    return phone;
  }

  const owns = (phone: string, owner: string) =>
    waitFor(async () => (await conversationOf(phone)).owner === owner, { what: `the owner to be ${owner}` });

  it('a conversation goes from the agent to us and back', async () => {
    const phone = await writesTo('ON');
    expect(await conversationOf(phone)).toMatchObject({ owner: 'other', last_message: { standby: true } });
    await simulate('/numbers/{id}/threads', { from: phone, action: 'answer' });
    await simulate('/numbers/{id}/threads', {
      from: phone,
      action: 'pass',
      metadata: 'refund',
      summary: 'Wants money',
    });
    await owns(phone, 'you');
    const [sent] = [await workspace.sendText(phone)];
    await workspace.reaches(sent, 'read');
    const { id } = await conversationOf(phone);
    const passed = await control(id as string, { action: 'pass', role: 'ai_agent', note: 'solved' });
    expect([passed.status, passed.body.error]).toEqual([200, undefined]);
    expect(passed.body.data).toEqual(await conversationOf(phone));
    expect(passed.body.data).toMatchObject({ id, owner: 'other', owner_role: 'ai_agent' });
    expect(await events(3, 'conversation.control.updated')).toMatchObject([
      { data: { owner: 'other', previous_owner: 'unknown' } },
      { data: { owner: 'you', note: 'refund', context: { summary: { text: 'Wants money' } } } },
      { data: { owner: 'other', owner_role: 'ai_agent', previous_owner: 'you', note: 'solved' } },
    ]);
  });

  it('a message of another than the owner fails by itself, is not to be retried, and check warns of it', async () => {
    const phone = await writesTo('ON');
    await simulate('/numbers/{id}/threads', { from: phone, action: 'pass' });
    await owns(phone, 'you');
    // Times are whole seconds.
    const timestamp = secondsNow() + 2;
    await simulate('/numbers/{id}/threads', { from: phone, action: 'take', role: 'escalation', timestamp });
    await owns(phone, 'other');
    const body = { connection_id: workspace.connection.id, to: phone, type: 'text', text: { body: 'hello' } };
    const checked = (await workspace.api.post('/messages/check', body)).body.data;
    expect(checked).toMatchObject({
      sendable: true,
      owner: 'other',
      owner_role: 'escalation',
      warnings: [{ code: 'NOT_CONVERSATION_OWNER' }],
    });
    const id = await workspace.sendText(phone);
    expect(await workspace.reaches(id, 'failed')).toMatchObject({
      failure_category: 'not_conversation_owner',
      error: { code: '131070' },
      attempt_count: 1,
    });
    expect(await explanationOf(id)).toMatchObject({
      summary: expect.stringContaining('Another app owns the conversation'),
      retry: { advised: false },
    });
  });

  it('only the escalation partner may take control', async () => {
    const phone = await writesTo('ON');
    const { id } = await conversationOf(phone);
    for (const body of [{ action: 'take' }, { action: 'release' }, { action: 'pass' }]) {
      const refused = await control(id as string, body);
      expect([refused.status, refused.body.error.code]).toEqual([409, 'CONTROL_NOT_ALLOWED']);
      const code = body.action === 'take' ? 2_494_191 : 131_070;
      expect(refused.body.error.platform).toMatchObject({ code });
    }
    await simulate('/numbers/{id}', { second_responder: 'ESCALATION' });
    const taken = await control(id as string, { action: 'take', note: 'A person answers.' });
    expect([taken.status, taken.body.data.owner]).toEqual([200, 'you']);
    await workspace.reaches(await workspace.sendText(phone), 'read');
    const released = await control(id as string, { action: 'release' });
    expect(released.body.data).toMatchObject({ owner: 'unknown', owner_role: null });
    await writesTo('ESCALATION', phone, secondsNow() + 2);
    await owns(phone, 'other');
    expect(await controlEvents(4)).toEqual([
      ['unknown', 'other', null],
      ['other', 'you', null],
      ['you', 'unknown', null],
      ['unknown', 'other', null],
    ]);
  });

  it('a key that may not read messages learns who the owner is, and no more', async () => {
    const phone = await writesTo('ESCALATION');
    const { id } = await conversationOf(phone);
    const { text } = await test.factories.apiKey({
      organizationId: workspace.organizationId,
      scopes: ['messages:write'],
    });
    const taken = await control(id as string, { action: 'take' }, test.api.as(text));
    expect([taken.status, taken.body]).toEqual([200, { data: { id, owner: 'you', owner_role: null } }]);
    const { text: reading } = await test.factories.apiKey({
      organizationId: workspace.organizationId,
      scopes: ['messages:read'],
    });
    expect((await control(id as string, { action: 'take' }, test.api.as(reading))).status).toBe(403);
  });

  it('what is wrong is refused, and reaches no platform', async () => {
    const phone = await writesTo('ESCALATION');
    const { id } = await conversationOf(phone);
    const other = await sendingWorkspace(test);
    const codes = async (answer: Promise<ApiResponse>) => {
      const { status, body } = await answer;
      return [status, body.error?.code];
    };
    expect(await codes(control(id as string, { action: 'take' }, other.api))).toEqual([404, 'CONVERSATION_NOT_FOUND']);
    expect(await codes(control('nonsense', { action: 'take' }))).toEqual([404, 'CONVERSATION_NOT_FOUND']);
    for (const body of [
      {},
      { action: 'steal' },
      { action: 'take', role: 'ai_agent' },
      { action: 'pass', role: 'a b' },
      { action: 'take', note: 'x'.repeat(2_001) },
    ]) {
      expect(await codes(control(id as string, body))).toEqual([400, 'INVALID_REQUEST']);
    }
    expect(await conversationOf(phone)).toMatchObject({ owner: 'other' });
    await simulate('/numbers/{id}', { second_responder: 'OFF' });
    expect(await codes(control(id as string, { action: 'take' }))).toEqual([400, 'PLATFORM_REJECTED']);
  });

  it('without an answer of the platform the owner stays, and the error says that it may have changed', async () => {
    const phone = await writesTo('ESCALATION');
    const { id } = await conversationOf(phone);
    test.simulator.applyFaults({ down: true });
    const lost = await control(id as string, { action: 'take' }).finally(() =>
      test.simulator.applyFaults({ down: false }),
    );
    expect([lost.status, lost.body.error.code]).toEqual([502, 'PLATFORM_UNAVAILABLE']);
    expect(lost.body.error.message).toContain('may still have changed');
    expect(await conversationOf(phone)).toMatchObject({ owner: 'other' });
    await test.database.execute(`update connection set status = 'disconnected' where id = $1`, [
      workspace.connection.id,
    ]);
    await waitFor(
      async () => (await control(id as string, { action: 'take' })).body.error?.code === 'CONNECTION_NOT_READY',
    );
  });
});
