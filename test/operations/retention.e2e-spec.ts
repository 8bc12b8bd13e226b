import { newId } from '../../src/common/ids.js';
import { Sweeps } from '../../src/platform/lanes/sweeps.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const DAY_MS = 86_400_000;

/** An id as it would have been made so many days ago. */
function idOf(daysAgo: number): string {
  const hex = (Date.now() - daysAgo * DAY_MS).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${newId().slice(15)}`;
}

describe('what is kept for a time only', () => {
  let test: TestApp;

  beforeAll(async () => {
    test = await startTestApp({
      roles: ['api', 'worker'],
      env: { MESSAGE_CONTENT_RETENTION_DAYS: '90', NOTIFICATION_RETENTION_DAYS: '14', OTP_RETENTION_DAYS: '30' },
    });
  });
  afterAll(async () => test?.stop());

  const run = () => test.app.get(Sweeps).runNow('retention');

  it('contents of old messages are cleared, their states and those of younger ones stay', async () => {
    const { connection } = await test.sender();
    const ages = [91, 120, 89, 0.1];
    const made: { id: string; age: number }[] = [];
    for (const age of ages) {
      const { id } = await test.factories.message({ connection, status: 'read', body: `said ${age} days ago` });
      const old = idOf(age);
      await test.database.execute('update message set id = $2 where id = $1', [id, old]);
      made.push({ id: old, age });
    }
    await run();
    const rows = await test.database.query<{ id: string; body: string | null; content: object; status: string }>(
      'select id, body, content, status from message where connection_id = $1',
      [connection.id],
    );
    expect(rows).toHaveLength(ages.length);
    for (const { id, age } of made) {
      const row = rows.find((each) => each.id === id);
      expect(row?.status).toBe('read');
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
    await test.database.execute(
      `update message set id = $2, next_attempt_at = clock_timestamp() + interval '1 day' where id = $1`,
      [id, old],
    );
    // As an installation that has never cleared anything.
    await test.database.execute('delete from retention_cursor');
    await run();
    const bodyOf = async () =>
      (await test.database.query<{ body: string | null }>('select body from message where id = $1', [old]))[0]?.body;
    expect(await bodyOf()).toBe('still to be said');
    await test.database.execute(`update message set status = 'failed', next_attempt_at = null where id = $1`, [old]);
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
        `insert into platform_notification (id, body, state, next_try_at)
         values ($1, '\\x7b7d', $2, clock_timestamp() + interval '1 day')`,
        [id, state],
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

  it('old codes and the numbers they went to are forgotten, in batches', async () => {
    const { id: organizationId } = await test.factories.workspace();
    const projectId = newId();
    await test.database.execute(
      `insert into otp_project (id, organization_id, name, mode) values ($1, $2, 'Old', 'sandbox')`,
      [projectId, organizationId],
    );
    await test.database.execute(
      `insert into otp_challenge (id, organization_id, project_id, mode, recipient, country, idempotency_key, fingerprint,
         status, code_hash, code_key_version, template_language, attempt_id, created_at, expires_at)
       select overlay(gen_random_uuid()::text placing left($3, 15) from 1 for 15)::uuid, $1, $2, 'sandbox',
         '49151' || (10000000 + n), 'DE', 'old-key-' || n, '\\x00', 'verified', '\\x00', 1, 'en_US', gen_random_uuid(),
         clock_timestamp() - interval '31 days', clock_timestamp() - interval '31 days'
       from generate_series(1, 2500) as n`,
      [organizationId, projectId, idOf(31)],
    );
    await test.database.execute(
      `insert into otp_recipient (project_id, recipient, organization_id, last_sent_at, tokens, refilled_at)
       select $1, '49151' || (10000000 + n), $2, clock_timestamp() - make_interval(days => case when n > 10 then 31 else 1 end),
         4, clock_timestamp()
       from generate_series(1, 2500) as n`,
      [projectId, organizationId],
    );
    await run();
    const left = await test.database.query(
      `select (select count(*)::integer from otp_challenge where project_id = $1) as challenges,
         (select count(*)::integer from otp_recipient where project_id = $1) as recipients`,
      [projectId],
    );
    expect(left).toEqual([{ challenges: 0, recipients: 10 }]);
  });
});
