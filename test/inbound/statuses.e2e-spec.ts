import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { bytesOf, earlierMessage, envelope, messageOf, notify, post, rowOf, secondsNow, statusOf } from './fixture.js';

let test: TestApp;
let sender: TestSender;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
  sender = await test.sender();
});

afterAll(() => test.stop());

async function report(...statuses: object[]): Promise<void> {
  await notify(test, envelope(sender.connection, { statuses }));
}

describe('a status', () => {
  it('moves the message before it is acknowledged', async () => {
    const message = await earlierMessage(test, sender, 'accepted');
    const at = secondsNow() - 9;
    await report(statusOf(message, 'sent', { timestamp: String(at) }));
    const sent = await messageOf(sender, message.id);
    expect(sent).toMatchObject({ status: 'sent', delivered_at: null });
    expect(sent.sent_at).toBe(new Date(at * 1_000).toISOString());
  });

  it('that comes before the send’s own answer is applied, and sets the platform’s id', async () => {
    const message = await earlierMessage(test, sender, 'processing');
    await report(statusOf(message, 'delivered', { id: 'wamid.never-answered' }));
    expect(await messageOf(sender, message.id)).toMatchObject({
      status: 'delivered',
      meta_message_id: 'wamid.never-answered',
      attempts: [expect.objectContaining({ status: 'accepted', meta_message_id: 'wamid.never-answered' })],
    });
  });

  it('of a failure says why; one of a delivery after that resolves it', async () => {
    const message = await earlierMessage(test, sender, 'accepted');
    const errors = [{ code: 131026, title: 'Message undeliverable', error_data: { details: 'Not on WhatsApp' } }];
    await report(statusOf(message, 'failed', { errors }));
    expect(await messageOf(sender, message.id)).toMatchObject({
      status: 'failed',
      failure_category: 'recipient_unreachable',
      error: { code: '131026', message: 'Not on WhatsApp' },
    });
    await report(statusOf(message, 'delivered'));
    expect(await messageOf(sender, message.id)).toMatchObject({
      status: 'delivered',
      failure_category: null,
      error: null,
    });
  });

  it('finds its message by the platform’s id where it has no callback data', async () => {
    const message = await earlierMessage(test, sender, 'accepted');
    await report(statusOf({ ...message, attemptId: null }, 'read'));
    expect(await messageOf(sender, message.id)).toMatchObject({ status: 'read', sent_at: null, delivered_at: null });
  });

  it('never touches another workspace’s message, even with its ids', async () => {
    const message = await earlierMessage(test, sender, 'accepted');
    const stranger = await test.sender();
    const { status } = await post(
      test,
      bytesOf(envelope(stranger.connection, { statuses: [statusOf(message, 'failed')] })),
    );
    expect(status).toBe(200);
    expect(await messageOf(sender, message.id)).toMatchObject({ status: 'accepted' });
  });

  it('contains another spelling of the number: the contact’s inbound message and ours are one conversation', async () => {
    const { connection } = sender;
    const waId = '551188887777';
    const text = {
      from: waId,
      id: `wamid.${newId()}`,
      timestamp: String(secondsNow()),
      type: 'text',
      text: { body: 'oi' },
    };
    await notify(test, envelope(connection, { messages: [text] }));
    const ours = await test.factories.conversation({ connection, phone: '5511988887777', lastInboundAt: null });
    const message = await test.factories.message({
      connection,
      status: 'accepted',
      recipient: '5511988887777',
      conversationId: ours.id,
    });
    await report(statusOf(message, 'sent', { recipient_id: waId, recipient_user_id: 'BR.1' }));
    expect(await messageOf(sender, message.id)).toMatchObject({ contact: { phone: waId, user_id: 'BR.1' } });
    expect(await rowOf(test, 'conversation', ours.id)).toMatchObject({ merged_into: expect.any(String) });
    const answer = await sender.api.post(
      '/messages',
      { connection_id: connection.id, to: '5511988887777', type: 'text', text: { body: 'Oi' } },
      { headers: { 'idempotency-key': newId() } },
    );
    expect(answer.status).toBe(202);
  });
});
