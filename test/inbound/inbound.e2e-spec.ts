import { newId } from '../../src/common/ids.js';
import type { ConnectionRow } from '../support/factories.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { bytesOf, changeOf, counter, entries, envelope, inboundOf, notify, post, secondsNow } from './fixture.js';

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
});

function message(type: string, change: object = {}): object {
  return { from: '5511988887777', id: `wamid.${newId()}`, timestamp: String(secondsNow()), type, ...change };
}

const ANA = { profile: { name: 'Ana' }, wa_id: '5511988887777', user_id: 'BR.13491208655302741918' };

describe('an inbound message', () => {
  it('is in the journal with its contact, and opens the window for an answer', async () => {
    const text = message('text', { text: { body: 'Olá' }, from_user_id: ANA.user_id });
    await notify(test, envelope(connection, { contacts: [ANA], messages: [text] }));
    const { body } = await sender.api.get('/messages?status=received');
    expect(body.data).toEqual([
      expect.objectContaining({ status: 'received', from: '5511988887777', to: connection.phoneNumber, body: 'Olá' }),
    ]);
    const { body: single } = await sender.api.get(`/messages/${body.data[0].id}`);
    expect(single.data).toMatchObject({
      direction: 'inbound',
      type: 'text',
      content: { body: 'Olá' },
      contact: { phone: '5511988887777', user_id: 'BR.13491208655302741918', name: 'Ana' },
      attempts: [],
    });
    const answer = await sender.api.post(
      '/messages',
      { connection_id: connection.id, to: '5511988887777', type: 'text', text: { body: 'Oi' } },
      { headers: { 'idempotency-key': newId() } },
    );
    expect(answer.status).toBe(202);
  });

  it('without contacts, profile or number finds its contact nevertheless', async () => {
    const { profile: _profile, ...nameless } = ANA;
    const hidden = { user_id: 'BR.77', profile: { name: 'Hidden', username: 'hidden.h' } };
    await notify(test, envelope(connection, { messages: [message('text', { text: { body: '1' } })] }));
    await notify(
      test,
      envelope(connection, { contacts: [nameless], messages: [message('text', { text: { body: '2' } })] }),
    );
    const { from: _from, ...fromless } = message('text', { text: { body: '3' }, from_user_id: 'BR.77' }) as {
      from: string;
    };
    await notify(test, envelope(connection, { contacts: [hidden], messages: [fromless] }));
    const stored = await inboundOf(test, connection);
    expect(stored.map((row) => [row.body, row.sender])).toEqual([
      ['1', '5511988887777'],
      ['2', '5511988887777'],
      ['3', null],
    ]);
    expect(stored[0]?.conversation_id).toBe(stored[1]?.conversation_id);
    const { body } = await sender.api.get(`/messages/${String(stored[2]?.id)}`);
    expect(body.data).toMatchObject({ from: null, contact: { phone: null, user_id: 'BR.77', name: 'Hidden' } });
  });

  it('makes one contact of two once the platform names both', async () => {
    const { from: _from, ...byUserId } = message('text', { text: { body: '1' }, from_user_id: 'BR.5' }) as {
      from: string;
    };
    await notify(test, envelope(connection, { messages: [byUserId] }));
    await notify(test, envelope(connection, { messages: [message('text', { text: { body: '2' } })] }));
    const both = message('text', { text: { body: '3' }, from_user_id: 'BR.5' });
    await notify(test, envelope(connection, { messages: [both] }));
    const ids = await Promise.all(
      (await inboundOf(test, connection)).map(
        async (row) => (await sender.api.get(`/messages/${String(row.id)}`)).body.data.conversation_id as string,
      ),
    );
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
  });

  it('that reports a new number, a correction or a withdrawal opens no window', async () => {
    const from = testPhone();
    const system = message('system', { from, system: { type: 'user_changed_number', body: 'A changed', wa_id: '1' } });
    const edit = message('edit', { from, edit: { original_message_id: 'wamid.1', message: {} } });
    const revoke = message('revoke', { from, revoke: { original_message_id: 'wamid.1' } });
    await notify(test, envelope(connection, { messages: [system, edit, revoke] }));
    expect(await inboundOf(test, connection)).toHaveLength(3);
    const answer = await sender.api.post(
      '/messages',
      { connection_id: connection.id, to: from, type: 'text', text: { body: 'Oi' } },
      { headers: { 'idempotency-key': newId() } },
    );
    expect(answer.status).toBe(422);
    expect(answer.body.error.code).toBe('SERVICE_WINDOW_CLOSED');
  });

  it('names the message that it answers', async () => {
    const ours = await test.factories.message({ connection, status: 'delivered' });
    const context = { from: connection.phoneNumber, id: ours.metaMessageId };
    const reply = message('text', { text: { body: 'yes' }, context });
    const forwarded = message('text', { text: { body: 'fyi' }, context: { forwarded: true } });
    await notify(test, envelope(connection, { contacts: [ANA], messages: [reply, forwarded] }));
    const stored = await inboundOf(test, connection);
    expect(stored.map((row) => row.reply_to_message_id)).toEqual([ours.id, null]);
  });

  it('is stored once, however often and in however many notifications it comes', async () => {
    const same = message('text', { text: { body: 'once' } });
    const payload = bytesOf(envelope(connection, { contacts: [ANA], messages: [same, same] }));
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(test, payload)));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(await inboundOf(test, connection)).toHaveLength(1);
  });

  it('belongs to the number that its id names, whatever the displayed number says', async () => {
    const other = await test.sender();
    const misleading = { phoneNumberId: connection.phoneNumberId, phoneNumber: other.connection.phoneNumber };
    const change = changeOf(misleading, { messages: [message('text', { text: { body: 'mine' } })] });
    await notify(test, entries([{ id: connection.wabaId, changes: [change] }]));
    expect(await inboundOf(test, connection)).toHaveLength(1);
    expect(await inboundOf(test, other.connection)).toEqual([]);
  });
});

describe('a notification of many', () => {
  it('is read to its last entry, change, message and status, past everything that is not known', async () => {
    const other = await test.sender();
    const ours = await test.factories.message({ connection, status: 'accepted' });
    const text = (body: string) => message('text', { text: { body } });
    const status = { id: ours.metaMessageId, status: 'sent', timestamp: String(secondsNow()), recipient_id: '1555' };
    const unknown = counter(test, 'notifications_unknown');
    await notify(
      test,
      entries([
        { id: connection.wabaId, changes: [changeOf(connection, { messages: [text('1'), text('2')] })] },
        { id: 'x', changes: [{ field: 'brand_new_field', value: { a: 1 } }, { field: 'messages', value: null }, 7] },
        null,
        {
          id: other.connection.wabaId,
          time: secondsNow(),
          changes: [
            { field: 'message_template_status_update', value: { event: 'APPROVED', message_template_id: 1 } },
            changeOf(other.connection, { messages: [text('3'), { no: 'id' }, text('4')] }),
            changeOf(connection, { messages: [text('5')], statuses: [{ id: 'x', status: 'warming_up' }, status] }),
          ],
        },
      ]),
    );
    const bodies = async (of: ConnectionRow) => (await inboundOf(test, of)).map((row) => row.body);
    expect(await bodies(connection)).toEqual(['1', '2', '5']);
    expect(await bodies(other.connection)).toEqual(['3', '4']);
    expect((await sender.api.get(`/messages/${ours.id}`)).body.data).toMatchObject({ status: 'sent' });
    expect(counter(test, 'notifications_unknown')).toBeGreaterThanOrEqual(unknown + 5);
  });
});
