import { randomUUID } from 'node:crypto';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { Receiver, verify, type Envelope } from '../faults/webhook-receiver.js';
import type { TestApp, TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { WEBHOOK_EVENTS } from '../../src/modules/webhook/webhook.types.js';
import { exampleOf } from '../../src/modules/webhook/dto/event.docs.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { startWebhookApp } from './fixture.js';

interface Description {
  components: object;
  webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: object }> } } }>;
}

let test: TestApp;
let receiver: Receiver;
let sender: TestSender;
let secret: string;
let validate: (event: Envelope) => unknown;

beforeAll(async () => {
  [test, receiver] = await Promise.all([startWebhookApp({ roles: ['api', 'worker', 'simulator'] }), Receiver.start()]);
  sender = await test.sender();
  const body = { url: receiver.url(), events: WEBHOOK_EVENTS };
  const made = await sender.api.request({ method: 'PUT', path: '/webhook', body });
  secret = made.body.data.secret as string;
  const description = (await test.api.get<Description>('/openapi.json')).body;
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const { components, webhooks } = description;
  const checks = new Map<string, ValidateFunction>();
  validate = (event) => {
    const content = webhooks[event.type]?.post.requestBody.content['application/json'];
    if (content === undefined) throw new Error(`${event.type} is not described`);
    const check = checks.get(event.type) ?? ajv.compile({ ...content.schema, components });
    checks.set(event.type, check);
    return check(event) ? null : check.errors;
  };
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

const events = (): Envelope[] => receiver.received.map((delivery) => verify(secret, delivery));

const control = async (path: string, body: object): Promise<void> => {
  const response = await fetch(`${test.simulatorUrl}/_simulator/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
};

/** The event of this kind that fits, once it is there; checked against its description. */
const arrived = async (type: string, fits: (data: Record<string, unknown>) => boolean): Promise<Envelope> => {
  const event = await waitFor(() => events().find((each) => each.type === type && fits(each.data)), { what: type });
  expect({ event, errors: validate(event) }).toMatchObject({ errors: null });
  return event;
};

/** A test event goes out behind all that were written before it. */
const testArrived = async (): Promise<void> => {
  const { body } = await sender.api.post('/webhook/test');
  const { event_id: id } = body.data as { event_id: string };
  await waitFor(() => events().some((event) => event.id === id), { what: 'the test event' });
};

describe('what happens to messages', () => {
  it('is sent as it is described: each state of a sent message, once', async () => {
    const { phone } = await test.openWindow(sender);
    const { body } = await sender.api.post(
      '/messages',
      {
        connection_id: sender.connection.id,
        to: phone,
        type: 'text',
        text: { body: 'Hello' },
        client_message_id: 'a-1',
        tag: 'greetings',
        metadata: { customer: 'c-1' },
      },
      { headers: { 'idempotency-key': randomUUID() } },
    );
    const { id } = body.data as { id: string };
    const of = () => events().filter(({ data }) => data.message_id === id);
    await waitFor(() => of().some(({ data }) => data.status === 'read'), { what: 'the event of the last state' });
    await waitFor(() => of().length === 4);
    for (const event of of()) expect({ event, errors: validate(event) }).toMatchObject({ errors: null });
    const inOrder = of().sort((a, b) => Number(a.data.sequence) - Number(b.data.sequence));
    expect(inOrder.map(({ data }) => [data.previous_status, data.status])).toEqual([
      ['processing', 'accepted'],
      ['accepted', 'sent'],
      ['sent', 'delivered'],
      ['delivered', 'read'],
    ]);
    expect(inOrder[0]).toMatchObject({
      type: 'message.status.updated',
      organization_id: sender.workspace.id,
      data: {
        client_message_id: 'a-1',
        tag: 'greetings',
        metadata: { customer: 'c-1' },
        type: 'text',
        connection_id: sender.connection.id,
        to: phone,
        attempt: 1,
        error: null,
      },
    });
  });

  it('contains a failure with its reason', async () => {
    const { phone } = await test.openWindow(sender, `4915${String(Date.now()).slice(-7)}0003`);
    const { body } = await sender.api.post(
      '/messages',
      { connection_id: sender.connection.id, to: phone, type: 'text', text: { body: 'Hello' } },
      { headers: { 'idempotency-key': randomUUID() } },
    );
    const { id } = body.data as { id: string };
    const failed = await waitFor(() => events().find(({ data }) => data.message_id === id && data.status === 'failed'));
    expect({ failed, errors: validate(failed) }).toMatchObject({ errors: null });
    expect(failed.data.error).toMatchObject({ code: '131009' });
  });

  it('contains what a customer wrote', async () => {
    const response = await fetch(`${test.simulatorUrl}/_simulator/inbound`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        phone_number_id: sender.connection.phoneNumberId,
        from: '4915112345678',
        message: { type: 'text', text: { body: 'Is my table ready?' } },
      }),
    });
    expect(response.ok).toBe(true);
    const event = await waitFor(() => events().find(({ type }) => type === 'message.received'));
    expect({ event, errors: validate(event) }).toMatchObject({ errors: null });
    expect(event.data).toMatchObject({
      message: { type: 'text', body: 'Is my table ready?', from: '4915112345678', status: 'received' },
      contact: { phone: '4915112345678' },
      content: { body: 'Is my table ready?' },
      sequence: 1,
    });
  });
});

describe('what happens beside messages', () => {
  const templatesPath = () => `/connections/${sender.connection.id}/templates`;
  const template = { language: 'en_US', category: 'UTILITY', body: 'Your order is on its way.' };

  it('contains each status of a template: made, approved by the platform, deleted', async () => {
    const name = 'order_events';
    expect((await sender.api.post(templatesPath(), { ...template, name })).status).toBe(201);
    const of = (status: string) => (data: Record<string, unknown>) => data.name === name && data.status === status;
    const pending = await arrived('template.status.updated', of('pending'));
    expect(pending.data).toMatchObject({ previous_status: null, category: 'UTILITY', language: 'en_US' });
    const approved = await arrived('template.status.updated', of('approved'));
    expect(approved.data).toMatchObject({
      template_id: pending.data.template_id,
      previous_status: 'pending',
      platform_status: 'APPROVED',
      connection_ids: [sender.connection.id],
      rejected_reason: null,
    });
    const [listed] = test.simulator.templates.ofAccount(sender.connection.wabaId).filter((one) => one.name === name);
    const recategorise = (body: object) => control(`templates/${listed?.id}/category`, body);
    const ofCategory = (category: string) => (data: Record<string, unknown>) => data.category === category;
    await recategorise({ category: 'MARKETING', announced: true });
    const announced = await arrived('template.category.updated', ofCategory('UTILITY'));
    expect(announced.data).toMatchObject({
      template_id: pending.data.template_id,
      connection_ids: [sender.connection.id],
      previous_category: null,
      announced_category: 'MARKETING',
      announced_for: expect.stringMatching(/^20.*Z$/),
    });
    const version = async () => (await sender.api.get(`${templatesPath()}/${name}`)).body.data.versions[0];
    const { announced_for } = announced.data;
    expect(await version()).toMatchObject({ category: 'UTILITY', announced_category: 'MARKETING', announced_for });
    await recategorise({ category: 'MARKETING' });
    const changed = await arrived('template.category.updated', ofCategory('MARKETING'));
    expect(changed.data).toMatchObject({ previous_category: 'UTILITY', announced_category: null, announced_for: null });
    expect(await version()).toMatchObject({ category: 'MARKETING', announced_category: null, announced_for: null });
    await sender.api.request({ method: 'DELETE', path: `${templatesPath()}/${name}` });
    const deleted = await arrived('template.status.updated', of('deleted'));
    expect(deleted.data.template_id).toBe(pending.data.template_id);
    // The first list of the account shows others, which changed nothing.
    expect((await sender.api.get(templatesPath())).body.data.length).toBeGreaterThan(0);
    await testArrived();
    const reported = events().filter(({ type }) => type === 'template.status.updated');
    expect(new Set(reported.map(({ data }) => data.name))).toEqual(new Set([name]));
    // The platform may say that the deletion is under way, before our own is done.
    const moves = new Map(reported.map(({ data }) => [data.status, data.previous_status]));
    expect(moves.size).toBe(reported.length);
    const last = moves.get('deleted');
    expect(last === 'pending_deletion' ? moves.get(last) : last).toBe('approved');
  });

  it("says when a customer's file is there, with what GET /media/{id} shows of it", async () => {
    await control('inbound', {
      phone_number_id: sender.connection.phoneNumberId,
      from: '4915112345679',
      message: { type: 'image', image: { caption: 'This one?' } },
    });
    const { data } = await arrived('media.ready', () => true);
    const media = data.media as { id: string };
    const received = await arrived('message.received', ({ message }) => (message as { type: string }).type === 'image');
    const message = received.data.message as { id: string; conversation_id: string; media_object_id: string };
    expect(message.media_object_id).toBe(media.id);
    expect(received.data.conversation_id).toBe(message.conversation_id);
    expect(data).toMatchObject({ message_id: message.id, conversation_id: message.conversation_id });
    const { expires_at: _, ...shown } = (await sender.api.get(`/media/${media.id}`)).body.data as object & {
      expires_at: unknown;
    };
    expect(media).toEqual(shown);
  });

  it('says what changed of a number, once, and with what was before', async () => {
    const { id, phoneNumberId } = sender.connection;
    const look = async (): Promise<void> => {
      await test.database.execute('update connection set facts_due_at = clock_timestamp() where id = $1', [id]);
      await test.app.get(Sweeps).runNow('connection_facts');
    };
    await control(`numbers/${phoneNumberId}`, { quality_rating: 'RED', verified_name: 'Renamed' });
    await look();
    const { data } = await arrived(
      'connection.updated',
      (each) => 'quality_rating' in (each.previous_attributes as object),
    );
    const shown = ((await sender.api.get('/connections')).body.data as { id: string }[]).find((each) => each.id === id);
    expect(data.connection).toEqual(shown);
    expect(data.connection).toMatchObject({ quality_rating: 'RED', verified_name: 'Renamed' });
    // The next look finds nothing new.
    const before = events().length;
    await look();
    await testArrived();
    expect(
      events()
        .slice(before)
        .map(({ type }) => type),
    ).toEqual(['webhook.test']);
  });
});

describe('POST /webhook/test', () => {
  it.each(WEBHOOK_EVENTS)('sends the example of %s, marked as a test', async (type) => {
    expect((await sender.api.post('/webhook/test', { type })).status).toBe(202);
    const event = await arrived(type, ({ test: mark }) => mark === true);
    expect(event.data).toEqual({ ...exampleOf(type), test: true });
  });

  it('refuses a kind that there is not', async () => {
    const { status, body } = await sender.api.post('/webhook/test', { type: 'order.made' });
    expect([status, body.error.code, body.error.details?.[0]?.field]).toEqual([400, 'INVALID_REQUEST', 'type']);
  });
});
