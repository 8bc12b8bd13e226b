import { HistoryImportService } from '../../src/modules/inbound/history-import.service.js';
import { entries, notify, statesOf as kept, secondsNow, tryAgain } from '../inbound/fixture.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { rowsWith } from '../isolation/traces.js';
import { testPhone } from '../support/factories.js';
import { countUsage } from '../support/count-usage.js';
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

let made = 0;
const newWamid = () => `wamid.App${++made}`;

function change(field: string, value: object): object {
  const { phoneNumber, phoneNumberId, wabaId } = workspace.connection;
  const metadata = { display_phone_number: phoneNumber, phone_number_id: phoneNumberId };
  return entries([{ id: wabaId, changes: [{ field, value: { messaging_product: 'whatsapp', metadata, ...value } }] }]);
}

/** What the business sends in the app. */
function echoOf(to: string, given: object = {}): { id: string; change: object } {
  const id = newWamid();
  const echo = {
    from: workspace.connection.phoneNumber,
    to,
    to_user_id: `ES.${to}`,
    id,
    timestamp: String(secondsNow() - 5),
    type: 'text',
    text: { body: 'x' },
    ...given,
  };
  return { id, change: change('smb_message_echoes', { message_echoes: [echo] }) };
}

const statusOf = (id: string, status: string, given: object = {}) =>
  change('messages', { statuses: [{ id, status, timestamp: String(secondsNow()), recipient_id: '1', ...given }] });

type Listed = Record<string, unknown> & { id: string; conversation_id: string };

async function journal(query = ''): Promise<Listed[]> {
  return (await workspace.api.get(`/messages?limit=100${query}`)).body.data;
}

async function only(query = ''): Promise<Listed> {
  const found = await journal(query);
  expect(found).toHaveLength(1);
  return found[0] as Listed;
}

describe('messages that are sent in the WhatsApp Business app', () => {
  it('are outbound messages of the journal and of the conversation, and are announced once', async () => {
    const phone = testPhone();
    const { id, change: echo } = echoOf(phone);
    await notify(test, echo);
    await notify(test, echo);
    const listed = await only();
    expect(listed).toMatchObject({
      direction: 'outbound',
      source: 'app',
      from: workspace.connection.phoneNumber,
      to: phone,
      contact: { phone, user_id: `ES.${phone}` },
      type: 'text',
      body: 'x',
      content: { body: 'x' },
      status: 'sent',
      meta_message_id: id,
      client_message_id: null,
      pricing: null,
    });
    expect(await workspace.message(listed.id)).toMatchObject({
      attempt_count: 0,
      attempts: [],
      queued_at: null,
      accepted_at: null,
      sent_at: expect.any(String),
    });
    const conversations = (await workspace.api.get(`/conversations?to=${phone}`)).body.data;
    expect(conversations).toMatchObject([
      { last_message: { id: listed.id, source: 'app' }, unread_count: 0, service_window_closes_at: null },
    ]);
    expect(await events(1)).toMatchObject([
      {
        type: 'message.sent_elsewhere',
        data: {
          message: { id: listed.id, source: 'app', direction: 'outbound', status: 'sent', to: phone, body: 'x' },
          contact: { phone, user_id: `ES.${phone}` },
          content: { body: 'x' },
        },
      },
    ]);
    const waiting = await test.database.query('select from message_queue where message_id = $1', [listed.id]);
    expect(waiting).toEqual([]);
  });

  it('go by the user id of a contact who hides the number', async () => {
    await notify(test, echoOf(testPhone(), { to: undefined, to_user_id: 'ES.77' }).change);
    expect(await only('&recipient=ES.77')).toMatchObject({ to: null, recipient: 'ES.77', source: 'app' });
  });

  it.each([
    [['delivered', 'read'], 'read'],
    [['read', 'delivered', 'sent'], 'read'],
    [['failed', 'delivered'], 'delivered'],
    [['delivered', 'failed'], 'delivered'],
    [['sent', 'failed'], 'failed'],
  ])('move by the reports %j to %s, and no event tells of it', async (reported, becomes) => {
    const { id, change: echo } = echoOf(testPhone());
    await notify(test, echo);
    const errors = [{ code: 131_026, title: 'Message undeliverable' }];
    for (const status of reported) await notify(test, statusOf(id, status, status === 'failed' ? { errors } : {}));
    const { id: messageId } = await only();
    const message = await workspace.message(messageId);
    const failed = becomes === 'failed';
    expect(message).toMatchObject({
      status: becomes,
      attempt_count: 0,
      failure_category: failed ? 'recipient_unreachable' : null,
      error: failed ? { code: '131026', message: 'Message undeliverable' } : null,
    });
    if (reported.includes('delivered')) expect(message.delivered_at).toEqual(expect.any(String));
    expect((await events(1)).map(({ type }) => type)).toEqual(['message.sent_elsewhere']);
  });

  it('find the reports that came before them', async () => {
    const { id, change: echo } = echoOf(testPhone());
    await notify(test, statusOf(id, 'read'));
    expect(await kept(test, id)).toEqual(['stored']);
    await notify(test, echo);
    await tryAgain(test, id);
    expect(await only()).toMatchObject({ status: 'read' });
    expect(await kept(test, id)).toEqual(['applied', 'applied']);
  });

  it('find the reports that come with them', async () => {
    const { id, change: echo } = echoOf(testPhone());
    const parts = [statusOf(id, 'delivered'), echo] as { entry: object[] }[];
    await notify(test, entries(parts.flatMap(({ entry }) => entry)));
    expect(await only()).toMatchObject({ status: 'delivered', source: 'app' });
  });

  it('can be neither retried nor canceled', async () => {
    const { id, change: echo } = echoOf(testPhone());
    await notify(test, echo);
    const { id: messageId } = await only();
    for (const status of ['sent', 'failed']) {
      await notify(test, statusOf(id, status));
      for (const [action, code] of [
        ['retry', 'MESSAGE_NOT_RETRYABLE'],
        ['cancel', 'MESSAGE_NOT_CANCELABLE'],
      ] as const) {
        const refused = await workspace.api.post(`/messages/${messageId}/${action}`, {});
        expect([refused.status, refused.body.error.code]).toEqual([409, code]);
        expect(refused.body.error.message).toContain('WhatsApp Business app');
      }
    }
    const { body } = await workspace.api.get(`/messages/${messageId}/timeline`);
    expect(body).toMatchObject({
      data: [
        { event: 'sent', status: 'sent', source: 'whatsapp', summary: expect.stringContaining('not by this API') },
        { event: 'failed' },
      ],
      explanation: { retry: { advised: false } },
    });
  });

  it('keep what they show: files are fetched, corrections and withdrawals are entries of their own', async () => {
    const phone = testPhone();
    const image = { id: '1234567890', mime_type: 'image/jpeg', caption: 'The menu', url: 'https://x' };
    await notify(test, echoOf(phone, { type: 'image', text: undefined, image }).change);
    const listed = await only('&source=app');
    expect(listed).toMatchObject({ type: 'image', body: 'The menu', media_object_id: expect.any(String) });
    expect(listed.content).toEqual({ id: '1234567890', mime_type: 'image/jpeg', caption: 'The menu' });
    for (const [type, content] of [
      ['edit', { original_message_id: 'wamid.O', message: { type: 'text', text: { body: 'y' } } }],
      ['revoke', { original_message_id: 'wamid.O' }],
    ] as const) {
      await notify(test, echoOf(phone, { type, text: undefined, [type]: content }).change);
      expect((await journal())[0]).toMatchObject({ type, content, source: 'app' });
    }
  });

  it('make no second row of what the API sent', async () => {
    const phone = await workspace.contact();
    const id = await workspace.sendText(phone);
    const { meta_message_id: wamid } = await workspace.reaches(id, 'read');
    await notify(test, echoOf(phone, { id: wamid }).change);
    expect(await only()).toMatchObject({ id, source: 'api' });
  });

  it('are found by their source, and answered by customers', async () => {
    const phone = await workspace.contact();
    const sent = await workspace.sendText(phone);
    const { id, change: echo } = echoOf(phone);
    await notify(test, echo);
    const [own] = await journal('&source=app');
    const answer = { from: phone, id: newWamid(), timestamp: String(secondsNow()), type: 'text', text: { body: 'ok' } };
    await notify(test, change('messages', { messages: [{ ...answer, context: { id } }] }));
    const ids = async (query: string) => (await journal(query)).map(({ id: each }) => each);
    const [received] = await journal('&source=customer');
    expect(received).toMatchObject({ body: 'ok', source: 'customer', reply_to_message_id: own?.id });
    for (const filter of ['', `&connection_id=${workspace.connection.id}`]) {
      expect(await ids(`&source=app${filter}`)).toEqual([own?.id]);
      expect(await ids(`&source=api${filter}`)).toEqual([sent]);
      expect(await ids(`&source=customer${filter}`)).toEqual([received?.id]);
      expect(await ids(`&source=history${filter}`)).toEqual([]);
    }
    expect(await ids(`&source=app&to=${phone}`)).toEqual([own?.id]);
    expect(await ids(`&source=api&to=${phone}`)).toEqual([sent]);
    expect(await ids('&source=app&direction=inbound')).toEqual([]);
    expect(await ids('&source=app&status=sent')).toEqual([own?.id]);
    expect(await ids(`&source=app&conversation_id=${own?.conversation_id}`)).toEqual([own?.id]);
    expect(await ids(`&source=api&conversation_id=${own?.conversation_id}`)).toEqual([sent]);
  });

  it('are named where they are not known, and cost their neighbours nothing', async () => {
    const { id, change: echo } = echoOf(testPhone(), {
      type: 'hologram',
      text: undefined,
      hologram: { x: 1 },
      mood: 1,
    });
    await notify(test, echo);
    expect(await only()).toMatchObject({ type: 'hologram' });
    const unread = await test.database.query(
      'select unread from platform_notification where position($1::bytea in body) > 0',
      [Buffer.from(id)],
    );
    expect(unread).toEqual([{ unread: ['smb_message_echoes.message_echoes[hologram]'] }]);
    await notify(test, change('smb_message_echoes', { message_echoes: [{ id: newWamid(), type: 'text' }] }));
    expect(await journal()).toHaveLength(1);
  });
});

it('usage counts what was sent in the app apart, without a cost', async () => {
  const phone = await workspace.contact();
  await workspace.reaches(await workspace.sendText(phone), 'read');
  const { id, change: echo } = echoOf(phone);
  await notify(test, echo);
  const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'service' };
  await notify(test, statusOf(id, 'delivered', { pricing }));
  await countUsage(test);
  const { data } = (await workspace.api.get('/usage?group_by=source')).body;
  expect(data).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ source: 'api', submitted: 1, read: 1 }),
      expect.objectContaining({ source: 'app', submitted: 0, sent: 1, delivered: 1, read: 0 }),
    ]),
  );
});

it('erasure reaches what was sent to the person in the app, its file and its event', async () => {
  const phone = testPhone();
  const image = { id: '1234567892', mime_type: 'image/jpeg', caption: `For ${phone}` };
  await notify(test, echoOf(phone, { type: 'image', text: undefined, image }).change);
  await events(1);
  const { id } = await only();
  await test.app.get(Erasure).erase(workspace.organizationId, phone);
  expect(await workspace.message(id)).toMatchObject({ to: null, content: {}, meta_message_id: null, source: 'app' });
  await waitFor(async () => (await test.database.query('select from contact_book_removal')).length === 0, {
    what: 'the contact book',
  });
  expect(await rowsWith(test.database, [phone])).toEqual([]);
  const { body } = await workspace.api.get(`/messages/${id}/timeline`);
  expect(body.data).toEqual(expect.arrayContaining([expect.objectContaining({ event: 'erased' })]));
});

describe('the history of the app', () => {
  const importAll = () =>
    test.app.get(HistoryImportService, { strict: false }).run(workspace.organizationId, workspace.connection.id);
  const inApp = async (body: object) => {
    const response = await fetch(`${test.simulatorUrl}/_simulator/numbers/${workspace.connection.phoneNumberId}/app`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
  };
  const part = (messages: object[], thread = '34600') =>
    change('history', {
      history: [{ metadata: { phase: 0, chunk_order: 1, progress: 55 }, threads: [{ id: thread, messages }] }],
    });
  const said = (id: string, given: object = {}) => ({
    from: '34600',
    to: workspace.connection.phoneNumber,
    id,
    timestamp: '1700000000',
    type: 'text',
    text: { body: 'x' },
    history_context: { status: 'READ' },
    ...given,
  });

  it('is kept until it is imported, with its times and without a window or an event', async () => {
    const received = newWamid();
    const sent = newWamid();
    const own = { from: workspace.connection.phoneNumber, to: '34600', timestamp: '1700000100' };
    const notification = part([said(received), said(sent, own)]);
    await notify(test, notification);
    expect(await journal()).toEqual([]);
    expect(await importAll()).toEqual({
      notifications: 1,
      found: 2,
      imported: 2,
      unreadable: 0,
      progress: 55,
      declined: false,
      next: null,
    });
    const first = await journal();
    expect(first).toMatchObject([
      {
        direction: 'outbound',
        source: 'history',
        status: 'read',
        to: '34600',
        meta_message_id: sent,
        created_at: '2023-11-14T22:15:00.000Z',
      },
      {
        direction: 'inbound',
        source: 'history',
        status: 'received',
        from: '34600',
        meta_message_id: received,
        created_at: '2023-11-14T22:13:20.000Z',
      },
    ]);
    await notify(test, notification);
    expect(await importAll()).toMatchObject({ notifications: 2, found: 4, imported: 0 });
    expect(await journal()).toEqual(first);
    const { data } = (await workspace.api.get('/conversations?limit=10')).body;
    expect(data).toMatchObject([{ last_inbound_at: null, service_window_closes_at: null, unread_count: 0 }]);
    const refused = await workspace.api.post(`/messages/${first[0]?.id}/retry`, {});
    expect(refused.body.error.code).toBe('MESSAGE_NOT_RETRYABLE');
    // A message of now is the only one with an event.
    await notify(test, echoOf(testPhone()).change);
    expect((await events(1)).map(({ type }) => type)).toEqual(['message.sent_elsewhere']);
  });

  it.each([true, false])('has its files, which come apart (before their messages: %s)', async (isFileFirst) => {
    const id = newWamid();
    const { text: _, ...placeholder } = { ...said(id), type: 'media_placeholder' };
    const image = { id: '1234567891', mime_type: 'image/jpeg', caption: 'The menu' };
    const notifications = [
      part([placeholder]),
      change('history', { messages: [{ ...placeholder, type: 'image', image }] }),
    ];
    for (const each of isFileFirst ? notifications.toReversed() : notifications) {
      await notify(test, each);
      await importAll();
    }
    expect(await only()).toMatchObject({
      type: 'image',
      body: 'The menu',
      content: image,
      media_object_id: expect.any(String),
    });
  });

  it('does not double what is known, nor touch another number', async () => {
    const echo = echoOf('34600');
    await notify(test, echo.change);
    await notify(test, part([said(echo.id, { from: workspace.connection.phoneNumber, to: '34600' })]));
    const other = await sendingWorkspace(test);
    const importOther = test.app.get(HistoryImportService, { strict: false });
    expect(await importOther.run(other.organizationId, other.connection.id)).toMatchObject({ notifications: 0 });
    await expect(importOther.run(other.organizationId, workspace.connection.id)).rejects.toMatchObject({
      code: 'CONNECTION_NOT_FOUND',
    });
    expect(await importAll()).toMatchObject({ found: 1, imported: 0 });
    expect(await only()).toMatchObject({ source: 'app' });
  });

  it('comes from the platform when it is asked for, once', async () => {
    await inApp({ action: 'history', contacts: 3, messages: 5, notify: false });
    const ask = () =>
      test.app.get(HistoryImportService, { strict: false }).request(workspace.organizationId, workspace.connection.id);
    await ask();
    const sum = await waitFor(
      async () => {
        const found = await importAll();
        return found.notifications === 4 ? found : null;
      },
      { what: 'four notifications' },
    );
    expect(sum).toMatchObject({ found: 16, progress: 100, unreadable: 0 });
    const messages = await journal('&source=history');
    expect(messages).toHaveLength(15);
    expect(messages.filter(({ type }) => type === 'image')).toHaveLength(1);
    await expect(ask()).rejects.toThrow('WhatsApp does not hand the history over');
  });

  it('may be declined', async () => {
    await inApp({ action: 'history', declined: true });
    const sum = await waitFor(
      async () => {
        const found = await importAll();
        return found.notifications === 1 ? found : null;
      },
      { what: 'the notification' },
    );
    expect(sum).toMatchObject({ declined: true, found: 0 });
  });
});
