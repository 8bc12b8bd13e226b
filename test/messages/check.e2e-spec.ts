import { newId } from '../../src/common/ids.js';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import type { ApiClient } from '../support/api-client.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { approvedTemplate, bodyValues, templateBody } from './platform-templates.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { templateReviewMs: 20, statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});
afterAll(async () => test?.stop());

type Json = Record<string, unknown>;

interface Checked {
  sendable: boolean;
  problems: ({ code: string; message: string } & Json)[];
  warnings: { code: string; message: string; field?: string }[];
  rendered: { header: Json | null; body: string | null; footer: string | null; buttons: Json[] };
  conversation_id: string | null;
  window: { open: boolean; closes_at: string | null };
  queue: { ahead: number; estimated_send_at: string | null };
}

const bodyTo = (to: string, more: Json = {}): Json => ({
  connection_id: workspace.connection.id,
  to,
  type: 'text',
  text: { body: 'hello' },
  ...more,
});
const answer = (body: unknown, api: ApiClient = workspace.api) => api.post('/messages/check', body);
async function check(body: unknown, api?: ApiClient): Promise<Checked> {
  const { status, body: answered } = await answer(body, api);
  expect([status, answered.error]).toEqual([200, undefined]);
  return answered.data as Checked;
}
const codesOf = (notices: readonly { code: string }[]) => notices.map(({ code }) => code);
const rows = async (): Promise<unknown> => {
  const counts = ['message', 'message_queue', 'message_content', 'conversation', 'webhook_event'].map(
    (table) => `(select count(*)::int from ${table}) as ${table}`,
  );
  return (await test.database.query(`select ${counts.join(', ')}`))[0];
};

describe('POST /messages/check', () => {
  it('says that a text may go, into which window, and when; and stores and sends nothing', async () => {
    const { id, phone } = await test.factories.conversation({ connection: workspace.connection });
    const before = await rows();
    const asked = Date.now();
    const checked = await check(bodyTo(phone));
    expect(checked).toEqual({
      sendable: true,
      problems: [],
      warnings: [],
      endpoint: 'messages',
      rendered: { header: null, body: 'hello', footer: null, buttons: [] },
      conversation_id: id,
      window: { open: true, closes_at: expect.any(String) as string },
      owner: 'you',
      owner_role: null,
      queue: { ahead: 0, estimated_send_at: expect.any(String) as string },
      limits: [],
    });
    expect(Date.parse(checked.window.closes_at ?? '')).toBeGreaterThan(asked);
    expect(Math.abs(Date.parse(checked.queue.estimated_send_at ?? '') - asked)).toBeLessThan(60_000);
    expect(await rows()).toEqual(before);
    expect(test.simulator.messages.list({ to: phone })).toEqual([]);
  });

  it('names every problem at once, each as POST /messages would answer it', async () => {
    const closed = await test.factories.conversation({ connection: workspace.connection });
    await test.factories.age('conversation', closed.id, 25 * 3_600, 'last_inbound_at');
    const body = bodyTo(closed.phone, {
      reply_to_message_id: newId(),
      media_object_id: newId(),
      send_at: '2020-01-01T00:00:00Z',
    });
    const checked = await check(body);
    expect([checked.sendable, codesOf(checked.problems)]).toEqual([
      false,
      ['SEND_AT_PASSED', 'SERVICE_WINDOW_CLOSED', 'REPLY_TARGET_NOT_FOUND', 'MEDIA_NOT_FOUND'],
    ]);
    expect(checked.window).toEqual({ open: false, closes_at: expect.any(String) as string });
    expect(checked.problems[0]).toMatchObject({ earliest_send_at: expect.any(String) as string });
    const refused = await workspace.send(closed.phone);
    const { request_id: _id, ...error } = refused.body.error as Json;
    expect(checked.problems[1]).toEqual(error);
    expect(error).toHaveProperty('window_expired_at', checked.window.closes_at);
  });

  it('shows a template with its values, also where it may not be sent', async () => {
    const template = await approvedTemplate(test, workspace, {
      name: 'checked',
      components: [
        { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { header_text: ['4711'] } },
        { type: 'BODY', text: 'Hello {{1}}, it is on its way to you.', example: { body_text: [['Ana']] } },
        { type: 'FOOTER', text: 'Lucky Shrub' },
        { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Track', url: 'https://example.com/t' }] },
      ],
    });
    const header = { type: 'header', parameters: [{ type: 'text', text: '4712' }] };
    const body = bodyTo(testPhone(), templateBody('checked', [header, bodyValues('Bea')]));
    const shown = {
      header: { format: 'TEXT', text: 'Order 4712' },
      body: 'Hello Bea, it is on its way to you.',
      footer: 'Lucky Shrub',
      buttons: [{ type: 'URL', text: 'Track', url: 'https://example.com/t' }],
    };
    const checked = await check(body);
    expect(checked).toMatchObject({
      sendable: true,
      rendered: shown,
      conversation_id: null,
      window: { open: false, closes_at: null },
    });

    const missing = await check({ ...body, ...templateBody('checked', [header]) });
    expect(codesOf(missing.problems)).toEqual(['TEMPLATE_PARAMETERS_MISMATCH']);
    expect(missing.rendered.body).toBe('Hello {{1}}, it is on its way to you.');

    await template.review('PAUSED');
    const paused = await waitFor(async () => {
      const found = await check(body);
      return found.sendable ? null : found;
    });
    expect([paused.problems[0]?.code, paused.problems[0]?.template_status, paused.rendered]).toEqual([
      'TEMPLATE_NOT_APPROVED',
      'paused',
      shown,
    ]);
    const unknown = await check(bodyTo(testPhone(), templateBody('not_there')));
    expect([codesOf(unknown.problems), unknown.rendered]).toEqual([
      ['TEMPLATE_NOT_FOUND'],
      { header: null, body: null, footer: null, buttons: [] },
    ]);
  });

  it.each<[string, Json, Json]>([
    [
      'buttons',
      {
        type: 'button',
        body: { text: 'Shall we?' },
        footer: { text: 'Until ten' },
        action: { buttons: [{ type: 'reply', reply: { id: 'y', title: 'Yes' } }] },
      },
      { header: null, body: 'Shall we?', footer: 'Until ten', buttons: [{ type: 'QUICK_REPLY', text: 'Yes' }] },
    ],
    [
      'a list',
      {
        type: 'list',
        header: { type: 'text', text: 'Tables' },
        body: { text: 'When?' },
        action: { button: 'Choose', sections: [{ title: 'All', rows: [{ id: '18', title: '18:00' }] }] },
      },
      {
        header: { format: 'TEXT', text: 'Tables' },
        body: 'When?',
        footer: null,
        buttons: [{ type: 'LIST', text: 'Choose' }],
      },
    ],
    [
      'a link',
      {
        type: 'cta_url',
        body: { text: 'The menu' },
        action: { name: 'cta_url', parameters: { display_text: 'Open', url: 'https://example.com' } },
      },
      {
        header: null,
        body: 'The menu',
        footer: null,
        buttons: [{ type: 'URL', text: 'Open', url: 'https://example.com' }],
      },
    ],
    [
      'a request of the place',
      { type: 'location_request_message', body: { text: 'Where?' }, action: { name: 'send_location' } },
      {
        header: null,
        body: 'Where?',
        footer: null,
        buttons: [{ type: 'LOCATION_REQUEST_MESSAGE', text: 'Send location' }],
      },
    ],
  ])('shows %s', async (_name, interactive, rendered) => {
    const to = await workspace.contact();
    const checked = await check(bodyTo(to, { type: 'interactive', text: undefined, interactive }));
    expect([checked.sendable, checked.rendered]).toEqual([true, rendered]);
  });

  it('shows a file with its caption, and warns of a link that only WhatsApp fetches', async () => {
    const to = await workspace.contact();
    const media = { link: 'https://example.com/menu.jpg', caption: 'Menu' };
    const checked = await check(bodyTo(to, { type: 'image', text: undefined, media }));
    expect(checked).toMatchObject({
      sendable: true,
      rendered: { header: { format: 'IMAGE', text: null }, body: 'Menu' },
      warnings: [{ code: 'MEDIA_LINK_NOT_CHECKED', field: 'media.link' }],
    });
  });

  it.each([
    ['audio', 'caption', 'Listen'],
    ['sticker', 'caption', 'Thanks'],
    ['image', 'filename', 'menu.jpg'],
    ['document', 'voice', true],
  ])('warns that WhatsApp shows no field of %s that is %s', async (type, name, value) => {
    const to = await workspace.contact();
    const media = { link: 'https://example.com/file', [name]: value };
    const checked = await check(bodyTo(to, { type, text: undefined, media }));
    expect(checked).toMatchObject({
      sendable: true,
      rendered: { header: { format: type.toUpperCase(), text: null }, body: null },
      warnings: [
        { code: 'MEDIA_LINK_NOT_CHECKED', field: 'media.link' },
        { code: 'MEDIA_FIELD_NOT_SENT', field: `media.${name}` },
      ],
    });
  });

  it('counts what waits before it, and says when a scheduled one would leave', async () => {
    const connection = await connectionAtSimulator(test, workspace.organizationId, { throughputPerSecond: 1 });
    const { phone } = await test.factories.conversation({ connection });
    await test.database.execute(
      `insert into lane (key, paused_until) values ($1, clock_timestamp() + interval '10 minutes')
       on conflict (key) do update set paused_until = excluded.paused_until`,
      [connection.id],
    );
    for (let n = 0; n < 30; n++) await workspace.send(phone, { body: { connection_id: connection.id } });
    const own = bodyTo(phone, { connection_id: connection.id });
    const { queue } = await check(own);
    expect(queue.ahead).toBe(30);
    expect(Date.parse(queue.estimated_send_at ?? '') - Date.now()).toBeGreaterThan(300_000);
    const inTwoHours = new Date(Date.now() + 7_200_000).toISOString();
    const scheduled = await check({ ...own, send_at: inTwoHours });
    expect([scheduled.sendable, scheduled.queue]).toEqual([true, { ahead: 0, estimated_send_at: inTwoHours }]);
    const expiring = await check({ ...own, ttl_seconds: 60 });
    expect([expiring.sendable, codesOf(expiring.warnings)]).toEqual([true, ['EXPIRES_BEFORE_SEND']]);
  });

  it('warns where the window closes before the message leaves', async () => {
    const { id, phone } = await test.factories.conversation({ connection: workspace.connection });
    await test.factories.age('conversation', id, 23 * 3_600, 'last_inbound_at');
    const inTwoHours = new Date(Date.now() + 7_200_000).toISOString();
    const { sendable, warnings } = await check(bodyTo(phone, { send_at: inTwoHours }));
    expect([sendable, warnings]).toEqual([
      true,
      [{ code: 'WINDOW_CLOSES_BEFORE_SEND', message: expect.any(String) as string, field: 'send_at' }],
    ]);
  });

  it('warns of a restricted number with low quality, and of itself', async () => {
    const connection = await connectionAtSimulator(test, workspace.organizationId, { status: 'restricted' });
    await test.database.execute(`update connection set quality_rating = 'RED' where id = $1`, [connection.id]);
    await test.factories.conversation({ connection, phone: connection.phoneNumber });
    const { sendable, warnings } = await check(bodyTo(connection.phoneNumber, { connection_id: connection.id }));
    expect([sendable, codesOf(warnings)]).toEqual([
      true,
      ['NUMBER_RESTRICTED', 'NUMBER_QUALITY_LOW', 'RECIPIENT_IS_SENDER'],
    ]);
  });

  it('warns of a number without its country, which no phone has; spaces and dashes are refused by name', async () => {
    const { sendable, warnings } = await check(
      bodyTo('015112345678', templateBody('order_update', [bodyValues('Ana', '4711')])),
    );
    expect({ sendable, warnings }).toMatchObject({ sendable: true, warnings: [{ code: 'RECIPIENT_DOUBTFUL' }] });
    expect(warnings[0]?.message).toContain('begins with 0');
    const { status, body } = await answer(bodyTo('+49 151-12345678'));
    expect([status, body.error.details?.[0]?.message]).toEqual([
      422,
      expect.stringContaining('without spaces or dashes'),
    ]);
  });

  it.each([
    ['button', { buttons: ['a', 'b', 'c', 'd'].map((id) => ({ type: 'reply', reply: { id, title: id } })) }, 'buttons'],
    ['button', { buttons: [{ type: 'reply', reply: { id: 'a', title: 'x'.repeat(21) } }] }, 'buttons[0].reply.title'],
    [
      'button',
      { buttons: ['Yes', 'No'].map((title) => ({ type: 'reply', reply: { id: 'a', title } })) },
      'buttons[1].reply.id',
    ],
    ['list', { button: 'Menu', sections: [{ rows: [{ title: 'Soup' }] }] }, 'sections[0].rows[0].id'],
    [
      'list',
      {
        button: 'Menu',
        sections: ['A', 'B'].map((title) => ({
          title,
          rows: Array.from({ length: 6 }, (_, index) => ({ id: `${title}${index}`, title: 'Soup' })),
        })),
      },
      'sections',
    ],
    [
      'list',
      { button: 'Menu', sections: ['a', 'b'].map((id) => ({ rows: [{ id, title: id }] })) },
      'sections[0].title',
    ],
  ])('warns of a %s that WhatsApp refuses, and takes it: %j', async (type, action, field) => {
    const { phone } = await test.factories.conversation({ connection: workspace.connection });
    const interactive = { type, body: { text: 'Choose' }, action };
    const { sendable, warnings } = await check(bodyTo(phone, { type: 'interactive', text: undefined, interactive }));
    expect({ sendable, warning: warnings[0] }).toMatchObject({
      sendable: true,
      warning: { code: 'ACTION_REFUSED', field: `interactive.action.${field}` },
    });
  });

  it('warns of a number that no country has, of low quality of a template, and of values that nothing takes', async () => {
    await approvedTemplate(test, workspace, {
      name: 'low',
      components: [{ type: 'BODY', text: 'Our shop is open all day today.' }],
    });
    const odd = await check(bodyTo('99912345', templateBody('low')));
    expect(odd.warnings).toEqual([expect.objectContaining({ code: 'RECIPIENT_DOUBTFUL', field: 'to' })]);
    await test.database.execute(
      `update template set quality = 'YELLOW', category = 'MARKETING' where name = 'low' and organization_id = $1`,
      [workspace.organizationId],
    );
    const { warnings } = await check(bodyTo('12015550123', templateBody('low')));
    expect(codesOf(warnings)).toEqual(['TEMPLATE_QUALITY_LOW', 'MARKETING_TO_UNITED_STATES']);
  });

  it('warns of a recipient whose last message failed, until one arrives', async () => {
    const { id: conversationId, phone } = await test.factories.conversation({ connection: workspace.connection });
    const failed = { connection: workspace.connection, conversationId, recipient: phone, status: 'failed' as const };
    const { id } = await test.factories.message(failed);
    await test.database.execute(
      `update message_state set failure_category = 'recipient_unreachable', failed_at = now() where message_id = $1`,
      [id],
    );
    const { warnings } = await check(bodyTo(phone));
    expect(warnings).toEqual([expect.objectContaining({ code: 'RECIPIENT_FAILED_BEFORE', field: 'to' })]);
    expect(warnings[0]?.message).toContain(id);
    await workspace.reaches(await workspace.sendText(phone), 'delivered', 'read');
    expect((await check(bodyTo(phone))).warnings).toEqual([]);
  });

  it('names a missing subscription and a number that is not connected beside what else is wrong', async () => {
    const { id } = await test.factories.workspace({ paidUntil: new Date(Date.now() - 60_000) });
    const api = test.api.as((await test.factories.apiKey({ organizationId: id })).text);
    const connection = await connectionAtSimulator(test, id);
    await test.app.get(ConnectionsService, { strict: false }).disconnect(id, connection.id);
    const checked = await check(bodyTo(testPhone(), { connection_id: connection.id }), api);
    expect(codesOf(checked.problems)).toEqual([
      'SUBSCRIPTION_REQUIRED',
      'CONNECTION_NOT_READY',
      'SERVICE_WINDOW_CLOSED',
    ]);
    expect(checked.queue.estimated_send_at).toBeNull();
  });

  it('says that a number is disconnected where its templates were never read, and cannot be read now', async () => {
    const connection = await connectionAtSimulator(test, workspace.organizationId);
    await test.app.get(ConnectionsService, { strict: false }).disconnect(workspace.organizationId, connection.id);
    const body = { connection_id: connection.id, to: testPhone(), ...templateBody('never_read') };
    const checked = await check(body);
    expect(codesOf(checked.problems)).toEqual(['CONNECTION_NOT_READY']);
    expect(checked.rendered.body).toBeNull();
    const sent = await workspace.api.post('/messages', body, { headers: { 'idempotency-key': newId() } });
    expect(sent.body.error.code).toBe('CONNECTION_NOT_READY');
  });

  it('another workspace’s number is as one that does not exist, and its contacts are not told', async () => {
    const other = await sendingWorkspace(test);
    const to = await workspace.contact();
    const answers = await Promise.all(
      [workspace.connection.id, newId()].map((id) => check(bodyTo(to, { connection_id: id }), other.api)),
    );
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject({
      sendable: false,
      conversation_id: null,
      window: { open: false, closes_at: null },
    });
    expect(codesOf(answers[0]?.problems ?? [])).toEqual(['CONNECTION_NOT_FOUND']);
    const theirs = await workspace.sendText(to);
    const reply = { connection_id: other.connection.id, reply_to_message_id: theirs };
    expect(codesOf((await check(bodyTo(await other.contact(), reply), other.api)).problems)).toEqual([
      'REPLY_TARGET_NOT_FOUND',
    ]);
  });

  it.each<[string, unknown, string]>([
    ['a malformed body', { to: '15550001234' }, 'connection_id'],
    ['a key in the body', { ...bodyOf(), idempotency_key: newId() }, 'idempotency_key'],
    ['no object', [], ''],
  ])('422 for %s, as POST /messages', async (_name, body, field) => {
    const { status, body: refused } = await answer(body);
    expect([status, refused.error.code]).toEqual([422, 'VALIDATION_FAILED']);
    expect(refused.error.details).toContainEqual(expect.objectContaining({ field }));
  });

  it('says nothing of the contact to a key that may not read messages', async () => {
    const to = await workspace.contact();
    const { organizationId } = workspace;
    const { text } = await test.factories.apiKey({ organizationId, scopes: ['messages:write'] });
    const [known, unknown] = await Promise.all(
      [to, testPhone()].map(async (phone) => (await answer(bodyTo(phone), test.api.as(text))).body.data as object),
    );
    for (const data of [known, unknown]) {
      expect(data).not.toHaveProperty('conversation_id');
      expect(data).not.toHaveProperty('window');
      expect(data).toHaveProperty('queue');
    }
  });

  it('needs the scope messages:write', async () => {
    const { text } = await test.factories.apiKey({
      organizationId: workspace.organizationId,
      scopes: ['messages:read'],
    });
    const { status, body } = await answer(bodyTo(testPhone()), test.api.as(text));
    expect([status, body.error.required_scope]).toEqual([403, 'messages:write']);
  });
});

function bodyOf(): Json {
  return { connection_id: newId(), to: '15550001234', body: 'hello' };
}
