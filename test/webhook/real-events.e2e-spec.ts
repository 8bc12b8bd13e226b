import { randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Receiver, verify, type Envelope } from '../faults/webhook-receiver.js';
import type { TestApp, TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
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
  const made = await sender.api.request({ method: 'PUT', path: '/webhook', body: { url: receiver.url() } });
  secret = made.body.data.secret as string;
  const description = (await test.api.get<Description>('/openapi.json')).body;
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const { components, webhooks } = description;
  validate = (event) => {
    const content = webhooks[event.type]?.post.requestBody.content['application/json'];
    if (content === undefined) throw new Error(`${event.type} is not described`);
    const check = ajv.compile({ ...content.schema, components });
    return check(event) ? null : check.errors;
  };
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

const events = (): Envelope[] => receiver.received.map((delivery) => verify(secret, delivery));

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
      data: { client_message_id: 'a-1', connection_id: sender.connection.id, to: phone, attempt: 1, error: null },
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
