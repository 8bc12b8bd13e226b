import { jest } from '@jest/globals';
import { Config } from '../../src/infrastructure/config/config.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { BacklogGuard } from '../../src/modules/messages/accept/backlog-guard.js';
import { seedQueued } from '../support/rig/seed-messages.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

const HOUR_MS = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
});
beforeEach(async () => {
  workspace = await sendingWorkspace(test);
});
afterAll(() => test.stop());

const put = (body: object, tag = 'sale') => workspace.api.request({ method: 'PUT', path: `/tags/${tag}`, body: body });
const act = (action: string, body?: object) => workspace.api.post(`/tags/sale/${action}`, body);
const summary = async (tag = 'sale') => (await workspace.api.get(`/tags/${tag}`)).body.data;
const round = (name = 'tags') => test.app.get(Sweeps, { strict: false }).runNow(name);
/** The worker's rounds are a second apart. */
const becomesActive = (what: string) =>
  waitFor(
    async () => {
      await round();
      return (await summary()).status === 'active';
    },
    { what },
  );
const send = async (fields: object = {}, tag = 'sale'): Promise<string> => {
  const { status, body } = await workspace.send(await workspace.contact(), { body: { tag, ...fields } });
  expect({ status, body }).toMatchObject({ status: 202 });
  return (body.data as unknown as { id: string }).id;
};
const statusOf = async (id: string): Promise<unknown> => (await workspace.message(id)).status;
/** Its clock moves: all that is known of the tag and its messages is so much older. */
const age = async (hours: number): Promise<void> => {
  await test.database.execute(
    `update message_queue set queued_at = queued_at - $2 * interval '1 hour', expires_at = expires_at - $2 * interval '1 hour',
       scheduled_for = scheduled_for - $2 * interval '1 hour',
       held_until = case when isfinite(held_until) then held_until - $2 * interval '1 hour' else held_until end
     where organization_id = $1`,
    [workspace.organizationId, hours],
  );
  await test.database.execute(
    `update message_tag set start_at = start_at - $2 * interval '1 hour', started_at = started_at - $2 * interval '1 hour'
     where organization_id = $1`,
    [workspace.organizationId, hours],
  );
};

describe('GET /tags', () => {
  it('lists tags with their counts, newest first and in pages', async () => {
    await put({ paused: true }, 'staged');
    const first = await send({}, 'first');
    await workspace.reaches(first, 'read');
    await send({ send_at: inHours(1) }, 'second');
    const { body } = await workspace.api.get('/tags');
    expect(body.data).toMatchObject([
      { tag: 'second', status: 'active', paused: false, messages: 1, counts: { queued: 1 }, scheduled: 1 },
      { tag: 'first', status: 'active', messages: 1, counts: { read: 1, queued: 0 }, failures: {}, last_action: null },
      { tag: 'staged', status: 'paused', paused: true, messages: 0, first_accepted_at: null, last_activity_at: null },
    ]);
    const names: string[] = [];
    let next = '';
    do {
      const page = (await workspace.api.get(`/tags?limit=1${next}`)).body as unknown as {
        data: { tag: string }[];
        pagination: { next_before: string | null; next_before_id: string | null };
      };
      names.push(...page.data.map(({ tag }) => tag));
      const { next_before: before, next_before_id: id } = page.pagination;
      next = before === null ? '' : `&before=${before}&before_id=${id}`;
    } while (next !== '');
    expect(names).toEqual(['second', 'first', 'staged']);
    const other = await sendingWorkspace(test);
    expect((await other.api.get('/tags')).body.data).toEqual([]);
  });

  it('shows the last action, what it has done, and what a retry had to leave', async () => {
    const [one, two] = [await workspace.contact('0003'), await workspace.contact('0003')];
    for (const to of [one, two]) {
      const { body } = await workspace.send(to, { body: { tag: 'sale' } });
      await workspace.reaches((body.data as unknown as { id: string }).id, 'failed');
    }
    await workspace.api.request({ method: 'PUT', path: '/opt-outs', body: { to: one, category: 'all' } });
    const { body } = await act('retry');
    expect(body.data).toMatchObject({ action: 'retry', messages: 2 });
    await becomesActive('the retry to end');
    const { last_action: last } = await summary();
    expect(last).toMatchObject({ action: 'retry', done: 1, skipped: { RECIPIENT_OPTED_OUT: 1 } });
    expect((last as { ended_at: string | null }).ended_at).not.toBeNull();
  });
});

describe('PUT /tags/{tag}', () => {
  it('makes a group that waits until it is resumed; no time to live runs before', async () => {
    const made = await put({ paused: true });
    expect([made.status, made.body.data]).toMatchObject([200, { tag: 'sale', status: 'paused', messages: 0 }]);
    const [plain, short] = [await send(), await send({ ttl_seconds: 60 })];
    await round();
    await age(48);
    await round();
    for (const id of [plain, short]) {
      expect(await workspace.message(id)).toMatchObject({ status: 'queued', waiting: { reason: 'tag_paused' } });
    }
    expect(await summary()).toMatchObject({ status: 'paused', counts: { queued: 2 }, estimated_end_at: null });
    expect((await act('resume')).body.data).toMatchObject({ action: 'resume', messages: 2 });
    await round();
    for (const id of [plain, short]) await workspace.reaches(id, 'read');
    await becomesActive('the tag to be active');
    expect((await summary()).last_action).toMatchObject({ action: 'resume', done: 2, skipped: {} });
    // It has started: its next messages go at once, and their time to live runs in a pause.
    await act('pause');
    const late = await send({ ttl_seconds: 60 });
    await round();
    await age(1);
    await act('resume');
    await round();
    await workspace.reaches(late, 'failed');
  });

  it('releases at the later of its start and the time of a message', async () => {
    await put({ start_at: inHours(2) });
    const [plain, before, after] = [
      await send({ ttl_seconds: 3_600 }),
      await send({ send_at: inHours(1), ttl_seconds: 60 }),
      await send({ send_at: inHours(4), ttl_seconds: 3_600 }),
    ];
    await round();
    expect(await summary()).toMatchObject({ status: 'scheduled', counts: { queued: 3 }, scheduled: 2 });
    const end = Date.parse((await summary()).estimated_end_at as string);
    expect(end).toBeGreaterThan(Date.now() + 1.9 * HOUR_MS);
    await age(1.5);
    await round('tag_starts');
    await round();
    for (const id of [plain, before, after]) expect(await statusOf(id)).toBe('queued');
    await age(1);
    // By hand: sweeps and lanes do not look again at times that have passed, until a minute is over.
    await round('tag_starts');
    expect((await summary()).status).not.toBe('scheduled');
    for (const id of [plain, before]) await workspace.reaches(id, 'read');
    expect(await workspace.message(after)).toMatchObject({ status: 'queued', waiting: { reason: 'scheduled' } });
    await becomesActive('the tag to be active');
    await test.database.execute(
      'update message_queue set scheduled_for = clock_timestamp(), held_until = clock_timestamp() where message_id = $1',
      [after],
    );
    await workspace.reaches(after, 'read');
  });

  it('frees no more a minute than it says', async () => {
    await put({ paused: true, messages_per_minute: 1 });
    const ids = [await send(), await send(), await send()];
    await round();
    await put({ paused: false });
    await round();
    await workspace.reaches(ids[0] as string, 'read');
    await round();
    expect(await summary()).toMatchObject({ counts: { queued: 2, read: 1 }, messages_per_minute: 1 });
    const end = Date.parse((await summary()).estimated_end_at as string);
    expect(end).toBeGreaterThan(Date.now() + 110_000);
    const aged = `update message_tag set paced_at = paced_at - interval '1 minute' where organization_id = $1`;
    await test.database.execute(aged, [workspace.organizationId]);
    await round();
    await workspace.reaches(ids[1] as string, 'read');
    expect(await statusOf(ids[2] as string)).toBe('queued');
    // What comes now is held as well; what has a time of its own keeps that.
    const fresh = await send();
    const timed = await send({ send_at: inHours(1) });
    await round();
    expect(await statusOf(fresh)).toBe('queued');
    await age(1);
    await workspace.reaches(timed, 'read');
    expect(await statusOf(fresh)).toBe('queued');
    await put({ messages_per_minute: null });
    await round();
    for (const id of [...ids, fresh]) await workspace.reaches(id, 'read');
  });

  it('keeps what the body leaves out, and can be repeated', async () => {
    const start = inHours(2);
    const plan = { paused: true, start_at: start, messages_per_minute: 600 };
    const made = await put(plan);
    expect(made.body.data).toMatchObject(plan);
    expect((await put({})).body).toEqual(made.body);
    expect((await put(plan)).body).toEqual(made.body);
    expect((await put({ messages_per_minute: null })).body.data).toMatchObject({ ...plan, messages_per_minute: null });
    expect((await put({ paused: false })).body.data).toMatchObject({ status: 'scheduled', start_at: start });
    expect((await put({ start_at: null })).body.data).toMatchObject({ status: 'resuming', start_at: null });
  });

  it('409 for another start of a group that has started', async () => {
    await send();
    expect((await put({ paused: true })).status).toBe(200);
    const { status, body } = await put({ start_at: inHours(1) });
    expect([status, body.error.code]).toEqual([409, 'TAG_STARTED']);
  });

  it.each([
    [{ paused: 'yes' }, 'paused'],
    [{ start_at: 'tomorrow' }, 'start_at'],
    [{ start_at: '2027-01-01T10:00:00' }, 'start_at'],
    [{ messages_per_minute: 0 }, 'messages_per_minute'],
    [{ messages_per_minute: 1.5 }, 'messages_per_minute'],
    [{ messages_per_minute: 60_001 }, 'messages_per_minute'],
    [{ start: null }, 'start'],
  ])('400 for %j', async (body, field) => {
    const answer = await put(body);
    expect([answer.status, answer.body.error.details?.[0]?.field]).toEqual([400, field]);
  });

  it('409 for one tag more that holds messages back than a workspace may have; the others stay', async () => {
    const other = await sendingWorkspace(test);
    await test.database.execute(
      `insert into message_tag (organization_id, tag, paused) select $1, 'held-' || n, true from generate_series(1, 1000) as n`,
      [other.organizationId],
    );
    const more = await other.api.request({ method: 'PUT', path: '/tags/more', body: { paused: true } });
    expect([more.status, more.body.error.code]).toEqual([409, 'TAG_LIMIT_REACHED']);
    expect((await other.api.get('/tags/more')).status).toBe(404);
    const plain = await other.api.request({ method: 'PUT', path: '/tags/more', body: {} });
    expect(plain.status).toBe(200);
    const paused = await other.api.post('/tags/more/pause', {});
    expect([paused.status, paused.body.error.code]).toEqual([409, 'TAG_LIMIT_REACHED']);
    expect((await other.api.get('/tags/more')).body.data).not.toMatchObject({ status: 'paused' });
    expect((await other.api.request({ method: 'PUT', path: '/tags/held-1', body: { paused: false } })).status).toBe(
      200,
    );
    expect((await other.api.request({ method: 'PUT', path: '/tags/more', body: { paused: true } })).status).toBe(200);
  });

  it('what a tag holds counts with what is scheduled: no more is taken for it than a workspace may have', async () => {
    const { connection, organizationId } = workspace;
    await seedQueued(test.database, connection, { count: 10, tag: 'held' });
    await test.database.execute(`update message_tag set paused = true where organization_id = $1`, [organizationId]);
    await test.database.execute(
      `update message_queue set held_until = 'infinity', due_at = null where organization_id = $1`,
      [organizationId],
    );
    const backlog = jest.replaceProperty(test.app.get(Config).limits, 'backlog', 5);
    try {
      const guard = test.app.get(BacklogGuard, { strict: false });
      // It counts in the background.
      const ask = async () => guard.requireRoom(organizationId, 'scheduled', 1);
      const isFull = () =>
        ask().then(
          () => false,
          () => true,
        );
      await waitFor(isFull);
      const to = await workspace.contact();
      expect((await workspace.send(to, { body: { tag: 'held' } })).body.error.code).toBe('BACKLOG_LIMIT_REACHED');
      expect((await workspace.send(to)).status).toBe(202);
    } finally {
      backlog.restore();
    }
  });

  it('400 for a name that is none, 403 for a key that may not write', async () => {
    expect((await put({}, 'a%20b')).status).toBe(400);
    const { organizationId } = workspace;
    const { text } = await test.factories.apiKey({ organizationId, scopes: ['messages:read'] });
    expect((await test.api.as(text).request({ method: 'PUT', path: '/tags/sale', body: {} })).status).toBe(403);
  });
});
