import { newId } from '../../src/common/ids.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { OptOutsService } from '../../src/modules/opt-outs/opt-outs.service.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { changeOf, entries, envelope, notify, secondsNow } from '../inbound/fixture.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from '../messages/fixture.js';
import { approvedTemplate, templateBody } from '../messages/platform-templates.js';
import type { ApiClient, ApiResponse } from '../support/api-client.js';
import { testPhone } from '../support/factories.js';
import { SimulatorClient } from '../support/simulator/simulator-client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { listenFor } from '../support/webhook-events.js';

let test: TestApp;
let workspace: SendingWorkspace;
let api: ApiClient;
let simulator: SimulatorClient;

const MARKETING = templateBody('summer_sale');
const UTILITY = templateBody('order_news');

beforeAll(async () => {
  test = await startTestApp({ simulator: { templateReviewMs: 20, statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
  ({ api } = workspace);
  simulator = new SimulatorClient(test.simulatorUrl ?? '', workspace.connection.phoneNumberId);
  const components = [{ type: 'BODY', text: 'Half price today.' }];
  const { wabaId } = workspace.connection;
  await simulator.approvedTemplate(wabaId, { name: 'summer_sale', category: 'MARKETING', components });
  await approvedTemplate(test, workspace, { name: 'order_news', components });
  await listenFor(test.database, workspace.organizationId, ['contact.opt_out.updated']);
});
afterAll(async () => test?.stop());

interface Entry {
  id: string;
  connection_id: string | null;
  contact: { phone: string | null; user_id: string | null };
  source: string;
  category: string;
  reason: string | null;
  since: string;
}
const put = (body: object, by = api): Promise<ApiResponse> => by.request({ method: 'PUT', path: '/opt-outs', body });
const remove = (id: string, by = api): Promise<ApiResponse> =>
  by.request({ method: 'DELETE', path: `/opt-outs/${id}` });
const list = async (query: string, by = api): Promise<Entry[]> =>
  (await by.get(`/opt-outs?${query}`)).body.data as Entry[];
const send = (to: string, body: Record<string, unknown> = {}) => workspace.send(to, { body });
const codeOf = ({ status, body }: ApiResponse): [number, unknown] => [status, body.error?.code];
const optedOut = async (id: string): Promise<Entry> => {
  const { status, body } = await put({ to: id, category: 'marketing' });
  expect(status).toBe(200);
  return body.data as Entry;
};
const eventsOf = async (id: string): Promise<Record<string, unknown>[]> => {
  const rows = await test.database.query<{ data: Record<string, unknown> }>(
    `select data from webhook_event where type = 'contact.opt_out.updated' and data ->> 'opt_out_id' = $1 order by id`,
    [id],
  );
  return rows.map(({ data }) => data);
};
const preference = (person: object, value: string, timestamp: number, { contacts = [] as object[] } = {}) =>
  entries([
    {
      id: workspace.connection.wabaId,
      time: secondsNow(),
      changes: [
        {
          ...changeOf(workspace.connection, {
            contacts,
            user_preferences: [
              {
                ...person,
                detail: `User requested to ${value} marketing messages`,
                category: 'marketing_messages',
                value,
                timestamp,
              },
            ],
          }),
          field: 'user_preferences',
        },
      ],
    },
  ]);

describe('PUT /opt-outs', () => {
  it('is one entry a person and category, however often it is repeated', async () => {
    const to = testPhone();
    const answers = await Promise.all(
      ['+', ''].map((sign) => put({ to: `${sign}${to}`, category: 'marketing', reason: 'Phone' })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const [entry] = answers.map(({ body }) => body.data as Entry);
    expect(entry).toEqual({
      id: expect.any(String) as string,
      connection_id: null,
      contact: { phone: to, user_id: null },
      source: 'own',
      category: 'marketing',
      reason: 'Phone',
      since: expect.any(String) as string,
    });
    expect((await put({ to, category: 'marketing' })).body.data).toEqual(entry);
    expect((await put({ to, category: 'all' })).body.data.id).not.toBe(entry?.id);
    expect((await list(`to=${to}`)).map(({ category }) => category).sort()).toEqual(['all', 'marketing']);
    expect(await eventsOf(entry?.id ?? '')).toEqual([
      expect.objectContaining({
        opted_out: true,
        source: 'own',
        contact: { phone: to, user_id: null },
        reason: 'Phone',
      }),
    ]);
  });

  it.each<[string, object]>([
    ['nobody', { category: 'marketing' }],
    ['two names', { to: '15550001234', recipient: 'US.1', category: 'marketing' }],
    ['another category', { to: '15550001234', category: 'utility' }],
    ['no number', { to: '0049', category: 'all' }],
    ['an empty reason', { to: '15550001234', category: 'all', reason: '' }],
  ])('refuses %s', async (_what, body) => {
    expect(codeOf(await put(body))).toEqual([400, 'INVALID_REQUEST']);
  });
});

describe('GET /opt-outs', () => {
  it('is paged, newest first, and finds a person by any name', async () => {
    const phone = testPhone();
    const userId = `US.${phone}`;
    const conversation = await test.factories.conversation({ connection: workspace.connection, phone });
    await test.database.execute('update conversation set user_id = $2 where id = $1', [conversation.id, userId]);
    const { body } = await put({ to: phone, category: 'marketing' });
    await put({ to: testPhone(), category: 'all' });
    const [first] = await list(`recipient=${userId}`);
    expect(first).toMatchObject({ id: body.data.id, contact: { phone, user_id: userId } });

    const seen: string[] = [];
    let query = 'limit=1';
    for (;;) {
      const page = (await api.get(`/opt-outs?${query}`)).body as unknown as {
        data: Entry[];
        pagination: { next_before: string | null; next_before_id: string | null };
      };
      seen.push(...page.data.map(({ id }) => id));
      const { next_before: before, next_before_id: id } = page.pagination;
      if (before === null) break;
      query = `limit=1&before=${before}&before_id=${id}`;
    }
    const all = await list('limit=100');
    expect(seen).toEqual(all.map(({ id }) => id));
    expect(all.map(({ since }) => since)).toEqual(
      all
        .map(({ since }) => since)
        .toSorted()
        .toReversed(),
    );
    expect(await list('source=platform&to=15550009999')).toEqual([]);
  });
});

describe('a person who opted out', () => {
  it('gets no marketing template, and everything else; the refusal says who recorded it, and since when', async () => {
    const to = await workspace.contact();
    const { since, id } = await optedOut(to);
    const before = await test.database.query('select count(*)::int as n from message');
    const refused = await send(to, MARKETING);
    expect(codeOf(refused)).toEqual([422, 'RECIPIENT_OPTED_OUT']);
    expect(refused.body.error).toMatchObject({ source: 'own', since });
    expect(await test.database.query('select count(*)::int as n from message')).toEqual(before);
    expect((await send(to, UTILITY)).status).toBe(202);
    expect((await send(to)).status).toBe(202);
    expect((await remove(id)).status).toBe(204);
    expect((await send(to, MARKETING)).status).toBe(202);
    expect(codeOf(await remove(id))).toEqual([404, 'OPT_OUT_NOT_FOUND']);
    expect(await list(`to=${to}`)).toEqual([]);
    expect((await eventsOf(id)).map((event) => [event.opted_out, event.contact])).toEqual([
      [true, { phone: to, user_id: null }],
      [false, { phone: to, user_id: null }],
    ]);
  });

  it('of everything gets no message at all, also without a conversation', async () => {
    const to = await workspace.contact();
    const stranger = testPhone();
    for (const each of [to, stranger]) await put({ to: each, category: 'all' });
    for (const body of [{}, UTILITY, MARKETING]) {
      expect(codeOf(await send(to, body))).toEqual([422, 'RECIPIENT_OPTED_OUT']);
    }
    expect(codeOf(await send(stranger, UTILITY))).toEqual([422, 'RECIPIENT_OPTED_OUT']);
    const made = await test.database.query('select from conversation where phone = $1', [stranger]);
    expect(made).toEqual([]);
  });

  it('is known by each name of the conversation, and after the conversation became another one', async () => {
    const phone = testPhone();
    const userId = `US.${phone}`;
    const conversation = await test.factories.conversation({ connection: workspace.connection, phone });
    await optedOut(phone);
    // The platform reports another number and the user id of the same contact.
    const other = testPhone();
    await test.database.execute('update conversation set phone = $2, user_id = $3 where id = $1', [
      conversation.id,
      other,
      userId,
    ]);
    expect(codeOf(await send(other, MARKETING))).toEqual([422, 'RECIPIENT_OPTED_OUT']);
    const toUser = await api.post(
      '/messages',
      { connection_id: workspace.connection.id, recipient: userId, ...MARKETING },
      { headers: { 'idempotency-key': newId() } },
    );
    expect(codeOf(toUser)).toEqual([422, 'RECIPIENT_OPTED_OUT']);
  });

  it('a repeat of a key that was taken before is answered as the first', async () => {
    const to = testPhone();
    const key = newId();
    const first = await workspace.send(to, { body: MARKETING, key });
    await optedOut(to);
    const again = await workspace.send(to, { body: MARKETING, key });
    expect([again.status, again.body]).toEqual([202, first.body]);
    expect(codeOf(await send(to, MARKETING))).toEqual([422, 'RECIPIENT_OPTED_OUT']);
  });

  it('is named by check and by batches, strict and permissive', async () => {
    const to = testPhone();
    await optedOut(to);
    const body = (recipient: string) => ({ connection_id: workspace.connection.id, to: recipient, ...MARKETING });
    const checked = (await api.post('/messages/check', body(to))).body.data as unknown as {
      sendable: boolean;
      problems: { code: string }[];
    };
    expect([checked.sendable, checked.problems]).toEqual([
      false,
      [expect.objectContaining({ code: 'RECIPIENT_OPTED_OUT', source: 'own' })],
    ]);
    const messages = [to, testPhone()].map((each) => ({ ...body(each), idempotency_key: newId() }));
    const strict = await api.post('/messages/batch', { messages });
    expect(codeOf(strict)).toEqual([422, 'BATCH_REFUSED']);
    expect(strict.body.error?.errors).toEqual([expect.objectContaining({ index: 0, code: 'RECIPIENT_OPTED_OUT' })]);
    // One that is refused for another reason as well.
    const others = [...messages, { ...body('15550001234'), template: { name: 'none', language: { code: 'en_US' } } }];
    const both = await api.post('/messages/batch', {
      messages: others.map((message) => ({ ...message, idempotency_key: newId() })),
    });
    expect(both.body.error?.errors).toEqual([
      expect.objectContaining({ code: 'RECIPIENT_OPTED_OUT' }),
      expect.objectContaining({ code: 'TEMPLATE_NOT_FOUND' }),
    ]);
    const permissive = await api.post('/messages/batch', { messages, validation: 'permissive' });
    expect(permissive.status).toBe(202);
    expect(permissive.body).toMatchObject({
      data: [{ index: 1 }],
      errors: [{ index: 0, code: 'RECIPIENT_OPTED_OUT' }],
    });
  });

  it('is not sent what was scheduled before', async () => {
    const to = testPhone();
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await send(to, { ...MARKETING, send_at: sendAt });
    const { id } = body.data as { id: string };
    await optedOut(to);
    await test.database.execute(
      `update message_queue set scheduled_for = clock_timestamp(), held_until = clock_timestamp() where message_id = $1`,
      [id],
    );
    await test.app.get(Sweeps, { strict: false }).runNow('schedule_due');
    expect(await workspace.reaches(id, 'failed')).toMatchObject({
      failure_category: 'opted_out',
      error: { code: 'RECIPIENT_OPTED_OUT' },
    });
    expect(test.simulator.messages.list({ to })).toEqual([]);
    const timeline = (await api.get(`/messages/${id}/timeline`)).body as unknown as {
      data: { summary: string }[];
      explanation: object;
    };
    expect(timeline.data.at(-1)?.summary).toMatch(/opted out at .* as this workspace recorded/);
    expect(timeline.explanation).toMatchObject({ responsible: 'recipient', retry: { advised: false } });
    expect(codeOf(await api.post(`/messages/${id}/retry`, {}))).toEqual([409, 'RECIPIENT_OPTED_OUT']);
  });
});

describe('what WhatsApp reports', () => {
  it('the example of its manual is applied, once', async () => {
    const [waId, userId] = ['34600', 'ES.1'];
    const contacts = [{ profile: { name: 'A' }, wa_id: waId, user_id: userId }];
    const stop = preference({ wa_id: waId, user_id: userId, parent_user_id: 'ES.ENT.1' }, 'stop', 1_790_000_000, {
      contacts,
    });
    await notify(test, stop);
    await notify(test, stop);
    const [entry] = await list(`recipient=${userId}`);
    expect(entry).toEqual({
      id: expect.any(String) as string,
      connection_id: workspace.connection.id,
      contact: { phone: waId, user_id: userId },
      source: 'platform',
      category: 'marketing',
      reason: 'User requested to stop marketing messages',
      since: new Date(1_790_000_000_000).toISOString(),
    });
    const id = entry?.id ?? '';
    expect(codeOf(await remove(id))).toEqual([409, 'OPT_OUT_NOT_YOURS']);
    expect((await eventsOf(id)).map(({ opted_out: out }) => out)).toEqual([true]);
    expect(await list('recipient=ES.ENT.1')).toEqual([]);
  });

  it.each<[string, (phone: string) => [person: object, contacts: object[]]]>([
    ['a number alone', (phone) => [{ wa_id: phone }, []]],
    ['a user id alone', (phone) => [{ user_id: `US.${phone}` }, []]],
    ['the contact alone', (phone) => [{}, [{ wa_id: phone, user_id: `US.${phone}` }]]],
  ])('names the person by %s', async (_what, namesOf) => {
    const phone = testPhone();
    const { id } = await test.factories.conversation({ connection: workspace.connection, phone });
    await test.database.execute('update conversation set user_id = $2 where id = $1', [id, `US.${phone}`]);
    const [person, contacts] = namesOf(phone);
    await notify(test, preference(person, 'stop', secondsNow(), { contacts }));
    expect(codeOf(await send(phone, MARKETING))).toEqual([422, 'RECIPIENT_OPTED_OUT']);
    expect((await send(phone)).status).toBe(202);
  });

  it('the latest word counts, in any order', async () => {
    const now = secondsNow();
    const words: [value: string, ago: number][] = [
      ['stop', 50],
      ['resume', 40],
      ['stop', 30],
      ['signup', 20],
    ];
    const orders = [words, words.toReversed(), [2, 0, 3, 1].map((index) => words[index] as [string, number])];
    for (const order of orders) {
      const phone = testPhone();
      for (const [value, ago] of order) await notify(test, preference({ wa_id: phone }, value, now - ago));
      expect((await send(phone, MARKETING)).status).toBe(202);
      await notify(test, preference({ wa_id: phone }, 'stop', now - 10));
      await notify(test, preference({ wa_id: phone }, 'resume', now - 10));
      expect(codeOf(await send(phone, MARKETING))).toEqual([422, 'RECIPIENT_OPTED_OUT']);
    }
  });

  it('is of one number, and never changes the workspace’s own', async () => {
    const phone = testPhone();
    const second = await connectionAtSimulator(test, workspace.organizationId, { wabaId: workspace.connection.wabaId });
    await notify(test, preference({ wa_id: phone }, 'stop', secondsNow() - 10));
    const body = { connection_id: second.id, ...MARKETING };
    expect((await workspace.send(phone, { body })).status).toBe(202);
    await optedOut(phone);
    expect(codeOf(await workspace.send(phone, { body }))).toEqual([422, 'RECIPIENT_OPTED_OUT']);
    await notify(test, preference({ wa_id: phone }, 'resume', secondsNow()));
    expect((await list(`to=${phone}`)).map(({ source }) => source)).toEqual(['own']);
    expect(codeOf(await send(phone, MARKETING))).toEqual([422, 'RECIPIENT_OPTED_OUT']);
  });

  it('a value that is not known changes nothing, and is named', async () => {
    const phone = testPhone();
    await notify(test, preference({ wa_id: phone }, 'snooze', secondsNow()));
    expect(await list(`to=${phone}`)).toEqual([]);
    const [row] = await test.database.query<{ unread: string[] }>(
      'select unread from platform_notification where position($1::bytea in body) > 0',
      [Buffer.from(phone)],
    );
    expect(row?.unread).toEqual(['user_preferences[snooze]']);
  });

  it('a refused marketing message is an opt-out, at once or by a status, until the person resumes', async () => {
    for (const refusal of ['answer', 'status']) {
      const phone = testPhone();
      const chosen = { phone_number_id: workspace.connection.phoneNumberId, from: phone };
      const stop = await simulator.control('POST', 'preferences', { ...chosen, value: 'stop', refusal, notify: false });
      expect(stop.status).toBe(200);
      const { id } = (await send(phone, MARKETING)).body.data as { id: string };
      expect(await workspace.reaches(id, 'failed')).toMatchObject({ failure_category: 'opted_out' });
      expect(await list(`to=${phone}`)).toEqual([
        expect.objectContaining({ source: 'platform', reason: 'WhatsApp refused a message (131050).' }),
      ]);
      expect(codeOf(await send(phone, MARKETING))).toEqual([422, 'RECIPIENT_OPTED_OUT']);
      expect(codeOf(await api.post(`/messages/${id}/retry`, {}))).toEqual([409, 'RECIPIENT_OPTED_OUT']);
      const time = secondsNow() + 1;
      await simulator.control('POST', 'preferences', { ...chosen, value: 'resume', time });
      await waitFor(async () => (await list(`to=${phone}`)).length === 0, { what: 'the opt-out to end' });
      const again = (await send(phone, MARKETING)).body.data as { id: string };
      await workspace.reaches(again.id, 'read');
    }
  });
});

describe('keywords', () => {
  // Not before each call: what is earlier stays so, however long the test takes.
  const startedAt = secondsNow();
  const write = (from: string, text: string, ago = 0) =>
    notify(
      test,
      envelope(workspace.connection, {
        messages: [
          { from, id: `wamid.${newId()}`, timestamp: String(startedAt - ago), type: 'text', text: { body: text } },
        ],
      }),
    );

  it('opt out and in where they are set, exactly as they are', async () => {
    const service = test.app.get(OptOutsService, { strict: false });
    const phone = testPhone();
    await write(phone, 'Stopp');
    expect(await list(`to=${phone}`)).toEqual([]);
    await service.setKeywords(workspace.organizationId, 'de', { out: ['Stopp', 'Keine Werbung'], in: ['Start'] });
    await service.setKeywords(workspace.organizationId, 'tr', { out: ['İPTAL'], in: [] });
    await write(phone, 'Bitte stopp!', 40);
    expect(await list(`to=${phone}`)).toEqual([]);
    await write(phone, ' keine WERBUNG ', 30);
    expect(await list(`to=${phone}`)).toEqual([expect.objectContaining({ source: 'own', reason: 'keine WERBUNG' })]);
    await write(phone, 'start', 20);
    expect(await list(`to=${phone}`)).toEqual([]);
    // Of an earlier time, as a notification that is late.
    await write(phone, 'stopp', 25);
    expect(await list(`to=${phone}`)).toEqual([]);
    await write(phone, 'iptal', 10);
    expect(codeOf(await send(phone, MARKETING))).toEqual([422, 'RECIPIENT_OPTED_OUT']);
    await service.setKeywords(workspace.organizationId, 'de', null);
    await write(phone, 'start', 5);
    expect(await list(`to=${phone}`)).toHaveLength(1);
  });
});

describe('erasure', () => {
  it('removes who it was, and keeps that they get nothing', async () => {
    const phone = await workspace.contact();
    const { id } = await optedOut(phone);
    await notify(test, preference({ wa_id: phone }, 'stop', secondsNow()));
    const { counts } = await test.app.get(Erasure).erase(workspace.organizationId, phone);
    expect(counts).toMatchObject({ opt_outs: 2 });
    expect(await list(`to=${phone}`)).toEqual([]);
    expect(codeOf(await remove(id))).toEqual([404, 'OPT_OUT_NOT_FOUND']);
    const kept = await test.database.query('select phone, user_id, reason from opt_out where id = $1', [id]);
    expect(kept).toEqual([{ phone: null, user_id: null, reason: null }]);
    expect(codeOf(await send(phone, MARKETING))).toEqual([422, 'RECIPIENT_OPTED_OUT']);
    expect((await optedOut(phone)).id).toBe(id);
    expect((await remove(id)).status).toBe(204);
  });
});

it('a workspace sees and changes its own alone', async () => {
  const other = await sendingWorkspace(test);
  const phone = testPhone();
  const { id } = await optedOut(phone);
  expect(await list(`to=${phone}`, other.api)).toEqual([]);
  expect(await list('', other.api)).toEqual([]);
  expect(codeOf(await remove(id, other.api))).toEqual([404, 'OPT_OUT_NOT_FOUND']);
  expect((await put({ to: phone, category: 'all' }, other.api)).body.data.id).not.toBe(id);
  expect((await send(phone, UTILITY)).status).toBe(202);
});
