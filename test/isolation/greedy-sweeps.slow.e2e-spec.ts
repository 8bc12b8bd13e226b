import { newId } from '../../src/common/ids.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from '../messages/fixture.js';
import { seedFailed, seedQueued } from '../support/rig/seed-messages.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

let test: TestApp;

beforeAll(async () => {
  // No worker: each round is begun here.
  test = await startTestApp({ roles: ['api', 'simulator'] });
});
afterAll(() => test?.stop());

interface Case {
  sweep: string;
  what: string;
  /** Of the greedy workspace; the others have one each. */
  many: number;
  /** Gives a workspace so much work. What is first in time is the greedy one's. */
  seed: (workspace: SendingWorkspace, count: number) => Promise<unknown>;
  /** SQL: the count of what is left of the workspace $1. */
  left: string;
}

const pool = { query: (sql: string, params: unknown[]) => test.database.execute(sql, params) };
const execute = (sql: string, params: readonly unknown[]): Promise<number> => test.database.execute(sql, params);

const TAGGED = 'select count(*)::integer as count from message_tag where organization_id = $1 and';
const EXPIRED = 'select count(*)::integer as count from message_queue where organization_id = $1';

/** An endpoint that has rested for so long. */
async function endpoint({ organizationId }: SendingWorkspace, values: { daysAgo: number | null }): Promise<string> {
  const id = newId();
  await execute(
    `insert into webhook_endpoint (id, organization_id, url, events, active, inactive_since)
     values ($1, $2, 'https://example.com/', '{message.received}', $3::integer is null,
       clock_timestamp() - make_interval(days => $3::integer))`,
    [id, organizationId, values.daysAgo],
  );
  return id;
}

const CASES: readonly Case[] = [
  {
    sweep: 'tags',
    what: 'failed messages of one tag to retry',
    many: 400,
    seed: async ({ connection, api }, count) => {
      await seedFailed(pool, connection, { count, tag: 'sale' });
      expect((await api.post('/tags/sale/retry')).status).toBe(202);
    },
    left: `${TAGGED} retry_before is not null`,
  },
  {
    sweep: 'tags',
    what: 'tags to resume',
    many: 400,
    seed: ({ organizationId }, count) =>
      execute(
        `insert into message_tag (organization_id, tag, resuming, acted_at)
         select $1, 'tag' || n, true, clock_timestamp() from generate_series(1, $2::integer) as n`,
        [organizationId, count],
      ),
    left: `${TAGGED} resuming`,
  },
  {
    sweep: 'send_expiry',
    what: 'messages that have expired',
    many: 10_000,
    seed: async ({ connection, organizationId }, count) => {
      await seedQueued(pool, connection, { count });
      await execute(
        `update message_queue set expires_at = clock_timestamp() - interval '1 second' where organization_id = $1`,
        [organizationId],
      );
    },
    left: EXPIRED,
  },
  {
    sweep: 'otp_overdue',
    what: 'codes that have expired',
    many: 10_000,
    seed: ({ organizationId }, count) =>
      execute(
        `with project as (
           insert into otp_project (id, organization_id, name, mode) values ($2, $1, 'Shop', 'live') returning id)
         insert into otp_challenge (id, organization_id, project_id, mode, recipient, idempotency_key, fingerprint, status,
           code_key_version, template_language, attempt_id, created_at, expires_at)
         select uuid_v7(), $1, project.id, 'live', (15550000000 + n)::text, n::text, '', 'sent', 1, 'en_US', uuid_v7(),
           clock_timestamp() - interval '10 minutes', clock_timestamp() - interval '1 second'
         from project, generate_series(1, $3::integer) as n`,
        [organizationId, newId(), count],
      ),
    left: `select count(*)::integer as count from otp_challenge where organization_id = $1 and status = 'sent'`,
  },
  {
    sweep: 'media_expiry',
    what: 'files that the platform no longer has',
    many: 10_000,
    seed: ({ connection, organizationId }, count) =>
      execute(
        `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, status, platform_media_id,
           created_at, next_attempt_at)
         select uuid_v7(), $1, $2, 'inbound', 'image', 'image/png', 'pending', n::text,
           clock_timestamp() - interval '8 days', clock_timestamp() from generate_series(1, $3::integer) as n`,
        [organizationId, connection.id, count],
      ),
    left: `select count(*)::integer as count from media_object where organization_id = $1 and status = 'pending'`,
  },
  {
    sweep: 'contact_book',
    what: 'people to remove from the contact book of the platform',
    many: 100,
    seed: ({ connection, organizationId }, count) =>
      execute(
        `insert into contact_book_removal (connection_id, user_id, organization_id)
         select $1, 'ES.' || n, $2 from generate_series(1, $3::integer) as n`,
        [connection.id, organizationId, count],
      ),
    left: 'select count(*)::integer as count from contact_book_removal where organization_id = $1',
  },
  {
    sweep: 'connection_facts',
    what: 'numbers of which the platform is to be asked',
    many: 60,
    seed: async ({ organizationId }, count) => {
      for (let n = 1; n < count; n++) await connectionAtSimulator(test, organizationId);
      await execute('update connection set facts_due_at = clock_timestamp() where organization_id = $1', [
        organizationId,
      ]);
    },
    left: `select count(*)::integer as count from connection where organization_id = $1 and facts_due_at <= clock_timestamp()`,
  },
  {
    sweep: 'templates',
    what: 'accounts to sync',
    many: 60,
    seed: async ({ organizationId }, count) => {
      for (let n = 1; n < count; n++) await connectionAtSimulator(test, organizationId);
      await execute(
        `insert into template_account (organization_id, waba_id) select organization_id, waba_id from connection
         where organization_id = $1`,
        [organizationId],
      );
    },
    left: 'select count(*)::integer as count from template_account where organization_id = $1 and synced_at is null',
  },
  {
    sweep: 'webhook_purge',
    what: 'events that have waited for too long',
    many: 30_000,
    seed: async (workspace, count) =>
      execute(
        `insert into webhook_queue (event_id, organization_id, endpoint_id, due_at)
         select uuid_v7(), $1, $2, clock_timestamp() - interval '4 days' from generate_series(1, $3::integer)`,
        [workspace.organizationId, await endpoint(workspace, { daysAgo: 4 }), count],
      ),
    left: 'select count(*)::integer as count from webhook_queue where organization_id = $1',
  },
  {
    sweep: 'webhook_replays',
    what: 'events of a replay',
    many: 1_000,
    seed: async (workspace, count) =>
      execute(
        `with replay as (
           insert into webhook_replay (id, organization_id, endpoint_id, only_failed, total)
           values ($2, $1, $3, false, $4::integer) returning id)
         insert into webhook_replay_event (replay_id, organization_id, event_id)
         select id, $1, uuid_v7() from replay, generate_series(1, $4::integer)`,
        [workspace.organizationId, newId(), await endpoint(workspace, { daysAgo: null }), count],
      ),
    left: `select count(*)::integer as count from webhook_replay where organization_id = $1 and finished_at is null`,
  },
];

it.each(CASES)('$sweep: one workspace with many $what does not delay others with one', async (one) => {
  const { sweep, many, seed, left } = one;
  // In whatever order they are found, one of the others is behind it.
  const [first, greedy, last] = [
    await sendingWorkspace(test),
    await sendingWorkspace(test),
    await sendingWorkspace(test),
  ];
  await seed(greedy, many);
  for (const other of [first, last]) await seed(other, 1);
  const leftOf = ({ organizationId }: SendingWorkspace) => test.database.count(left, [organizationId]);
  const leftOfOthers = async (): Promise<number> => (await leftOf(first)) + (await leftOf(last));
  expect(await leftOfOthers()).toBe(2);
  const before = await leftOf(greedy);
  const sweeps = test.app.get(Sweeps);
  let isOver = false;
  const rounds = (async () => {
    while (!isOver) await sweeps.runNow(sweep);
  })();
  // Looked at in this order: what is left of the greedy one was left when the others were done.
  await waitFor(async () => (await leftOfOthers()) === 0, { everyMs: 5, what: 'the others' });
  const after = await leftOf(greedy);
  isOver = true;
  // Half of it: a look may come late.
  expect(after).toBeGreaterThan(before / 2);
  await rounds;
});
