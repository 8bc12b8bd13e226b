import { makePartitionsAhead, Partitions } from '../../src/infrastructure/database/partitions.js';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { newId } from '../../src/common/ids.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { mobile, otpApp } from '../otp/fixture.js';
import { png } from '../media/samples.js';
import { settle } from '../support/settle.js';
import { withHostClock } from '../support/host-clock.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { killWaiting } from '../support/kill-waiting.js';

const DAY_MS = 86_400_000;
/** Days by which the clock of a host is wrong. */
const WRONG = 200;

/** An id as it would have been made so many days ago. */
function idOf(daysAgo: number): string {
  const hex = (Date.now() - daysAgo * DAY_MS).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${newId().slice(15)}`;
}

describe('what is kept for a time only', () => {
  let test: TestApp;

  beforeAll(async () => {
    test = await startTestApp({
      // No worker: a round of its own could clear what a test has made before the test counts it.
      roles: ['api'],
      env: {
        MESSAGE_CONTENT_RETENTION_DAYS: '90',
        RECEIVED_MEDIA_RETENTION_DAYS: '60',
        UPLOADED_MEDIA_RETENTION_DAYS: '120',
        ATTEMPT_RETENTION_DAYS: '100',
        WEBHOOK_RETENTION_DAYS: '20',
        NOTIFICATION_RETENTION_DAYS: '14',
        OTP_RETENTION_DAYS: '30',
      },
    });
  });
  afterAll(async () => test?.stop());

  const run = () => test.app.get(Sweeps).runNow('retention');

  /** Gives a message an id as of another time, and that time, as the host that made the id had the right one. */
  const rename = async (id: string, as: string, createdDaysAgo?: number): Promise<void> => {
    const hex = as.slice(0, 8) + as.slice(9, 13);
    const at = createdDaysAgo === undefined ? Number.parseInt(hex, 16) : Date.now() - createdDaysAgo * DAY_MS;
    await test.database.execute('update message set id = $2, created_at = $3 where id = $1', [id, as, new Date(at)]);
    for (const table of ['message_content', 'message_queue', 'message_state']) {
      await test.database.execute(`update ${table} set message_id = $2 where message_id = $1`, [id, as]);
    }
  };

  const otpProject = async (organizationId: string): Promise<{ id: string }> => {
    const id = newId();
    await test.database.execute(
      `insert into otp_project (id, organization_id, name, mode) values ($1, $2, 'Old', 'sandbox')`,
      [id, organizationId],
    );
    return { id };
  };

  it('contents of old messages are cleared, their states and those of younger ones stay', async () => {
    const { connection } = await test.sender();
    const ages = [91, 120, 89, 0.1];
    const made: { id: string; age: number }[] = [];
    for (const age of ages) {
      const { id } = await test.factories.message({ connection, status: 'read', body: `said ${age} days ago` });
      const old = idOf(age);
      await rename(id, old);
      await test.database.execute(
        `update message_content set inbound_context = '{"username": "ana.l"}' where message_id = $1`,
        [old],
      );
      made.push({ id: old, age });
    }
    await run();
    const rows = await test.database.query<{
      id: string;
      body: string | null;
      content: object;
      status: string;
      context: object | null;
    }>('select id, body, content, status, inbound_context as context from message_view where connection_id = $1', [
      connection.id,
    ]);
    expect(rows).toHaveLength(ages.length);
    for (const { id, age } of made) {
      const row = rows.find((each) => each.id === id);
      expect([row?.status, row?.context === null]).toEqual(['read', age > 90]);
      expect({ age, cleared: row?.body === null && JSON.stringify(row.content) === '{}' }).toEqual({
        age,
        cleared: age > 90,
      });
    }
    expect(await run()).toBe(0);
  });

  it('a message that still waits keeps its content, and is cleared once it is done', async () => {
    const { connection, api } = await test.sender();
    const { id } = await test.factories.message({ connection, status: 'queued', body: 'still to be said' });
    const old = idOf(100);
    await rename(id, old);
    await run();
    const bodyOf = async () =>
      (await test.database.query<{ body: string | null }>('select body from message_view where id = $1', [old]))[0]
        ?.body;
    expect(await bodyOf()).toBe('still to be said');
    await settle(test.database, old);
    await test.database.execute(`update message_state set status = 'failed' where message_id = $1`, [old]);
    await run();
    expect(await bodyOf()).toBeNull();
    const retried = await api.post(`/messages/${old}/retry`);
    expect([retried.status, retried.body.error.code]).toEqual([409, 'MESSAGE_NOT_RETRYABLE']);
    expect(retried.body.error.message).toContain('cleared');
  });

  it('notifications that are done with go, those that are not stay', async () => {
    const insert = async (daysAgo: number, state: string) => {
      const id = idOf(daysAgo);
      await test.database.execute(
        `insert into platform_notification (id, body, state, received_at)
         values ($1, '\\x7b7d', $2, clock_timestamp() - make_interval(days => $3))`,
        [id, state, daysAgo],
      );
      return id;
    };
    const gone = [await insert(15, 'applied'), await insert(15, 'unmatched'), await insert(400, 'unreadable')];
    const kept = [await insert(15, 'stored'), await insert(13, 'applied')];
    await run();
    const rows = await test.database.query<{ id: string }>('select id from platform_notification where id = any($1)', [
      [...gone, ...kept],
    ]);
    expect(rows.map(({ id }) => id).sort((a, b) => (a < b ? -1 : 1))).toEqual(
      [...kept].sort((a, b) => (a < b ? -1 : 1)),
    );
  });

  it('files go with their bytes, each direction in its time, and say when', async () => {
    const { api, connection, key } = await test.sender();
    const file = async (direction: string, daysAgo: number) => {
      const form = new FormData();
      form.set('connection_id', connection.id);
      form.set('file', new Blob([new Uint8Array(png())], { type: 'image/png' }), 'photo.png');
      const response = await fetch(`${test.baseUrl}/api/v1/media`, {
        method: 'POST',
        body: form,
        headers: { authorization: `Bearer ${key.text}` },
      });
      const { data } = (await response.json()) as { data: { id: string; created_at: string; expires_at: string } };
      expect(Date.parse(data.expires_at) - Date.parse(data.created_at)).toBe(120 * DAY_MS);
      const [row] = await test.database.query<{ storage_key: string }>(
        `update media_object set direction = $2, created_at = created_at - make_interval(days => $3) where id = $1
         returning storage_key`,
        [data.id, direction, daysAgo],
      );
      return { id: data.id, key: row?.storage_key ?? '' };
    };
    const gone = [await file('inbound', 61), await file('outbound', 121)];
    const kept = [await file('inbound', 59), await file('outbound', 119), await file('outbound', 61)];
    const { id: message } = await test.factories.message({ connection, status: 'received', type: 'image' });
    await test.database.execute('update message set media_object_id = $2 where id = $1', [message, gone[0]?.id]);
    expect(await run()).toBe(gone.length);
    const listed = (await api.get('/media')).body.data as { id: string; direction: string; expires_at: string }[];
    expect(listed.map(({ id }) => id).sort(byText)).toEqual(kept.map(({ id }) => id).sort(byText));
    for (const one of listed) expect(Date.parse(one.expires_at)).toBeGreaterThan(Date.now());
    const onDisk = filesBelow(join(test.dataDir, 'media'));
    for (const { key } of gone) expect([key, onDisk.some((path) => path.includes(key))]).toEqual([key, false]);
    for (const { key } of kept) expect([key, onDisk.some((path) => path.includes(key))]).toEqual([key, true]);
    // The journal still says that there was one.
    expect((await api.get(`/messages/${message}`)).body.data.media_object_id).toBe(gone[0]?.id);
    expect((await api.get(`/media/${gone[0]?.id}/url`)).status).toBe(404);
  });

  it('events, deliveries and attempts go in their time, and nothing early', async () => {
    const { connection } = await test.sender();
    const { organizationId } = connection;
    const insert = async (table: string, daysAgo: number, columns: Record<string, unknown>) => {
      const id = idOf(daysAgo);
      const values = { id, organization_id: organizationId, ...columns };
      const places = Object.keys(values).map((_name, index) => `$${index + 1}`);
      await test.database.execute(
        `insert into ${table} (${Object.keys(values).join(', ')}) values (${places.join(', ')})`,
        Object.values(values),
      );
      return { table, id, daysAgo };
    };
    const event = (daysAgo: number) =>
      insert('webhook_event', daysAgo, {
        endpoint_id: newId(),
        type: 'message.received',
        data: '{"content":"said"}',
        occurred_at: new Date(),
      });
    const delivery = (daysAgo: number) =>
      insert('webhook_delivery', daysAgo, {
        endpoint_id: newId(),
        event_id: newId(),
        event_type: 'webhook.test',
        attempt: 1,
        status: 'failed',
        created_at: new Date(),
      });
    const attempt = (daysAgo: number, isReplaced: boolean) =>
      insert('message_attempt', daysAgo, {
        message_id: newId(),
        number: 1,
        answer: 'accepted',
        started_at: new Date(Date.now() - daysAgo * DAY_MS),
        replaced_at: isReplaced ? new Date(Date.now() - daysAgo * DAY_MS) : null,
      });
    // As of a process that has run for weeks: a partition a day.
    const days = test.app.get(Partitions);
    for (const { name } of await days.list('webhook_delivery')) await test.database.execute(`drop table ${name}`);
    const query = (sql: string, params?: unknown[]) => test.database.query(sql, params);
    await makePartitionsAhead(query, 'webhook_delivery', 'day', new Date(Date.now() - 22 * DAY_MS));
    await days.makeAhead('webhook_delivery', 'day');
    const gone = [
      await event(21),
      await event(300),
      await delivery(21),
      await attempt(101, true),
      await attempt(500, true),
    ];
    const kept = [
      await event(19),
      await event(0),
      await delivery(19),
      await attempt(99, true),
      await attempt(101, false),
    ];
    // A partition counts as one, the empty one of the day before too.
    expect(await run()).toBe(gone.length + 1);
    for (const [rows, left] of [
      [gone, 0],
      [kept, 1],
    ] as const) {
      for (const { table, id, daysAgo } of rows) {
        const found = await test.database.query(`select 1 from ${table} where id = $1`, [id]);
        expect({ table, daysAgo, left: found.length }).toEqual({ table, daysAgo, left });
      }
    }
  });

  it('old codes and the numbers they went to are forgotten, in batches, and a killed batch is done again', async () => {
    const { id: organizationId } = await test.factories.workspace();
    const { id: projectId } = await otpProject(organizationId);
    const challenges = (age: number, from: number, to: number) =>
      test.database.execute(
        `insert into otp_challenge (id, organization_id, project_id, mode, recipient, country, idempotency_key, fingerprint,
           status, code_hash, code_key_version, template_language, attempt_id, created_at, expires_at)
         select overlay(gen_random_uuid()::text placing left($3, 15) from 1 for 15)::uuid, $1, $2, 'sandbox',
           '49151' || (10000000 + n), 'DE', 'old-key-' || n, '\\x00', 'verified', '\\x00', 1, 'en_US', gen_random_uuid(),
           clock_timestamp() - make_interval(days => $4), clock_timestamp() - make_interval(days => $4)
         from generate_series($5::integer, $6::integer) as n`,
        [organizationId, projectId, idOf(age), age, from, to],
      );
    await challenges(32, 1, 1_000);
    await challenges(31, 1_001, 2_500);
    await challenges(29, 2_501, 2_600);
    await test.database.execute(
      `insert into otp_recipient (project_id, recipient, organization_id, last_sent_at, tokens, refilled_at)
       select $1, '49151' || (10000000 + n), $2, clock_timestamp() - make_interval(days => case when n > 10 then 31 else 1 end),
         4, clock_timestamp()
       from generate_series(1, 2500) as n`,
      [projectId, organizationId],
    );
    const counts = async () =>
      (
        await test.database.query<{ challenges: number; recipients: number }>(
          `select (select count(*)::integer from otp_challenge where project_id = $1 and recipient is not null) as challenges,
             (select count(*)::integer from otp_recipient where project_id = $1) as recipients`,
          [projectId],
        )
      )[0];

    // The second batch waits for a locked row, and its connection is killed there, as by a crash.
    // It is held by its id: FOR UPDATE would lock the rows that OFFSET passes over as well.
    const lock = {
      sql: `select 1 from otp_challenge where id = (
        select id from otp_challenge where project_id = $1 order by created_at offset 1500 limit 1) for update`,
      params: [projectId],
    };
    expect((await killWaiting(test.databaseUrl, lock, run)).message).toContain('one-time codes');
    // What failed kept nothing else from being cleared, and no half batch is gone.
    expect(await counts()).toEqual({ challenges: 1_600, recipients: 10 });
    await run();
    expect(await counts()).toEqual({ challenges: 100, recipients: 10 });
    expect(await run()).toBe(0);
  });

  it('the key of an old code stays used, and nothing else of it stays', async () => {
    const shop = await otpApp(test, 'sandbox');
    const to = mobile();
    const key = `login-${to}`;
    const first = await shop.send(to, { key });
    const { id, test_code: code } = first.body.data as { id: string; test_code: string };
    // Not `sent_at`: what changes late is counted before it is cleared.
    await test.database.execute(
      `update otp_challenge set created_at = created_at - interval '31 days', expires_at = expires_at - interval '31 days'
       where id = $1`,
      [id],
    );
    await test.database.execute(
      `update otp_recipient set last_sent_at = last_sent_at - interval '31 days' where project_id = $1`,
      [shop.project.id],
    );
    await run();
    const [row] = await test.database.query<Record<string, unknown>>('select * from otp_challenge where id = $1', [id]);
    expect(row).toMatchObject({ recipient: null, number: null, country: null, code_hash: null, status: 'expired' });

    const repeat = await shop.send(to.replace('+49', '+49 '), { key });
    expect(repeat.status).toBe(200);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    const { recipient, status } = repeat.body.data as { recipient: string; status: string };
    expect({ id: repeat.body.data.id, recipient, status }).toEqual({ id, recipient: to.slice(1), status: 'expired' });
    const other = await shop.send(mobile(), { key });
    expect([other.status, other.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    expect((await shop.api.get(`/otp/${id}`)).status).toBe(404);
    const guess = await shop.verify(id, code);
    expect([guess.status, guess.body.error.code]).toEqual([400, 'OTP_CODE_INCORRECT']);
    expect(await run()).toBe(0);

    // Erasure finds the number in the old key; another key is used up without it.
    const plain = randomUUID();
    expect((await shop.send(to, { key: plain })).status).toBe(202);
    await test.app.get(Erasure).erase(shop.project.organizationId, to.slice(1));
    const refused = await shop.send(to, { key: plain });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    expect(await test.database.query('select 1 from otp_challenge where id = $1', [id])).toEqual([]);
  });

  it('nothing goes early because of a host whose clock is ahead or behind', async () => {
    const { connection } = await test.sender();
    const young = await test.factories.message({ connection, status: 'read', body: 'said today' });
    const behind = await test.factories.message({ connection, status: 'read', body: 'said today too' });
    // As of a host that is behind: what it makes has old ids.
    await rename(behind.id, idOf(WRONG), 0);
    const ids = Array.from({ length: 3 }, () => idOf(WRONG));
    await test.database.execute(
      `insert into platform_notification (id, body, state) values ($1, '\\x7b7d', 'applied')`,
      [ids[0]],
    );
    await test.database.execute(
      `insert into message_attempt (id, organization_id, message_id, number, answer, started_at, replaced_at)
       values ($1, $2, $3, 1, 'accepted', clock_timestamp(), clock_timestamp())`,
      [ids[1], connection.organizationId, newId()],
    );
    const { id: projectId } = await otpProject(connection.organizationId);
    await test.database.execute(
      `insert into otp_challenge (id, organization_id, project_id, mode, recipient, country, idempotency_key, fingerprint,
         status, code_hash, code_key_version, template_language, attempt_id, created_at, expires_at)
       values ($1, $2, $3, 'sandbox', '4915110000000', 'DE', 'young', '\\x00', 'verified', '\\x00', 1, 'en_US',
         gen_random_uuid(), clock_timestamp(), clock_timestamp())`,
      [ids[2], connection.organizationId, projectId],
    );
    const partitionsOf = () => test.database.query(PARTITIONS);
    const before = await partitionsOf();
    expect(before.length).toBeGreaterThan(1);
    for (const days of [WRONG, -WRONG, 0]) await withHostClock(days * DAY_MS, async () => expect(await run()).toBe(0));
    expect(await partitionsOf()).toEqual(before);
    const contents = `select 1 from message_content where message_id = $1`;
    expect(await test.database.query(contents, [young.id])).toHaveLength(1);
  });

  it('a month of contents goes whole when all of it is old, but one of which a message is still to be sent', async () => {
    const { connection } = await test.sender();
    const query = (sql: string, params?: unknown[]) => test.database.query(sql, params);
    const partitions = test.app.get(Partitions);
    for (const { name } of await partitions.list('message_content')) await test.database.execute(`drop table ${name}`);
    const now = new Date();
    const month = (after: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + after, 1));
    for (let after = -8; after <= 0; after++) {
      await makePartitionsAhead(query, 'message_content', 'month', month(after));
    }
    const daysTo = (time: Date): number => (Date.now() - time.getTime()) / DAY_MS;
    const content = async (daysAgo: number): Promise<string> => {
      const id = idOf(daysAgo);
      await query(`insert into message_content (message_id, content) values ($1, '{}')`, [id]);
      return id;
    };
    // A day after the beginning of the month, and 91 days ago.
    for (const daysAgo of [daysTo(month(-8)) - 1, daysTo(month(-7)) - 1, daysTo(month(-6)) - 1, 91])
      await content(daysAgo);
    const [waits, young] = [await content(daysTo(month(-6)) - 2), await content(89)];
    await test.database.execute(
      `insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at, expires_at, held_until)
       select $1, clock_timestamp(), $2, $3, '4915112345', clock_timestamp(), 'infinity', 'infinity'`,
      [connection.id, waits, connection.organizationId],
    );
    const partitionsLeft = async () => (await partitions.list('message_content')).map(({ name }) => name);
    const contentsLeft = async () =>
      (await query('select message_id as id from message_content order by 1')).map(({ id }) => id as string);
    const nameOf = (after: number): string =>
      `message_content_${month(after).toISOString().slice(0, 7).replace('-', '')}`;
    expect(await partitionsLeft()).toEqual([-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2].map(nameOf));
    await run();
    expect(await contentsLeft()).toEqual([waits, young].sort());
    // 90 days are at least two whole months, and the month before them is partly old at the most.
    expect(await partitionsLeft()).not.toContain(nameOf(-8));
    expect(await partitionsLeft()).not.toContain(nameOf(-7));
    expect(await partitionsLeft()).toEqual(expect.arrayContaining([-6, -2, -1, 0, 1, 2].map(nameOf)));
    await test.database.execute('delete from message_queue where message_id = $1', [waits]);
    await run();
    expect(await partitionsLeft()).not.toContain(nameOf(-6));
    expect(await contentsLeft()).toEqual([young]);
  });

  it('every batch is a range of an index', async () => {
    // On empty tables the planner takes what it likes; the question is which indexes can be used at all.
    const client = new pg.Client({ connectionString: test.databaseUrl });
    await client.connect();
    try {
      await client.query('set enable_seqscan = off; set enable_bitmapscan = off');
      for (const sql of [
        `select message_id from message_content where message_id < $1 order by message_id limit 1000`,
        `select id from webhook_event where id < $1 order by id limit 1000`,
        `select id from webhook_delivery where id < $1 order by id limit 1000`,
        `select id from platform_notification where id < $1 and state <> 'stored' order by id limit 1000`,
      ]) {
        const plan = await client.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, [idOf(1)]);
        const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(text).toMatch(/Index (Only )?Scan using \w+_pkey/);
        expect(text).toMatch(/Index Cond: \((message_)?id < /);
        expect(text).not.toContain('Sort');
      }
      for (const [index, condition] of [
        ['media_object_age', `media_object where direction = 'inbound' and`],
        ['otp_challenge_kept', 'otp_challenge where recipient is not null and expires_at < clock_timestamp() and'],
      ] as const) {
        const plan = await client.query<{ 'QUERY PLAN': string }>(
          `explain select id from ${condition} created_at < $1 order by created_at limit 1000`,
          [new Date()],
        );
        const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(text).toContain(index);
        expect(text).not.toContain('Sort');
      }
    } finally {
      await client.end();
    }
  });
});

const PARTITIONS = `select inhrelid::regclass::text as name from pg_inherits
  where inhparent in ('webhook_delivery'::regclass, 'message_content'::regclass) order by 1`;

const byText = (a: string, b: string): number => (a < b ? -1 : 1);

function filesBelow(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : [];
}
