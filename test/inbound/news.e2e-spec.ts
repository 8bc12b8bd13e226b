import { meaningOf } from '../../src/infrastructure/whatsapp/graph-error.js';
import { waitFor } from '../support/wait-for.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { sendingWorkspace, type SendingWorkspace } from '../messages/fixture.js';
import { insertMessage } from '../support/message-factory.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { changeOf, entries, notify, secondsNow } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;
let message: { id: string; phone: string };

const META_ID = 'wamid.HBgNews';

beforeAll(async () => {
  test = await startTestApp({ roles: ['api', 'simulator'] });
});
afterAll(() => test.stop());

beforeEach(async () => {
  workspace = await sendingWorkspace(test);
  const phone = await workspace.contact();
  const { connection } = workspace;
  const { id } = await insertMessage(test.database, { connection, status: 'delivered', recipient: phone });
  await test.database.execute(
    `insert into message_attempt (message_id, id, organization_id, number, started_at, answer, answered_at, meta_message_id)
     select message_id, uuid_v7(), organization_id, 1, now(), 'accepted', now(), $2 from message_state where message_id = $1
     on conflict do nothing`,
    [id, META_ID],
  );
  message = { id, phone };
  // From now on its events are recorded.
  await workspace.api.get('/events?after=now');
});

interface Event {
  type: string;
  data: Record<string, unknown>;
}
const events = async (): Promise<Event[]> => (await workspace.api.get('/events')).body.data as Event[];

const AT = secondsNow() - 60;
const ISO = new Date(AT * 1_000).toISOString();
const PAYMENT = { reference_id: 'order-1', amount: { value: 21_000, offset: 100 }, currency: 'INR' };
const CALL = { id: 'wacid.1', event: 'terminate', timestamp: String(AT) };

const calls = (call: object) => ({ ...changeOf(workspace.connection, { calls: [call] }), field: 'calls' });
const status = (fields: object) =>
  changeOf(workspace.connection, {
    statuses: [{ id: META_ID, timestamp: String(AT), recipient_id: message.phone, ...fields }],
  });
const contact = () => ({ phone: message.phone, user_id: null });

describe('what WhatsApp tells of and changes nothing', () => {
  it.each<[string, () => object, () => Event]>([
    [
      'a payment that was captured',
      () => status({ status: 'captured', type: 'payment', payment: PAYMENT }),
      () => ({
        type: 'payment.updated',
        data: { message_id: message.id, contact: contact(), status: 'captured', payment: PAYMENT, occurred_at: ISO },
      }),
    ],
    [
      'a payment that failed',
      () => status({ status: 'failed', type: 'payment', payment: PAYMENT }),
      () => ({ type: 'payment.updated', data: { message_id: message.id, status: 'failed' } }),
    ],
    [
      'a payment of a message that is not known',
      () => status({ id: 'wamid.other', status: 'pending', type: 'payment', payment: PAYMENT }),
      () => ({ type: 'payment.updated', data: { message_id: null, contact: contact(), status: 'pending' } }),
    ],
    [
      "a customer's call that nobody took",
      () => calls({ ...CALL, from: message.phone, direction: 'USER_INITIATED', status: 'FAILED' }),
      () => ({
        type: 'call.missed',
        data: {
          contact: contact(),
          occurred_at: ISO,
          call: { id: 'wacid.1', direction: 'inbound', status: 'failed', started_at: null, duration_seconds: null },
        },
      }),
    ],
    [
      "a customer's call",
      () =>
        calls({
          ...CALL,
          from: message.phone,
          direction: 'USER_INITIATED',
          status: 'COMPLETED',
          start_time: String(AT - 5),
          end_time: String(AT),
          duration: 5,
        }),
      () => ({ type: 'call.ended', data: { call: { direction: 'inbound', duration_seconds: 5 } } }),
    ],
    [
      'a call of the business that nobody took',
      () => calls({ ...CALL, to: message.phone, direction: 'BUSINESS_INITIATED', status: 'FAILED' }),
      () => ({ type: 'call.ended', data: { contact: contact() } }),
    ],
    [
      'trouble without a message',
      () =>
        changeOf(workspace.connection, {
          errors: [{ code: 130429, title: 'Rate limit hit', error_data: { details: 'Too many messages' } }],
        }),
      () => ({
        type: 'platform.error',
        data: { code: 130429, summary: meaningOf('rate_limited', 130429).summary },
      }),
    ],
  ])('%s is one event, and the message stays as it is', async (_what, change, expected) => {
    const payload = entries([{ id: workspace.connection.wabaId, changes: [change()] }]);
    await notify(test, payload);
    const { type, data } = expected();
    if (type !== 'platform.error') await notify(test, payload);
    // On a slow machine a worker applies it later.
    await waitFor(async () => (await events()).length > 0, { what: 'the event' });
    expect(await events()).toMatchObject([{ type, data: { connection_id: workspace.connection.id, ...data } }]);
    expect(await workspace.message(message.id)).toMatchObject({ status: 'delivered', failure_category: null });
    const [row] = await test.database.query('select state, unread from platform_notification order by id desc limit 1');
    expect(row).toEqual({ state: 'applied', unread: null });
  });

  it.each([
    ['deleted', {}, 'deleted', undefined],
    ['warning', { errors: [{ code: 131049, title: 'Not delivered' }] }, 'warned', 131049],
  ])('the status %s is an entry of the timeline, once', async (word, fields, event, code) => {
    const payload = entries([{ id: workspace.connection.wabaId, changes: [status({ status: word, ...fields })] }]);
    for (const again of [payload, payload]) await notify(test, again);
    const { body } = await workspace.api.get(`/messages/${message.id}/timeline`);
    const noted = (body.data as unknown as { event: string }[]).filter((entry) => entry.event === event);
    expect(noted).toEqual([
      expect.objectContaining({ at: ISO, source: 'whatsapp', ...(code !== undefined && { platform_code: code }) }),
    ]);
    expect(await events()).toEqual([]);
    expect(await workspace.message(message.id)).toMatchObject({ status: 'delivered' });
  });

  it('of an erased person nothing is told', async () => {
    await test.app.get(Erasure).erase(workspace.organizationId, message.phone);
    const call = { ...CALL, from: message.phone, direction: 'USER_INITIATED' };
    await notify(test, entries([{ id: workspace.connection.wabaId, changes: [calls(call)] }]));
    expect(await events()).toEqual([]);
  });
});
