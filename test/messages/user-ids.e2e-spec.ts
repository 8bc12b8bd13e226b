import { newId } from '../../src/common/ids.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { eventsOf, listenFor } from '../support/webhook-events.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { approvedTemplate, bodyValues, templateBody } from './platform-templates.js';

let test: TestApp;
let workspace: SendingWorkspace;
let made = 0;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20, templateReviewMs: 20, enforceWindow: true } });
});

afterAll(() => test.stop());

beforeEach(async () => {
  workspace = await sendingWorkspace(test);
});

/** Ends in 1111, or in digits that choose a fate at the simulator. */
const newUserId = (lastDigits = '1111'): string => `DE.1795${String(++made).padStart(8, '0')}${lastDigits}`;

/** The customer writes; without `from` only the user id is known. Returns the stored message. */
async function writes(customer: { user_id: string; from?: string }): Promise<Record<string, unknown>> {
  const { phoneNumberId } = workspace.connection;
  const before = await received();
  const response = await fetch(`${test.simulatorUrl}/_simulator/inbound`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ phone_number_id: phoneNumberId, ...customer }),
  });
  expect(response.status).toBe(200);
  return waitFor(async () => (await received()).find((row) => !before.some(({ id }) => id === row.id)) ?? false);
}

async function received(): Promise<Record<string, unknown>[]> {
  return (await workspace.api.get('/messages?status=received')).body.data as Record<string, unknown>[];
}

const sendTo = (recipient: string, body: Record<string, unknown> = {}, key?: string) =>
  workspace.send('', { body: { to: undefined, recipient, ...body }, ...(key !== undefined && { key }) });

async function taken(recipient: string, body?: Record<string, unknown>): Promise<string> {
  const response = await sendTo(recipient, body);
  expect(response).toMatchObject({ status: 202 });
  return response.body.data.id as string;
}

describe('a message to a user id', () => {
  it('answers a customer whose number is not known', async () => {
    const userId = newUserId();
    await listenFor(test.database, workspace.organizationId);
    const question = await writes({ user_id: userId });
    expect(question).toMatchObject({ from: null, contact: { phone: null, user_id: userId } });
    const id = await taken(userId, { reply_to_message_id: question.id });
    const message = await workspace.reaches(id, 'read');
    expect(message).toMatchObject({
      to: null,
      recipient: userId,
      conversation_id: question.conversation_id,
      contact: { phone: null, user_id: userId },
      reply_to_message_id: question.id,
    });
    const { body } = await workspace.api.get('/messages');
    expect(body.data).toContainEqual(expect.objectContaining({ id, to: null, recipient: userId }));
    const [sent] = test.simulator.messages.list({ to: userId });
    expect(sent?.body).toMatchObject({ recipient: userId, context: { message_id: question.meta_message_id } });
    expect(sent?.body).not.toHaveProperty('to');
    const events = await eventsOf(test.database, id);
    // A status may overtake the answer of the platform, and with it "accepted".
    const { data: last } = (await workspace.api.get(`/messages/${id}`)).body;
    const reached = ['accepted', 'sent', 'delivered', 'read'].filter((status) => last[`${status}_at`] !== null);
    expect(events.map(({ data }) => [data.status, data.to, data.recipient])).toEqual(
      reached.map((status) => [status, null, userId]),
    );
  });

  it('needs a window that the contact opened, and says when it closed', async () => {
    const userId = newUserId();
    const refused = await sendTo(userId);
    expect(refused).toMatchObject({ status: 422, body: { error: { code: 'SERVICE_WINDOW_CLOSED' } } });
    await writes({ user_id: userId });
    await test.database.execute(
      `update conversation set last_inbound_at = now() - interval '25 hours' where user_id = $1`,
      [userId],
    );
    const closed = await sendTo(userId);
    expect(closed.body.error).toMatchObject({
      code: 'SERVICE_WINDOW_CLOSED',
      window_expired_at: expect.any(String) as string,
    });
  });

  it('is one with its key: the same request again makes nothing, another is refused', async () => {
    const userId = newUserId();
    await writes({ user_id: userId });
    const key = newId();
    const first = await sendTo(userId, {}, key);
    const again = await sendTo(userId, {}, key);
    expect(again.body.data.id).toBe(first.body.data.id);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const other = await sendTo(newUserId(), {}, key);
    expect(other).toMatchObject({ status: 409, body: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } } });
    await workspace.reaches(first.body.data.id as string, 'read');
    expect(test.simulator.messages.list({ to: userId })).toHaveLength(1);
  });

  it('and one to the number of the same contact are in one conversation, with one window', async () => {
    const phone = testPhone();
    const userId = newUserId();
    const { conversation_id: conversationId } = await writes({ user_id: userId, from: phone });
    const byUserId = await workspace.reaches(await taken(userId), 'read');
    const byNumber = await workspace.reaches(await workspace.sendText(phone), 'read');
    expect(byUserId).toMatchObject({ to: null, recipient: userId, contact: { phone, user_id: userId } });
    expect(byNumber).toMatchObject({ to: phone, recipient: null, contact: { phone, user_id: userId } });
    expect([byUserId.conversation_id, byNumber.conversation_id]).toEqual([conversationId, conversationId]);
    const { body } = await workspace.api.get(`/messages?to=${phone}`);
    expect(body.data.map((row: { id: string }) => row.id)).toEqual([byNumber.id]);
  });

  it('is retried to the user id', async () => {
    const userId = newUserId('0003');
    await writes({ user_id: userId });
    const id = await taken(userId);
    await workspace.reaches(id, 'failed');
    const retried = await workspace.api.post(`/messages/${id}/retry`);
    expect(retried).toMatchObject({ status: 202, body: { data: { to: null, recipient: userId } } });
    expect((await workspace.reaches(id, 'failed')).attempts).toHaveLength(2);
  });

  it('may be a template where no window is open, but not one that authenticates', async () => {
    const userId = newUserId();
    const text = { type: 'BODY', text: 'Hello {{1}}, it is ready.', example: { body_text: [['Ana']] } };
    await approvedTemplate(test, workspace, { name: 'ready', components: [text] });
    const id = await taken(userId, templateBody('ready', [bodyValues('Bea')]));
    expect(await workspace.reaches(id, 'read')).toMatchObject({ contact: { user_id: userId } });

    const code = [{ type: 'BODY' }, { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] }];
    const authentication = { name: 'code', category: 'AUTHENTICATION', components: code };
    await approvedTemplate(test, workspace, authentication);
    const button = { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: '123456' }] };
    const refused = await sendTo(userId, templateBody('code', [bodyValues('123456'), button]));
    expect(refused).toMatchObject({ status: 422, body: { error: { code: 'RECIPIENT_NEEDS_PHONE' } } });
  });

  it('is erased with its contact, and withdrawn where it waits', async () => {
    const phone = testPhone();
    const userId = newUserId();
    await writes({ user_id: userId, from: phone });
    const sent = await taken(userId);
    await workspace.reaches(sent, 'read');
    const { connection } = workspace;
    const nextAttemptAt = new Date(Date.now() + 3_600_000);
    const waiting = await Promise.all(
      [phone, userId].map(async (recipient) => test.factories.message({ connection, recipient, nextAttemptAt })),
    );
    await test.database.execute('update message set recipient_user_id = $1 where id = any($2)', [
      userId,
      waiting.map(({ id }) => id),
    ]);
    await test.app.get(Erasure, { strict: false }).erase(workspace.organizationId, phone);
    for (const { id } of waiting) {
      expect(await workspace.message(id)).toMatchObject({ status: 'failed', to: null, recipient: null });
    }
    expect(await workspace.message(sent)).toMatchObject({ to: null, recipient: null, contact: { user_id: null } });
    for (const table of [
      'message',
      'message_content',
      'message_queue',
      'message_state',
      'message_attempt',
      'conversation',
      'webhook_event',
    ]) {
      const rows = await test.database.query(`select 1 from ${table} t where position($1 in t::text) > 0`, [userId]);
      expect([table, rows.length]).toEqual([table, 0]);
    }
  });
});

describe('POST /messages refuses', () => {
  const details = async (body: Record<string, unknown>) => {
    const response = await workspace.send('', { body: { to: undefined, ...body } });
    return [response.status, response.body.error.code, response.body.error.details] as const;
  };

  it.each([{}, { to: '15550001234', recipient: 'DE.17952480011111' }])('neither and both: %j', async (body) => {
    expect(await details(body)).toEqual([
      422,
      'VALIDATION_FAILED',
      [{ field: 'to', rule: 'exactly_one', message: expect.stringMatching(/\bto\b.*\brecipient\b/) as string }],
    ]);
  });

  it.each([
    ['to', { to: null, recipient: 'DE.17952480011111' }],
    ['recipient', { to: '15550001234', recipient: null }],
  ])('%s that is null beside the other, in one sentence', async (field, body) => {
    const other = field === 'to' ? 'recipient' : 'to';
    const message = `${field} must not be null: leave it out where ${other} is given.`;
    expect(await details(body)).toEqual([422, 'VALIDATION_FAILED', [{ field, rule: 'type', message }]]);
  });

  it.each(['', 'DE', 'DE.', 'de.1795', 'D1.1795', '15550001234', 'DE.17-95', `DE.${'1'.repeat(129)}`, 'DE.1795\n'])(
    'the recipient %j',
    async (recipient) => {
      const [status, , violations] = await details({ recipient });
      expect([status, violations]).toEqual([422, [expect.objectContaining({ field: 'recipient', rule: 'format' })]]);
    },
  );

  it.each(['004915112345678', '+004915112345678'])('the number %s, as POST /otp/send does', async (to) => {
    const [status, , violations] = await details({ to });
    expect(status).toBe(422);
    expect(violations).toEqual([
      expect.objectContaining({ field: 'to', rule: 'format', message: expect.stringContaining('00') as string }),
    ]);
  });

  it.each(['DE.1795248001', 'US.ENT.A1b2', `DE.${'a'.repeat(128)}`])('not the recipient %s', async (recipient) => {
    const response = await sendTo(recipient);
    expect(response.body.error.code).toBe('SERVICE_WINDOW_CLOSED');
  });
});
