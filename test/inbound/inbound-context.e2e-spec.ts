import { newId } from '../../src/common/ids.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { testPhone, type ConnectionRow } from '../support/factories.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { eventsOf, listenFor } from '../support/webhook-events.js';
import { entries, envelope, inboundOf, notify, rowOf, secondsNow } from './fixture.js';

let test: TestApp;
let sender: TestSender;
let connection: ConnectionRow;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
});

afterAll(() => test.stop());

beforeEach(async () => {
  sender = await test.sender();
  ({ connection } = sender);
  await listenFor(test.database, sender.workspace.id);
});

const PHONE = '5511988887777';
const ANA = { profile: { name: 'Ana', username: 'ana.l' }, wa_id: PHONE, user_id: 'BR.134' };

function message(type: string, change: object = {}): Record<string, unknown> {
  return { from: PHONE, id: `wamid.${newId()}`, timestamp: String(secondsNow()), type, ...change };
}

/** One notified message as it is stored: in the journal's list, by its id, and in its event. */
async function received(change: object, contacts: object[] = []) {
  await notify(
    test,
    envelope(connection, { contacts, messages: [message('text', { text: { body: 'oi' }, ...change })] }),
  );
  return lastReceived();
}

async function lastReceived() {
  const id = String((await inboundOf(test, connection)).at(-1)?.id);
  const { data: single } = (await sender.api.get(`/messages/${id}`)).body;
  const { data: list } = (await sender.api.get('/messages')).body;
  const [event] = await eventsOf(test.database, id);
  return { id, single, listed: list.find((row: { id: string }) => row.id === id), event: event?.data ?? {} };
}

const send = (body: object) =>
  sender.api.post(
    '/messages',
    { connection_id: connection.id, type: 'text', text: { body: 'Oi' }, ...body },
    { headers: { 'idempotency-key': newId() } },
  );

const CONTEXT_KEYS = ['context', 'referral', 'identity', 'username', 'group_id'];

function contextOf(shown: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(shown).filter(([key]) => CONTEXT_KEYS.includes(key)));
}

const REFERRAL = {
  source_url: 'https://fb.me/2n',
  source_id: '120210',
  source_type: 'ad',
  headline: 'Açaí',
  body: 'Two for one',
  media_type: 'image',
  image_url: 'https://scontent.example/x.jpg',
  ctwa_clid: 'ARAkLkA8rmlFeiCktEJQ',
  welcome_message: { text: 'Hi!' },
};

describe('what is beside the content of an inbound message', () => {
  it.each<[string, object, object[], object]>([
    ['nothing', {}, [], {}],
    ['not forwarded', { context: { forwarded: false } }, [], {}],
    [
      'an answer to a message that is not ours',
      { context: { from: '1', id: 'wamid.FOREIGN', forwarded: true } },
      [],
      { context: { forwarded: true, quoted_platform_id: 'wamid.FOREIGN' } },
    ],
    [
      'everything malformed',
      { context: [7], referral: 'x', identity: [1], group_id: {} },
      [{ ...ANA, profile: { name: 'Ana', username: 7 }, identity_key_hash: [] }],
      {},
    ],
    ['what is too large to be true', { referral: { headline: 'x'.repeat(100_000) } }, [], {}],
  ])('%s', async (_name, change, contacts, expected) => {
    const { single, listed, event } = await received(change, contacts);
    expect(single).toMatchObject({ body: 'oi', content: { body: 'oi' } });
    expect([contextOf(single), contextOf(listed), contextOf(event)]).toEqual([expected, expected, expected]);
  });

  it('is no part of an unknown content', async () => {
    await notify(test, envelope(connection, { messages: [message('hologram', { referral: REFERRAL, extra: 1 })] }));
    const { single } = await lastReceived();
    expect(single).toMatchObject({ content: { extra: 1 }, referral: REFERRAL });
    expect(single.content).not.toHaveProperty('referral');
  });

  it('goes with the contact who is erased', async () => {
    const phone = testPhone();
    const { id } = await received({ from: phone, referral: REFERRAL }, [
      { profile: { username: 'secret.name' }, wa_id: phone },
    ]);
    expect(await rowOf(test, 'message_view', id)).toMatchObject({ inbound_context: { username: 'secret.name' } });
    await test.app.get(Erasure, { strict: false }).erase(sender.workspace.id, phone);
    expect(await rowOf(test, 'message_view', id)).toMatchObject({ inbound_context: null });
    const left = await test.database.query(
      `select 1 from webhook_event where position('secret.name' in data::text) > 0`,
    );
    expect(left).toEqual([]);
  });
});

describe('a reaction of a customer', () => {
  it('to a message that is not ours says which', async () => {
    const change = { type: 'reaction', text: undefined, reaction: { message_id: 'wamid.FOREIGN', emoji: '👍' } };
    const { single } = await received(change);
    expect(single).toMatchObject({ reply_to_message_id: null, context: { quoted_platform_id: 'wamid.FOREIGN' } });
  });
});

describe('a message of a group', () => {
  it('is recognisable, belongs to no conversation, opens no window and cannot be answered as a direct one', async () => {
    const group = 'Y2FwaV9ncm91cDox';
    const { id, single, event } = await received({ group_id: group, from_user_id: ANA.user_id }, [ANA]);
    const contact = { phone: PHONE, user_id: ANA.user_id, name: 'Ana' };
    expect(single).toMatchObject({ group_id: group, conversation_id: null, from: PHONE, contact });
    expect(event).toMatchObject({ group_id: group, contact, message: { conversation_id: null, from: PHONE } });
    expect(event).not.toHaveProperty('sender');
    expect(single).not.toHaveProperty('sender');
    expect((await send({ to: PHONE })).body.error.code).toBe('SERVICE_WINDOW_CLOSED');

    await received({}, [ANA]);
    expect((await send({ to: PHONE })).status).toBe(202);
    expect((await send({ to: PHONE, reply_to_message_id: id })).body.error.code).toBe('REPLY_TARGET_NOT_FOUND');
  });

  it('is erased with its author', async () => {
    const userId = `BR.${newId().replaceAll('-', '')}`;
    const phone = testPhone();
    await received({ from: phone, from_user_id: userId });
    const hidden = await received({ from: undefined, from_user_id: userId, group_id: 'Y2Fw' });
    expect(hidden.single).toMatchObject({ from: null, contact: { phone: null, user_id: userId } });
    await test.app.get(Erasure, { strict: false }).erase(sender.workspace.id, phone);
    expect(await rowOf(test, 'message_view', hidden.id)).toMatchObject({
      body: null,
      content: {},
      inbound_context: null,
    });
  });
});

describe('sent_at of an inbound message', () => {
  it('is when the customer wrote, whenever it arrives', async () => {
    const seconds = secondsNow() - 3_600;
    const { single, event } = await received({ timestamp: String(seconds) });
    const sentAt = new Date(seconds * 1_000).toISOString();
    expect(single.sent_at).toBe(sentAt);
    expect(event.message).toMatchObject({ sent_at: sentAt, created_at: single.created_at });
    expect(Date.parse(single.created_at as string)).toBeGreaterThan(seconds * 1_000 + 3_000_000);
  });

  it('is never later than its arrival, and null where the platform gave none', async () => {
    const early = await received({ timestamp: String(secondsNow() + 86_400) });
    expect(early.single.sent_at).toBe(early.single.created_at);
    expect((await received({ timestamp: 'soon' })).single.sent_at).toBeNull();
  });
});

describe('a call', () => {
  const callOf = (change: object = {}): object => ({
    id: `wacid.${newId()}`,
    from: PHONE,
    to: connection.phoneNumber,
    event: 'connect',
    timestamp: String(secondsNow()),
    direction: 'USER_INITIATED',
    session: { sdp_type: 'offer', sdp: 'v=0' },
    ...change,
  });
  const ring = (call: object, contacts: object[] = [{ profile: { name: 'Ana' }, wa_id: PHONE }]): Promise<void> => {
    const metadata = { display_phone_number: connection.phoneNumber, phone_number_id: connection.phoneNumberId };
    const value = { messaging_product: 'whatsapp', metadata, contacts, calls: [call] };
    return notify(test, entries([{ id: connection.wabaId, changes: [{ field: 'calls', value }] }]));
  };

  it('of a customer opens the window, as a message does', async () => {
    expect((await send({ to: PHONE })).body.error.code).toBe('SERVICE_WINDOW_CLOSED');
    await ring(callOf());
    expect((await send({ to: PHONE })).status).toBe(202);
  });

  it('of a customer who hides the number opens it for the user id', async () => {
    await ring(callOf({ from: undefined, from_user_id: 'BR.77' }), [{ profile: { name: 'B' }, user_id: 'BR.77' }]);
    expect((await send({ recipient: 'BR.77' })).status).toBe(202);
  });

  it('whose direction the platform leaves out opens it too, unless it is ours', async () => {
    await ring(callOf({ direction: undefined, from: connection.phoneNumber, to: PHONE }), []);
    expect((await send({ to: PHONE })).body.error.code).toBe('SERVICE_WINDOW_CLOSED');
    await ring(callOf({ direction: undefined }));
    expect((await send({ to: PHONE })).status).toBe(202);
  });

  it('opens it from its own time', async () => {
    await ring(callOf({ timestamp: String(secondsNow() - 25 * 3_600) }));
    expect((await send({ to: PHONE })).body.error).toMatchObject({
      code: 'SERVICE_WINDOW_CLOSED',
      window_expired_at: expect.any(String) as string,
    });
  });

  it.each<[string, object]>([
    ['of ours', { direction: 'BUSINESS_INITIATED' }],
    ['that ends', { event: 'terminate' }],
    ['without a sender', { from: undefined }],
  ])('%s opens nothing', async (_name, change) => {
    await ring(callOf(change), []);
    expect((await send({ to: PHONE })).body.error.code).toBe('SERVICE_WINDOW_CLOSED');
  });
});
