import { jest } from '@jest/globals';
import { newId } from '../../src/common/ids.js';
import { PgNotifier } from '../../src/infrastructure/database/pg-notifier.js';
import { Config } from '../../src/infrastructure/config/config.js';
import { Counters } from '../../src/infrastructure/operations/counters.js';
import { CONTACTS } from '../../src/modules/conversations/windows/recipients.service.js';
import { WORKSPACE_CHANGED } from '../../src/modules/workspaces/workspaces.service.js';
import type { ApiClient, ApiResponse } from '../support/api-client.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});
afterAll(async () => test?.stop());

type Message = Record<string, unknown>;

const text = (to: string, body = 'hello', more: Message = {}): Message => ({
  idempotency_key: newId(),
  connection_id: workspace.connection.id,
  to,
  type: 'text',
  text: { body },
  ...more,
});
const post = (messages: unknown, validation?: string, api: ApiClient = workspace.api): Promise<ApiResponse> =>
  api.post('/messages/batch', { messages, ...(validation !== undefined && { validation }) });
interface BatchError {
  index: number;
  code: string;
  details: { field: string; rule: string; message: string }[];
}

/** Of an answer to a permissive batch, or of a refused strict one. */
const errorsOf = ({ error, ...body }: object & { error?: object }): BatchError[] =>
  ((error ?? body) as { errors?: BatchError[] }).errors ?? [];
const stored = async (api: ApiClient = workspace.api, filter = ''): Promise<Message[]> =>
  (await api.get(`/messages?limit=100${filter}`)).body.data as Message[];
const queued = async (organizationId: string): Promise<number> => {
  const sql = 'select count(*)::int as n from message_queue where organization_id = $1';
  return (await test.database.query<{ n: number }>(sql, [organizationId]))[0]?.n ?? 0;
};
/** A workspace of its own, so that nothing but its batch is in its journal. */
const alone = async () => {
  const world = await sendingWorkspace(test);
  const of = (to: string, body?: string, more?: Message) =>
    text(to, body, { connection_id: world.connection.id, ...more });
  return { ...world, text: of };
};

describe('POST /messages/batch', () => {
  it('sends to one recipient in the order of the array, whatever the order of the keys', async () => {
    const world = await alone();
    const to = await world.contact();
    const keys = Array.from({ length: 30 }, () => crypto.randomUUID());
    const { status, body } = await post(
      keys.map((key, n) => world.text(to, `turn ${n}`, { idempotency_key: key })),
      'permissive',
      world.api,
    );
    expect(status).toBe(202);
    const data = body.data as unknown as { id: string }[];
    await world.reaches(data.at(-1)?.id ?? '', 'sent', 'delivered', 'read');
    const attempts = await Promise.all(
      data.map(async ({ id }) => (await world.message(id)).attempts[0].started_at as string),
    );
    expect(attempts).toEqual([...attempts].sort((a, b) => (a < b ? -1 : 1)));
    expect(new Set(attempts).size).toBeGreaterThan(1);
  });

  it('a strict batch with messages that cannot be sent is 422 with the errors of all, and stores nothing', async () => {
    const world = await alone();
    const open = await world.contact();
    const closed = testPhone();
    const key = newId();
    await world.send(open, { key });
    const before = await stored(world.api);
    const { status, body } = await post(
      [
        world.text(open),
        world.text(closed),
        { ...world.text(open), text: { body: '' } },
        world.text(open, 'another', { idempotency_key: key }),
        world.text(open, 'x', { idempotency_key: undefined }),
        'hello',
        world.text(open, 'x', { connection_id: newId() }),
        { ...world.text(open), type: 'template', text: undefined, template: { name: 'no', language: { code: 'en' } } },
        world.text(open, 'half a pair \ud800'),
      ],
      undefined,
      world.api,
    );
    expect([status, body.error.code]).toEqual([422, 'BATCH_REFUSED']);
    const errors = errorsOf(body);
    expect(errors.map(({ index, code }) => [index, code])).toEqual([
      [1, 'SERVICE_WINDOW_CLOSED'],
      [2, 'VALIDATION_FAILED'],
      [3, 'IDEMPOTENCY_KEY_REUSED'],
      [4, 'VALIDATION_FAILED'],
      [5, 'VALIDATION_FAILED'],
      [6, 'CONNECTION_NOT_FOUND'],
      [7, 'TEMPLATE_NOT_FOUND'],
      [8, 'VALIDATION_FAILED'],
    ]);
    expect(errors.map(({ details }) => details.map(({ field, rule }) => `${field} ${rule}`))).toEqual([
      [],
      ['text.body length'],
      [],
      ['idempotency_key required'],
      [' type'],
      [],
      [],
      ['text.body text'],
    ]);
    expect(errors[0]).toMatchObject({ window_expired_at: null, message: expect.stringContaining('24-hour') as string });
    expect(body.error.message).toMatch(/^8 of 9 messages/);
    expect((await stored(world.api)).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  });

  it('a strict batch that only the commit finds wrong stores nothing either, and its keys stay free', async () => {
    const world = await alone();
    const [open, closed] = [await world.contact(), testPhone()];
    const good = Array.from({ length: 20 }, () => world.text(open));
    const refused = await post([...good, world.text(closed)], 'strict', world.api);
    expect([refused.status, refused.body.error.code]).toEqual([422, 'BATCH_REFUSED']);
    expect(refused.body.error.errors).toEqual([expect.objectContaining({ index: 20, code: 'SERVICE_WINDOW_CLOSED' })]);
    expect(await stored(world.api)).toEqual([]);
    expect(await queued(world.organizationId)).toBe(0);
    const again = await post(good, 'strict', world.api);
    expect([again.status, again.body.data.length, again.body.data[0].replayed]).toEqual([202, 20, false]);
  });

  it('what was refused, or known by its key, does not count as waiting', async () => {
    const { limits } = test.app.get(Config);
    const world = await alone();
    const [open, closed] = [await world.contact(), testPhone()];
    // Scheduled, so that none leaves the backlog meanwhile.
    const later = { send_at: new Date(Date.now() + 3_600_000).toISOString() };
    const known = Array.from({ length: 20 }, () => world.text(open, 'hello', later));
    const backlog = jest.replaceProperty(limits, 'backlog', 41);
    try {
      expect((await post(known, 'strict', world.api)).status).toBe(202);
      const good = known.map((message) => ({ ...message, idempotency_key: newId() }));
      for (let n = 0; n < 2; n++) {
        const answers = [
          await post([...good, null], 'strict', world.api),
          // Which only the commit finds out.
          await post([...good, world.text(closed, 'hello', later)], 'strict', world.api),
          await post([...good, world.text(open, 'hello', { send_at: 'never' })], 'strict', world.api),
          await post(known, 'strict', world.api),
          await post([...known, world.text(closed, 'hello', later)], 'permissive', world.api),
        ];
        expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 202, 202]);
        const { idempotency_key: key, ...single } = known[0] ?? {};
        const headers = { 'idempotency-key': String(key) };
        for (let repeat = 0; repeat < 3; repeat++) {
          expect((await world.api.post('/messages', single, { headers })).status).toBe(202);
        }
      }
      expect((await post(good, 'strict', world.api)).status).toBe(202);
      const over = await post(
        good.map((message) => ({ ...message, idempotency_key: newId() })),
        'strict',
        world.api,
      );
      expect([over.status, over.body.error.code]).toEqual([429, 'BACKLOG_LIMIT_REACHED']);
    } finally {
      backlog.restore();
    }
  });

  it('a permissive batch takes the good ones and lists the others', async () => {
    const world = await alone();
    const open = await world.contact();
    const twice = newId();
    const { status, body } = await post(
      [
        world.text(open, 'first'),
        world.text(testPhone()),
        null,
        world.text(open, 'second', { idempotency_key: twice }),
        world.text(open, 'second', { idempotency_key: twice.toUpperCase() }),
        world.text(open, 'nul \u0000'),
      ],
      'permissive',
      world.api,
    );
    expect(status).toBe(202);
    expect((body.data as unknown as Message[]).map(({ index }) => index)).toEqual([0, 3]);
    const errors = errorsOf(body);
    expect(errors.map(({ index, code, details }) => [index, code, details[0]?.rule])).toEqual([
      [1, 'SERVICE_WINDOW_CLOSED', undefined],
      [2, 'VALIDATION_FAILED', 'type'],
      [4, 'VALIDATION_FAILED', 'unique'],
      [5, 'VALIDATION_FAILED', 'text'],
    ]);
    expect(errors[2]?.details[0]?.message).toContain('messages[3]');
    expect((await stored(world.api)).map((row) => row.body)).toEqual(['second', 'first']);
  });

  it('a permissive batch without one good message is 202 with every error', async () => {
    const { status, body } = await post([text(testPhone()), {}], 'permissive');
    expect([status, body.data, errorsOf(body).length]).toEqual([202, [], 2]);
  });

  it('a repeat makes nothing new, whole or in parts, and with what was sent alone', async () => {
    const world = await alone();
    const to = await world.contact();
    const messages = Array.from({ length: 10 }, (_, n) => world.text(to, `number ${n}`));
    const first = await post(messages, undefined, world.api);
    const ids = (first.body.data as unknown as { id: string }[]).map(({ id }) => id);
    const again = await post(messages.toReversed(), undefined, world.api);
    expect(again.status).toBe(202);
    expect(again.body.data).toEqual(
      ids.toReversed().map((id, index) => ({ index, id, status: 'queued', replayed: true })),
    );
    const { idempotency_key: key, ...single } = messages[4] ?? {};
    const alike = await world.api.post('/messages', single, { headers: { 'idempotency-key': String(key) } });
    expect([alike.status, alike.body.data.id, alike.headers.get('idempotency-replayed')]).toEqual([
      202,
      ids[4],
      'true',
    ]);
    const more = await post([...messages.slice(0, 5), world.text(to, 'new')], undefined, world.api);
    expect((more.body.data as unknown as Message[]).map(({ replayed }) => replayed)).toEqual([
      ...Array.from({ length: 5 }, () => true),
      false,
    ]);
    expect(await stored(world.api)).toHaveLength(11);
  });

  it('takes messages that are to go later among the others, and says where the time is out of range', async () => {
    const world = await alone();
    const to = await world.contact();
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    const messages = [
      world.text(to, 'now'),
      world.text(to, 'later', { send_at: inAnHour, ttl_seconds: 60 }),
      world.text(to, 'never', { send_at: '2020-01-01T00:00:00Z' }),
    ];
    const { status, body } = await post(messages, 'permissive', world.api);
    expect([status, errorsOf(body)]).toEqual([
      202,
      [expect.objectContaining({ index: 2, code: 'SEND_AT_PASSED', earliest_send_at: expect.any(String) as string })],
    ]);
    const [now, later] = body.data as unknown as { id: string }[];
    await world.reaches(now?.id ?? '', 'sent', 'delivered', 'read');
    expect(await world.message(later?.id ?? '')).toMatchObject({ status: 'queued', scheduled_for: inAnHour });
  });

  it('many at once with the same keys make each message once', async () => {
    const world = await alone();
    const to = await world.contact();
    const messages = Array.from({ length: 40 }, (_, n) => world.text(to, `number ${n}`));
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => post(n % 2 === 0 ? messages : messages.toReversed(), 'strict', world.api)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 202));
    const made = answers.flatMap(({ body }) => body.data as unknown as { id: string; replayed: boolean }[]);
    expect(new Set(made.map(({ id }) => id)).size).toBe(40);
    expect(made.filter(({ replayed }) => !replayed)).toHaveLength(40);
  });

  it('a repeat answers its 202 after the window closed', async () => {
    const world = await alone();
    const { id, phone } = await test.factories.conversation({ connection: world.connection });
    const messages = [world.text(phone), world.text(phone)];
    const first = await post(messages, undefined, world.api);
    await test.factories.age('conversation', id, 24 * 3_600, 'last_inbound_at');
    // An open window is remembered: in life nothing but time closes it.
    await test.app.get(PgNotifier, { strict: false }).publish(CONTACTS, id);
    await waitFor(async () => (await world.send(phone)).status === 422, { everyMs: 100 });
    const again = await post(messages, undefined, world.api);
    expect([again.status, (again.body.data as unknown as Message[]).map((one) => one.id)]).toEqual([
      202,
      (first.body.data as unknown as Message[]).map((one) => one.id),
    ]);
  });
});

/** What is only to be taken goes later: its sending would cost more than the test. */
const inAnHour = () => ({ send_at: new Date(Date.now() + 3_600_000).toISOString() });

describe('the body of a batch', () => {
  const refusalOf = async (body: unknown, headers?: Record<string, string>): Promise<unknown[]> => {
    const answer = await workspace.api.request({
      method: 'POST',
      path: '/messages/batch',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
    const { code, details } = answer.body.error as { code: string; details?: { field: string; rule: string }[] };
    return [answer.status, code, ...(details ?? []).map(({ field, rule }) => `${field} ${rule}`)];
  };

  it.each<[string, unknown, unknown[]]>([
    ['no messages', {}, [422, 'VALIDATION_FAILED', 'messages required']],
    ['none', { messages: [] }, [422, 'VALIDATION_FAILED', 'messages length']],
    [
      'a hundred and one',
      { messages: Array.from({ length: 101 }, () => ({})) },
      [422, 'VALIDATION_FAILED', 'messages length'],
    ],
    ['no list', { messages: {} }, [422, 'VALIDATION_FAILED', 'messages type']],
    ['another validation', { messages: [{}], validation: 'lax' }, [422, 'VALIDATION_FAILED', 'validation one_of']],
    ['an unknown field', { messages: [{}], to: '1' }, [422, 'VALIDATION_FAILED', 'to unknown_field']],
    ['a list', [], [422, 'VALIDATION_FAILED', ' type']],
    ['no JSON', '{"messages":', [400, 'INVALID_REQUEST', ' json']],
    ['over 4 MiB', { messages: [{ text: 'x'.repeat(4 * 1_024 * 1_024) }] }, [413, 'PAYLOAD_TOO_LARGE']],
  ])('%s', async (_name, body, expected) => {
    expect(await refusalOf(body)).toEqual(expected);
  });

  it('takes a hundred texts of 4,096 characters', async () => {
    const to = await workspace.contact();
    const { status, body } = await post(Array.from({ length: 100 }, () => text(to, '€'.repeat(4_096), inAnHour())));
    expect([status, body.data.length]).toEqual([202, 100]);
  });

  it('takes as many keys and items as a hundred messages have, and bounds those of one', async () => {
    const to = await workspace.contact();
    const rows = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `row-${n}`, title: `Row ${n}` }));
    const list = (count: number) => ({
      ...text(to, 'hello', inAnHour()),
      type: 'interactive',
      text: undefined,
      interactive: {
        type: 'list',
        body: { text: 'Choose' },
        action: { button: 'Rows', sections: [{ title: 'All', rows: rows(count) }] },
      },
    });
    const many = await post(Array.from({ length: 100 }, () => list(10)));
    expect([many.status, many.body.data.length]).toEqual([202, 100]);
    const one = await post([list(1_000)], 'permissive');
    expect([one.status, errorsOf(one.body)[0]?.details[0]?.rule]).toEqual([202, 'keys']);
  });

  it('takes no message that POST /messages would not take for its size', async () => {
    const to = await workspace.contact();
    const flow = (bytes: number): Message => ({
      ...text(to),
      type: 'interactive',
      text: undefined,
      interactive: {
        type: 'flow',
        body: { text: 'Book' },
        action: {
          name: 'flow',
          parameters: {
            flow_message_version: '3',
            flow_cta: 'Open',
            flow_id: '1',
            flow_action_payload: { screen: 'DAY', data: { note: 'x'.repeat(bytes) } },
          },
        },
      },
    });
    const { idempotency_key: key, ...large } = flow(256 * 1_024);
    const alone = await workspace.api.post('/messages', large, { headers: { 'idempotency-key': key as string } });
    expect([alone.status, alone.body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const { status, body } = await post([flow(256 * 1_024), flow(200 * 1_024), flow(200 * 1_024)], 'permissive');
    expect([status, body.data.length, errorsOf(body)]).toEqual([
      202,
      2,
      [expect.objectContaining({ index: 0, code: 'PAYLOAD_TOO_LARGE', limit_bytes: 256 * 1_024 })],
    ]);
  });
});

describe('limits of a batch', () => {
  const limited = async (ratePerSecond: number, rateBurst: number) => {
    const { id: organizationId } = await test.factories.workspace({ ratePerSecond, rateBurst });
    const connection = await connectionAtSimulator(test, organizationId);
    const api = test.api.as((await test.factories.apiKey({ organizationId })).text);
    const { phone } = await test.factories.conversation({ connection });
    const messages = (count: number) =>
      Array.from({ length: count }, () => text(phone, 'hello', { connection_id: connection.id, ...inAnHour() }));
    return { organizationId, api, messages };
  };

  it('each message counts as a request: one 429 with the time to wait where fewer are left, and nothing is stored', async () => {
    const { organizationId, api, messages } = await limited(1, 100);
    const first = await post(messages(100), undefined, api);
    expect([first.status, first.headers.get('ratelimit')]).toEqual([202, expect.stringMatching(/;r=\d{1,2};/)]);
    // With nothing left at all the answer is that of any request: it comes before the body is read.
    const second = await waitFor(async () => {
      const answer = await post(messages(100), undefined, api);
      return answer.body.error.message.includes('batch of 100') ? answer : null;
    });
    expect([second.status, second.body.error.code]).toEqual([429, 'RATE_LIMITED']);
    const wait = Number(second.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(30);
    expect(wait).toBeLessThanOrEqual(100);
    expect(second.body.error.retry_after_seconds).toBe(wait);
    const rows = await test.database.query('select id from message where organization_id = $1', [organizationId]);
    expect(rows).toHaveLength(100);
  });

  it('a batch larger than the key may ever send at once is 422 and says how many it may', async () => {
    const { api, messages } = await limited(10, 20);
    const { status, body } = await post(messages(21), undefined, api);
    expect([status, body.error.details]).toEqual([
      422,
      [{ field: 'messages', rule: 'length', message: expect.stringContaining('at most 20 items') as string }],
    ]);
    await waitFor(async () => (await post(messages(20), undefined, api)).status === 202, { everyMs: 500 });
  });

  it('needs the scope messages:write', async () => {
    const { text: key } = await test.factories.apiKey({
      organizationId: workspace.organizationId,
      scopes: ['messages:read'],
    });
    const { status, body } = await post([text('15550001234')], undefined, test.api.as(key));
    expect([status, body.error.required_scope]).toEqual([403, 'messages:write']);
  });

  it.each(['strict', 'permissive'])('402 without a subscription, %s, but for what is known', async (validation) => {
    const { organizationId, api, messages } = await limited(1_000, 1_000);
    const known = messages(3);
    expect((await post(known, validation, api)).status).toBe(202);
    await test.database.execute(`update organization set api_paid_until = now() - interval '1 second' where id = $1`, [
      organizationId,
    ]);
    await test.app.get(PgNotifier, { strict: false }).publish(WORKSPACE_CHANGED, organizationId);
    await waitFor(async () => (await post(messages(1), validation, api)).status === 402);
    const again = await post(known, validation, api);
    expect([again.status, again.body.data[0].replayed]).toEqual([202, true]);
    const mixed = await post([...known, ...messages(1)], validation, api);
    expect([mixed.status, errorsOf(mixed.body)[0]?.code ?? mixed.body.error.code]).toEqual(
      validation === 'strict' ? [402, 'SUBSCRIPTION_REQUIRED'] : [202, 'SUBSCRIPTION_REQUIRED'],
    );
  });

  it('another workspace’s number is not found, and its keys are its own', async () => {
    const [mine, theirs] = [await alone(), await alone()];
    const to = await mine.contact();
    const message = mine.text(to);
    expect((await post([message], undefined, mine.api)).status).toBe(202);
    const { status, body } = await post([message], undefined, theirs.api);
    expect([status, errorsOf(body)[0]?.code]).toEqual([422, 'CONNECTION_NOT_FOUND']);
    expect(await stored(theirs.api)).toEqual([]);
  });

  it('counts what became of the messages', async () => {
    const counters = test.app.get(Counters, { strict: false });
    const count = (outcome: string) => counters.snapshot()[`batch_messages{outcome="${outcome}"}`] ?? 0;
    const outcomes = ['accepted', 'replayed', 'refused'];
    const before = outcomes.map(count);
    const good = text(await workspace.contact());
    await post([good]);
    await post([good, text(await workspace.contact()), {}], 'permissive');
    expect(outcomes.map((outcome, n) => count(outcome) - (before[n] ?? 0))).toEqual([2, 1, 1]);
  });
});
