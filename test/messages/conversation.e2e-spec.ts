import { createHash, randomBytes } from 'node:crypto';
import { newId } from '../../src/common/ids.js';
import { Receiver, verify, type Envelope } from '../faults/webhook-receiver.js';
import { upload } from '../media/fixture.js';
import { testPhone } from '../support/factories.js';
import { SimulatorClient } from '../support/simulator/simulator-client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { connectionAtSimulator } from './fixture.js';
import { bodyValues, templateBody } from './platform-templates.js';

let test: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await Receiver.start();
  test = await startTestApp({ env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true', MEDIA_MIN_FREE_MIB: '0' } });
});

afterAll(async () => {
  await test.stop();
  await receiver.stop();
});

it('a template, a customer’s picture and a document in return: sent, received, fetched, and reported', async () => {
  const { factories } = test;
  const { id: organizationId } = await factories.workspace();
  const key = await factories.apiKey({ organizationId });
  const connection = await connectionAtSimulator(test, organizationId);
  const api = test.api.as(key.text);
  const hook = await api.request({
    method: 'PUT',
    path: '/webhook',
    body: { url: receiver.url(), events: ['message.received', 'message.status.updated'] },
  });
  expect(hook.status).toBe(200);
  const { secret } = hook.body.data as { secret: string };
  const customer = testPhone();
  // The platform reports nothing of a message before Herald has its answer: each state is reported separately.
  const send = async (body: Record<string, unknown>): Promise<string> => {
    test.simulator.applyFaults({ statuses: 'hold' });
    const response = await api.post(
      '/messages',
      { connection_id: connection.id, to: `+${customer}`, ...body },
      { headers: { 'idempotency-key': newId() } },
    );
    expect([response.status, response.body.error]).toEqual([202, undefined]);
    const id = response.body.data.id as string;
    await waitFor(async () => (await api.get(`/messages/${id}`)).body.data.status === 'accepted');
    test.simulator.applyFaults({ statuses: 'on' });
    return id;
  };
  const read = (id: string) =>
    waitFor(async () => {
      const { data } = (await api.get(`/messages/${id}`)).body;
      return data.status === 'read' && data;
    });

  // A stranger: only a template may go.
  const template = await send(
    templateBody('order_update', [bodyValues('Ana', '4711')], { client_message_id: 'first' }),
  );
  await read(template);

  // The customer answers with a picture, which is fetched.
  const picture = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), randomBytes(5_000)]);
  await new SimulatorClient(test.simulatorUrl ?? '', connection.phoneNumberId).control('POST', 'inbound', {
    phone_number_id: connection.phoneNumberId,
    from: customer,
    profile_name: 'Ana',
    message: { type: 'image', image: { caption: 'This one?' } },
    file: { base64: picture.toString('base64'), mime_type: 'image/jpeg' },
  });
  const inbound = await waitFor(async () => (await api.get('/messages?status=received')).body.data[0]);
  const { data: received } = (await api.get(`/messages/${inbound.id}`)).body;
  expect(received).toMatchObject({ type: 'image', body: 'This one?', from: customer, contact: { name: 'Ana' } });
  const link = await waitFor(async () => {
    const answer = await api.get(`/media/${received.media_object_id}/url`);
    return answer.status === 200 && (answer.body.data.url as string);
  });
  const fetched = Buffer.from(await (await fetch(link)).arrayBuffer());
  expect(digest(fetched)).toBe(digest(picture));

  // The window is open now: a document of ours, and a reaction to the picture.
  const pdf = Buffer.concat([Buffer.from('%PDF-1.4\n'), randomBytes(3_000), Buffer.from('\n%%EOF\n')]);
  const uploaded = await upload(
    test,
    { key, connection },
    { file: pdf, filename: 'bill.pdf', contentType: 'application/pdf' },
  );
  expect([uploaded.status, uploaded.body.error]).toEqual([201, undefined]);
  const file = uploaded.body.data.id as string;
  const bill = await send({ type: 'document', media: { id: file }, reply_to_message_id: received.id });
  const reaction = await send({ type: 'reaction', reaction: { emoji: '👍' }, reply_to_message_id: received.id });
  expect(await read(bill)).toMatchObject({
    content: { id: file, filename: 'bill.pdf' },
    reply_to_message_id: received.id,
  });
  await read(reaction);
  const taken = test.simulator.messages.list({ to: customer }).map((message) => message.body);
  expect(taken).toEqual([
    expect.objectContaining({ type: 'template' }),
    expect.objectContaining({
      type: 'document',
      document: { id: expect.stringMatching(/^\d+$/) as string, filename: 'bill.pdf' },
      context: { message_id: received.meta_message_id },
    }),
    expect.objectContaining({ type: 'reaction', reaction: { message_id: received.meta_message_id, emoji: '👍' } }),
  ]);

  // All of it was reported, once, in the API's terms.
  const reported = await waitFor(() => {
    const events = envelopes(secret);
    return events.length >= 13 && events;
  });
  expect(new Set(reported.map((event) => event.id)).size).toBe(reported.length);
  for (const [id, clientMessageId] of [
    [template, 'first'],
    [bill, null],
    [reaction, null],
  ]) {
    const own = reported
      .filter(({ data }) => data.message_id === id)
      .sort((a, b) => Number(a.data.sequence) - Number(b.data.sequence));
    expect(own.map(({ data }) => [data.sequence, data.previous_status, data.status])).toEqual([
      [1, 'processing', 'accepted'],
      [2, 'accepted', 'sent'],
      [3, 'sent', 'delivered'],
      [4, 'delivered', 'read'],
    ]);
    const { data: shown } = (await api.get(`/messages/${id}`)).body;
    for (const { type, organization_id: workspace, data } of own) {
      expect([type, workspace]).toEqual(['message.status.updated', organizationId]);
      expect(data).toEqual({
        message_id: id,
        client_message_id: clientMessageId,
        connection_id: connection.id,
        conversation_id: shown.conversation_id,
        type: shown.type,
        tag: null,
        metadata: null,
        to: customer,
        recipient: null,
        status: data.status,
        previous_status: data.previous_status,
        occurred_at: shown[`${String(data.status)}_at`],
        attempt: 1,
        failure_category: null,
        error: null,
        pricing: data.status === 'accepted' ? null : shown.pricing,
        sequence: data.sequence,
      });
    }
  }
  const [arrival, ...others] = reported.filter(({ type }) => type === 'message.received');
  expect(others).toEqual([]);
  // A list item also names the user id that was written to, the contact, the price and the content, and not when the customer wrote.
  const { recipient: _, contact: __, pricing: ___, content: ____, ...listed } = inbound;
  expect(arrival?.data).toEqual({
    message: {
      ...listed,
      sent_at: received.sent_at,
      media_object_id: received.media_object_id,
      reply_to_message_id: null,
    },
    owner: 'you',
    owner_role: null,
    conversation_id: received.conversation_id,
    contact: received.contact,
    content: received.content,
    sequence: 1,
  });

  function envelopes(of: string): Envelope[] {
    return receiver.received.map((delivery) => verify(of, delivery));
  }
});

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
