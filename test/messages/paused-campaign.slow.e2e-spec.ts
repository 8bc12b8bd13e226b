import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace } from './fixture.js';

/** PAUSED_MESSAGES=100000 for the long form, which prints what it took. */
const MESSAGES = Number(process.env.PAUSED_MESSAGES ?? 10_000);
/** Of the other tag, behind them. */
const OTHERS = 300;
const LONG_MS = 60_000;

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.stop());

const note = (text: string): void => {
  if (process.env.PAUSED_MESSAGES !== undefined) process.stderr.write(`${text}\n`);
};

it(
  'a paused tag with many queued messages sends nothing more, lets another of its number pass, and goes on in order',
  async () => {
    const workspace = await sendingWorkspace(test);
    const { organizationId, connection, api } = workspace;
    const { database } = test;
    const seed = (tag: string, count: number, from: number, recipients: number) =>
      database.execute(
        `with made as (
           insert into message (id, organization_id, connection_id, direction, type, recipient, sender, tag, created_at)
           select uuid_v7(), $1, $2, 'outbound', 'text', (15550000000 + $4::bigint + n % $5::integer)::text, '16505550134',
             $3, date_trunc('milliseconds', clock_timestamp())
           from generate_series(0, $6::integer - 1) as n returning *),
         contents as (
           insert into message_content (message_id, body, content) select id, 'Hi', '{"body":"Hi"}' from made),
         stated as (
           insert into message_state (message_id, organization_id, connection_id, created_at, queued_at)
           select id, organization_id, connection_id, created_at, created_at from made),
         tagged as (
           insert into message_tag (organization_id, tag) select $1, $3 on conflict do nothing),
         counted as (
           insert into message_tag_count (organization_id, tag, connection_id, status, messages, first_at, last_at)
           select $1, $3, $2, 'queued', count(*), min(created_at), max(created_at) from made)
         insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at, tag,
           expires_at)
         select connection_id, created_at, id, organization_id, recipient, clock_timestamp(), tag,
           clock_timestamp() + interval '1 day' from made order by id`,
        [organizationId, connection.id, tag, from, recipients, count],
      );
    const left = (tag: string) =>
      database.count(
        `select count(*)::integer as count from message m where m.organization_id = $1 and m.tag = $2
           and exists (select from message_state s where s.message_id = m.id and s.status <> 'queued')`,
        [organizationId, tag],
      );
    const statusIs = (status: string) =>
      waitFor(async () => (await api.get('/tags/big')).body.data.status === status, { timeoutMs: LONG_MS });
    for (let n = 0; n < MESSAGES; n += 5_000) await seed('big', Math.min(5_000, MESSAGES - n), n, 5_000);
    await seed('other', OTHERS, 9_000_000, OTHERS);
    await waitFor(async () => (await left('big')) > 0, { what: 'the campaign to begin', timeoutMs: LONG_MS });

    const begin = performance.now();
    const since = () => `${Math.round(performance.now() - begin)} ms`;
    expect((await api.post('/tags/big/pause')).status).toBe(202);
    note(`pause answered: ${since()}`);
    await waitFor(async () => (await left('other')) === OTHERS, {
      what: 'the other tag to be sent',
      timeoutMs: LONG_MS,
    });
    note(`the ${OTHERS} messages of the other tag sent: ${since()}`);
    const inQueue = `select count(*)::integer as count from message_queue
      where organization_id = $1 and tag = 'big' and held_until is null and attempt_id is null`;
    await waitFor(async () => (await database.count(inQueue, [organizationId])) === 0, { timeoutMs: LONG_MS });
    note(`all rows held: ${since()}`);
    const sent = await left('big');
    const { data } = (await api.get('/tags/big')).body;
    expect(data).toMatchObject({ status: 'paused', messages: MESSAGES, counts: { queued: MESSAGES - sent } });
    await seed('other', OTHERS, 9_000_000, OTHERS);
    await waitFor(async () => (await left('other')) === 2 * OTHERS, { timeoutMs: LONG_MS });
    expect(await left('big')).toBe(sent);
    note(`sent before the pause: ${sent}`);

    const resumed = performance.now();
    expect((await api.post('/tags/big/resume')).status).toBe(202);
    await statusIs('active');
    note(`all rows free: ${Math.round(performance.now() - resumed)} ms`);
    // The recipients take turns; what one of them gets is in the order of before.
    const waiting = await database.query<{ recipient: string; ids: string[] }>(
      `select recipient, array_agg(message_id order by seq) as ids from message_queue
       where organization_id = $1 and tag = 'big' group by recipient having count(*) > 1 limit 50`,
      [organizationId],
    );
    for (const { ids } of waiting) expect(ids).toEqual(ids.toSorted());
    await api.post('/tags/big/cancel');
    const canceled = performance.now();
    await statusIs('active');
    note(`the rest canceled: ${Math.round(performance.now() - canceled)} ms`);
    expect((await api.get('/tags/big')).body.data).toMatchObject({ counts: { queued: 0, processing: 0 } });
  },
  LONG_MS,
);
