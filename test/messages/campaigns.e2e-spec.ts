import type { Pool } from 'pg';
import { newId } from '../../src/common/ids.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { RetriesService } from '../../src/modules/messages/retry/retries.service.js';
import { seedConversations, seedFailed } from '../support/rig/seed-messages.js';
import { countTags } from '../support/count-tags.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

const HOUR_MS = 3_600_000;

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
});

beforeEach(async () => {
  workspace = await sendingWorkspace(test);
});

afterAll(() => test.stop());

const idOf = (body: { data: unknown }): string => (body.data as { id: string }).id;
const send = async (to: string, fields: object = {}): Promise<string> => {
  const { status, body } = await workspace.send(to, { body: { tag: 'sale', ...fields } });
  expect({ status, body }).toMatchObject({ status: 202 });
  return idOf(body);
};
const act = async (action: string, body?: object) => workspace.api.post(`/tags/sale/${action}`, body);
const round = () => test.app.get(Sweeps, { strict: false }).runNow('tags');
const summary = async (tag = 'sale') => (await workspace.api.get(`/tags/${tag}`)).body.data;
/** The worker's rounds are a second apart. */
const becomesActive = (what: string) =>
  waitFor(
    async () => {
      await round();
      return (await summary()).status === 'active';
    },
    { what },
  );

/** Nothing is claimed until the returned function is called: the number rests. */
async function numberRests(): Promise<() => Promise<void>> {
  const { id } = workspace.connection;
  await test.database.execute(
    `insert into lane (key, paused_until, pause_reason) values ($1, clock_timestamp() + interval '1 hour', 'test')
     on conflict (key) do update set paused_until = excluded.paused_until`,
    [id],
  );
  return async () => {
    await test.database.execute('update lane set paused_until = null where key = $1', [id]);
  };
}

const order = (to: string): string[] =>
  test.simulator.messages.list({ to }).map(({ callback }) => callback?.split('.')[0] ?? '');

describe('a tag', () => {
  it.each(['', '/pause', '/resume', '/cancel', '/retry'])('is not found where no message has it: %s', async (path) => {
    await send(await workspace.contact());
    const other = await sendingWorkspace(test);
    for (const [api, tag] of [
      [workspace.api, 'none'],
      [other.api, 'sale'],
      [workspace.api, 'a%20b'],
    ] as const) {
      const { status, body } = await (path === '' ? api.get(`/tags/${tag}`) : api.post(`/tags/${tag}${path}`));
      expect([status, body.error.code]).toEqual([404, 'TAG_NOT_FOUND']);
    }
  });

  it('shows where its messages stand', async () => {
    const [first, failed] = [await send(await workspace.contact()), await send(await workspace.contact('0003'))];
    const later = await send(await workspace.contact(), { send_at: new Date(Date.now() + HOUR_MS).toISOString() });
    await workspace.reaches(first, 'read');
    await workspace.reaches(failed, 'failed');
    const { created_at: createdAt } = await workspace.message(first);
    const { failure_category: category } = await workspace.message(failed);
    const { scheduled_for: time } = await workspace.message(later);
    const found = await summary();
    expect(found).toMatchObject({
      tag: 'sale',
      status: 'active',
      messages: 3,
      counts: { queued: 1, processing: 0, accepted: 0, sent: 0, delivered: 0, read: 1, failed: 1, outcome_unknown: 0 },
      scheduled: 1,
      failures: { [category as string]: 1 },
      first_accepted_at: createdAt,
      complete: true,
    });
    expect(Date.parse(found.estimated_end_at as string)).toBeGreaterThanOrEqual(Date.parse(time as string));
  });
});

describe('pause and resume', () => {
  it('hold what waits, let later messages to its recipients pass, and go on in the old order', async () => {
    const to = await workspace.contact();
    const rested = await numberRests();
    const paused = [await send(to), await send(to), await send(await workspace.contact())];
    const { status, body } = await act('pause');
    expect([status, body.data]).toEqual([202, { tag: 'sale', action: 'pause', status: 'paused', messages: 3 }]);
    expect((await act('pause')).body).toEqual(body);
    const plain = await workspace.sendText(to);
    const other = idOf((await workspace.send(to, { body: { tag: 'other' } })).body);
    await round();
    await rested();
    for (const id of [plain, other]) await workspace.reaches(id, 'read');
    for (const id of paused) {
      expect(await workspace.message(id)).toMatchObject({
        status: 'queued',
        waiting: { reason: 'tag_paused', until: null },
        next_attempt_at: null,
        estimated_send_at: null,
        attempt_count: 0,
      });
    }
    expect(await summary()).toMatchObject({
      status: 'paused',
      counts: { queued: 3 },
      scheduled: 0,
      estimated_end_at: null,
    });
    const { body: listed } = await workspace.api.get('/messages?status=queued');
    expect((listed.data as unknown as { id: string }[]).map(({ id }) => id).sort()).toEqual([...paused].sort());

    expect((await act('resume')).body.data).toMatchObject({ status: 'resuming' });
    await round();
    for (const id of paused) await workspace.reaches(id, 'read');
    expect(order(to)).toEqual([plain, other, paused[0], paused[1]]);
    await becomesActive('the tag to be active');
  });

  it('hold what was tried before as all else: later messages to its recipient pass', async () => {
    const to = await workspace.contact();
    const rested = await numberRests();
    const tried = await send(to);
    await test.database.execute('update message_queue set attempt_number = 1, tries = 1 where message_id = $1', [
      tried,
    ]);
    await act('pause');
    await round();
    const plain = await workspace.sendText(to);
    await rested();
    expect(await workspace.message(tried)).toMatchObject({
      status: 'queued',
      waiting: { reason: 'tag_paused', until: null },
      next_attempt_at: null,
      estimated_send_at: null,
      attempt_count: 1,
    });
    await workspace.reaches(plain, 'read');
    await act('resume');
    await round();
    await workspace.reaches(tried, 'read');
    expect(order(to)).toEqual([plain, tried]);
  });

  it('hold what is accepted meanwhile, and the claim alone before any row was moved', async () => {
    await workspace.reaches(await send(await workspace.contact()), 'read');
    await act('pause');
    const to = await workspace.contact();
    const [held, plain] = [await send(to), await workspace.sendText(await workspace.contact())];
    await workspace.reaches(plain, 'read');
    expect(await workspace.message(held)).toMatchObject({ status: 'queued' });
    await act('resume');
    await round();
    await workspace.reaches(held, 'read');
  });

  it('hold scheduled messages: past their time they are checked and go when it is resumed', async () => {
    const ids = [];
    for (let n = 0; n < 3; n++) {
      ids.push(await send(await workspace.contact(), { send_at: new Date(Date.now() + HOUR_MS).toISOString() }));
    }
    await act('pause');
    await round();
    const [first = '', second = '', third = ''] = ids;
    expect(await workspace.message(first)).toMatchObject({
      status: 'queued',
      scheduled_for: expect.any(String),
      waiting: { reason: 'tag_paused' },
    });
    await test.database.execute(
      `update message_queue set scheduled_for = clock_timestamp() where message_id = any($1)`,
      [[first, second]],
    );
    await act('resume');
    await round();
    for (const id of [first, second]) await workspace.reaches(id, 'read');
    expect(await workspace.message(third)).toMatchObject({ status: 'queued', waiting: { reason: 'scheduled' } });
  });

  it('fail at the resume what has expired', async () => {
    const rested = await numberRests();
    const [late, other] = [
      await send(await workspace.contact(), { ttl_seconds: 60 }),
      await send(await workspace.contact()),
    ];
    await act('pause');
    await round();
    await rested();
    await test.database.execute(
      `update message_queue set expires_at = clock_timestamp() - interval '1 second' where message_id = $1`,
      [late],
    );
    await act('resume');
    await round();
    await workspace.reaches(other, 'read');
    expect(await workspace.reaches(late, 'failed')).toMatchObject({ failure_category: 'expired' });
  });

  it('let one message be canceled', async () => {
    const rested = await numberRests();
    const id = await send(await workspace.contact());
    await act('pause');
    await round();
    await rested();
    expect((await workspace.api.post(`/messages/${id}/cancel`)).body.data).toMatchObject({
      status: 'failed',
      failure_category: 'canceled',
    });
  });
});

describe('cancel', () => {
  it('fails what waits, queued, paused and scheduled; what is sent with the tag afterwards goes', async () => {
    const rested = await numberRests();
    const waiting = [await send(await workspace.contact())];
    await act('pause');
    await round();
    waiting.push(await send(await workspace.contact()));
    waiting.push(await send(await workspace.contact(), { send_at: new Date(Date.now() + HOUR_MS).toISOString() }));
    expect((await act('cancel')).body.data).toEqual({
      tag: 'sale',
      action: 'cancel',
      status: 'canceling',
      messages: 3,
    });
    const fresh = await send(await workspace.contact());
    const plain = await workspace.sendText(await workspace.contact());
    await rested();
    await round();
    for (const id of waiting) {
      expect(await workspace.reaches(id, 'failed')).toMatchObject({ failure_category: 'canceled', attempt_count: 0 });
    }
    for (const id of [fresh, plain]) await workspace.reaches(id, 'read');
    await becomesActive('the tag to be active');
    expect(await summary()).toMatchObject({ counts: { failed: 3, read: 1, queued: 0 }, failures: { canceled: 3 } });
  });
});

describe('retry', () => {
  it('queues failed messages again, of one category or of all but what was canceled or opted out', async () => {
    const { organizationId, connection } = workspace;
    const failed = async (category: string, status = 'failed') => {
      const to = await workspace.contact();
      const id = newId();
      await test.database.execute(
        `with m as (insert into message (id, organization_id, connection_id, direction, type, recipient, sender, tag,
             created_at)
           values ($1, $2, $3, 'outbound', 'text', $4, '16505550134', 'sale', clock_timestamp()) returning *),
         c as (insert into message_content (message_id, body, content) select id, 'Hi', '{"body":"Hi"}' from m)
         insert into message_state (message_id, organization_id, connection_id, created_at, status, event_count, queued_at,
           failed_at, failure_category, attempt_number)
         select id, organization_id, connection_id, created_at, $6, 1, created_at, created_at, $5, 0 from m`,
        [id, organizationId, connection.id, to, category, status],
      );
      return id;
    };
    const [limit, unknown, canceled, optedOut, doubtful] = [
      await failed('recipient_limit'),
      await failed('unknown'),
      await failed('canceled'),
      await failed('opted_out'),
      await failed('unknown', 'outcome_unknown'),
    ];
    await countTags(test.database, organizationId);
    for (const category of ['NONE', 'zzz']) {
      const { status, body } = await act('retry', { category });
      expect([status, body.error.details?.map(({ field, rule }) => [field, rule])]).toEqual([
        400,
        [['category', 'one_of']],
      ]);
    }
    expect((await act('retry', { category: 'recipient_limit' })).body.data).toEqual({
      tag: 'sale',
      action: 'retry',
      status: 'retrying',
      messages: 1,
    });
    await round();
    await workspace.reaches(limit, 'read');
    await becomesActive('the retry to end');
    expect(await summary()).toMatchObject({ counts: { read: 1, failed: 3, outcome_unknown: 1 } });
    await act('retry');
    await round();
    await workspace.reaches(unknown, 'read');
    await becomesActive('the retry to end');
    for (const id of [canceled, optedOut]) expect(await workspace.message(id)).toMatchObject({ status: 'failed' });
    expect(await workspace.message(doubtful)).toMatchObject({ status: 'outcome_unknown' });
    await act('retry', { category: 'canceled' });
    await round();
    await workspace.reaches(canceled, 'read');
  });

  it('queues nothing any more once the tag is canceled, also of the page that it has just found', async () => {
    const { organizationId, connection } = workspace;
    const { database } = test;
    const pool = { query: (sql: string, params: unknown[]) => database.execute(sql, params) };
    await seedConversations(pool as unknown as Pool, { ...connection, organizationId }, 2);
    await seedFailed(pool, { ...connection, organizationId }, { count: 2, tag: 'sale' });
    await countTags(database, organizationId);
    await numberRests();
    const retries = test.app.get(RetriesService, { strict: false });
    const retryPage = retries.retryPage.bind(retries);
    // The page is found, and the cancel comes before it is queued.
    const asked = import.meta.jest.spyOn(retries, 'retryPage').mockImplementationOnce(async (...page) => {
      expect((await act('cancel')).status).toBe(202);
      return retryPage(...page);
    });
    try {
      await act('retry');
      await waitFor(() => asked.mock.calls.length > 0, { what: 'a page to be retried' });
    } finally {
      asked.mockRestore();
    }
    await becomesActive('the cancel to end');
    expect(await summary()).toMatchObject({ counts: { queued: 0, failed: 2 } });
  });

  it('queues in the order of before, as far as limits have room, and comes back to what is locked', async () => {
    const { organizationId, connection } = workspace;
    const { database } = test;
    const pool = { query: (sql: string, params: unknown[]) => database.execute(sql, params) };
    await seedConversations(pool as unknown as Pool, { ...connection, organizationId }, 2);
    await seedFailed(pool, { ...connection, organizationId }, { count: 8, recipients: 2, tag: 'sale' });
    await database.execute('update organization set messages_per_day = 5 where id = $1', [organizationId]);
    await numberRests();
    const all = await database.query<{ id: string }>(
      'select id from message where organization_id = $1 order by created_at, id',
      [organizationId],
    );
    const ids = all.map(({ id }) => id);
    const queued = async () => {
      const rows = await database.query<{ id: string }>(
        'select message_id as id from message_queue where organization_id = $1 order by seq',
        [organizationId],
      );
      return rows.map(({ id }) => id);
    };
    const locked = ids[1] as string;
    await database.transaction(async () => {
      await database.query('select from message_state where message_id = $1 for update', [locked]);
      await database.detached(async () => {
        await act('retry');
        await waitFor(async () => (await queued()).length === 5, { what: 'what is not locked to be queued' });
        expect(await summary()).toMatchObject({ status: 'retrying' });
      });
    });
    await becomesActive('the retry to end');
    expect(await queued()).toEqual(ids.filter((id) => id !== locked).slice(0, 5));
    expect(await summary()).toMatchObject({ counts: { queued: 5, failed: 3 } });
    const used = `select used::integer as count from limit_use where organization_id = $1 and kind = 'messages_per_day'`;
    expect(await database.count(used, [organizationId])).toBe(5);
  });
});
