import { cancelMessage, factsOf } from '../support/facts.js';
import type pg from 'pg';
import { newId } from '../../src/common/ids.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';
import { fetchLaneOf, FetchRepository } from '../../src/modules/media/transfer/fetch.repository.js';
import { MediaRepository } from '../../src/modules/media/media.repository.js';
import { MessagesMaintenanceRepository } from '../../src/modules/messages/maintenance/messages-maintenance.repository.js';
import { MessagesRepository } from '../../src/modules/messages/messages.repository.js';
import { scheduleLaneOf, ScheduleRepository } from '../../src/modules/messages/schedule/schedule.repository.js';
import {
  CLAIM,
  claimParams,
  type GrantOrMessage,
  ClaimRepository,
} from '../../src/modules/sending/claim/claim.repository.js';
import { SendingSweepsRepository } from '../../src/modules/sending/sweeps/sending-sweeps.repository.js';
import { QueueEstimates } from '../../src/modules/sending/estimate/queue-estimate.js';
import { INBOUND_LANE, InboundRepository, type DueNotification } from '../../src/modules/inbound/inbound.repository.js';
import { OtpRepository } from '../../src/modules/otp/otp.repository.js';
import { SendingRepository } from '../../src/modules/otp/sending.repository.js';
import {
  DispatchRepository,
  RECORD_DELIVERY,
  webhookLaneOf,
  type ClaimedEvent,
} from '../../src/modules/webhook/dispatch/dispatch.repository.js';
import { ReplaysRepository } from '../../src/modules/webhook/replay/replays.repository.js';
import { claimRequest } from '../support/claim-request.js';
import type { ConnectionRow } from '../support/factories.js';
import { costOf, type Cost } from '../support/rows-read.js';
import { holdTransaction } from '../support/open-transaction.js';
import { newMessage } from '../support/new-message.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** Rows of each queue that are done with; the bounds below do not depend on it. In full: 100000. */
const DONE = Number(process.env.OPEN_TRANSACTION_ROWS ?? 10_000);
/** Rows of one statement: a slow machine writes them well within the time a statement may take. */
const EACH = 10_000;
const LIVE = 20;
const BACKLOG = 1_000;
const CLAIMED = 64;
/** Entries of indexes and pages that one statement may read. A claim of 64 messages looks at the heads of 128 recipients. */
const MAX_READ = 6_000;

const OWNER = newId();

interface Lane {
  connection: ConnectionRow;
  /** A webhook endpoint, a project of one-time codes. */
  other: string;
}

/** A queue of the product. In its SQL $1 is a workspace, $2 its number, $3 `Lane.other`; `n` counts the rows. */
interface Queue {
  table: string;
  /** Before any row: what claims need, by $1 to $3. */
  prepare?: string;
  /** Writes rows of numbers `from` to `to` ($4, $5) that became due so many seconds ago ($6). */
  insert: string;
  /** The rows that are live at first become due after the test. Default: they are due. */
  later?: boolean;
  /** What happens to all rows of the queue between their claim and their end. */
  finish: readonly string[];
  /** What every process has done, again and again, by the time at which the backlog comes. */
  settle?: (test: TestApp, lane: Lane) => Promise<unknown>;
  /** Rounds that begin only where a look has found work. */
  rounds?: (test: TestApp) => Promise<unknown>;
  /** Each claims, records or looks; a claim returns its rows, and must find some. */
  work: (test: TestApp, lane: Lane) => Record<string, () => Promise<unknown>>;
}

const series = 'from generate_series($4::integer, $5::integer) n';
const due = 'clock_timestamp() - make_interval(secs => $6)';

const JOURNAL = `made as (
    insert into message (id, organization_id, connection_id, direction, type, recipient, sender,
      fingerprint, created_at, send_at)
    select uuid_v7(), $1::uuid, $2::uuid, 'outbound', 'text', '49' || (1000000000 + floor(random() * ${DONE}))::bigint, '15550000000',
      ''::bytea, date_trunc('milliseconds', ${due}), null from generate_series($4::integer, $5::integer) n
    where $3::uuid is not null
    returning *
  ), stated as (
    insert into message_state (message_id, organization_id, connection_id, created_at, queued_at)
    select id, organization_id, connection_id, created_at, created_at from made
  )`;

const queued = (dueAt: string): string => `with ${JOURNAL}
  insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at,
    due_at, expires_at)
  select connection_id, created_at, id, organization_id, recipient, created_at, ${dueAt},
    created_at + interval '100 seconds' from made`;

function messageWork(test: TestApp, { connection }: Lane): Record<string, () => Promise<unknown>> {
  const { app, database } = test;
  const sends = app.get(ClaimRepository);
  const sweeps = app.get(SendingSweepsRepository);
  const messages = app.get(MessagesRepository);
  const maintenance = app.get(MessagesMaintenanceRepository);
  const claim = async () => {
    const request = claimRequest(connection.id, OWNER, CLAIMED);
    const params = claimParams([request], [newId()], 20_000);
    const rows = await database.byIndex(() => database.query<GrantOrMessage>(CLAIM, params));
    return rows.flatMap((row) => (row.id === null ? [] : [row]));
  };
  let claimed: Awaited<ReturnType<typeof claim>> = [];
  return {
    claim: async () => (claimed = await claim()),
    outcome: () =>
      factsOf(database).applyNow(
        claimed.map(({ id, attemptId }) => ({ kind: 'answer', attemptId, messageId: id, status: 'accepted' })),
      ),
    'due lanes': () => sends.dueConnections(2_000, null),
    'lost leases': () => sweeps.expireLeases(1_000),
    expiry: () => sweeps.expireQueued(1_000),
    marks: () => sends.dueConnections.moveMarks(),
    'count of what waits': () => messages.countQueued(connection.organizationId, 500),
    'oldest due': () => maintenance.oldestDueSeconds(),
    cancel: () => cancelMessage(database, connection.organizationId, newId()),
    estimate: () => app.get(QueueEstimates).ofNew({ ...newMessage(connection, '4915'), recipientUserId: null }),
  };
}

/** As the sweep has it once all that was sent is behind it by a while. */
async function mark({ database, app }: TestApp, key: string): Promise<void> {
  await app.get(LaneRepository).ensure(key);
  await database.execute(
    `update lane set low_at = clock_timestamp() - interval '90 seconds', next_slot_at = clock_timestamp() where key = $1`,
    [key],
  );
}

async function settleMessages(test: TestApp, { connection }: Lane): Promise<void> {
  await mark(test, connection.id);
  await test.app.get(ClaimRepository).dueConnections.moveMarks();
}

async function endMessages({ app }: TestApp): Promise<void> {
  const sweeps = app.get(SendingSweepsRepository);
  await sweeps.expireLeases(1_000);
  await sweeps.expireQueued(1_000);
}

const FINISH_MESSAGES = [
  `update message_queue set attempt_id = uuid_v7(), claimed_at = queued_at, lease_until = queued_at + interval '20 seconds',
     due_at = null`,
  'delete from message_queue',
];

const QUEUES: Record<string, Queue> = {
  messages: {
    table: 'message_queue',
    insert: queued('null::timestamptz'),
    finish: FINISH_MESSAGES,
    settle: settleMessages,
    rounds: endMessages,
    work: messageWork,
  },
  'messages that were deferred': {
    table: 'message_queue',
    insert: queued('created_at'),
    finish: FINISH_MESSAGES,
    settle: settleMessages,
    rounds: endMessages,
    work: messageWork,
  },
  'scheduled messages': {
    table: 'message_queue',
    insert: `with ${JOURNAL}
      insert into message_queue (message_id, organization_id, connection_id, created_at, recipient, queued_at,
        scheduled_for, held_until, expires_at)
      select id, organization_id, connection_id, created_at, recipient, created_at, created_at, created_at,
        created_at + interval '1 day' from made`,
    later: true,
    finish: ['delete from message_queue'],
    settle: async (test, { connection }) => {
      await mark(test, scheduleLaneOf(connection.id));
      // Looks at all of them, as every five seconds.
      await test.app.get(ScheduleRepository).dueLanes.moveMarks();
    },
    work: ({ app, database }, { connection }) => {
      const schedule = app.get(ScheduleRepository);
      let found: string[] = [];
      return {
        claim: async () => {
          const { items } = await schedule.claim(claimRequest(scheduleLaneOf(connection.id), OWNER, 1));
          return (found = items.flat().map(({ message }) => message.id));
        },
        outcome: () => schedule.release(found.map((messageId) => ({ messageId, refusal: null, body: 'Hello' }))),
        postponed: () => schedule.postpone(found, 60),
        cancel: () => cancelMessage(database, connection.organizationId, newId()),
        'due lanes': () => schedule.dueLanes(2_000, null),
        marks: () => schedule.dueLanes.moveMarks(),
      };
    },
  },
  'webhook deliveries': {
    table: 'webhook_queue',
    prepare: `with endpoint as (
        insert into webhook_endpoint (id, organization_id, url, events, active)
        select $3::uuid, $1::uuid, 'https://hooks.example.com/', '{message.received}', true where $2::uuid is not null
      )
      insert into webhook_secret (id, organization_id, endpoint_id, ciphertext, hint)
      values (uuid_v7(), $1::uuid, $3::uuid, 'x', 'y')`,
    insert: `with v as (
        insert into webhook_event (organization_id, endpoint_id, type, data, occurred_at)
        select $1::uuid, $3::uuid, 'message.received', '{}', ${due} ${series} where $2::uuid is not null
        returning *
      )
      insert into webhook_queue (event_id, organization_id, endpoint_id, due_at)
      select id, organization_id, endpoint_id, occurred_at from v`,
    finish: [
      `update webhook_queue set attempt_count = 1, attempt_id = uuid_v7(), due_at = due_at + interval '20 seconds'`,
      'delete from webhook_queue',
    ],
    settle: async (test, { other }) => {
      await mark(test, webhookLaneOf(other));
      await test.app.get(DispatchRepository).dueEndpoints.moveMarks();
    },
    work: ({ app, database }, { other }) => {
      const dispatches = app.get(DispatchRepository);
      let claimed: ClaimedEvent[] = [];
      return {
        claim: async () => {
          const claims = await dispatches.claim([claimRequest(webhookLaneOf(other), OWNER, CLAIMED)]);
          return (claimed = claims.flatMap(({ items }) => items));
        },
        outcome: () =>
          database.byIndex(() =>
            database.query(RECORD_DELIVERY, [
              JSON.stringify(
                claimed
                  .slice(0, CLAIMED / 2)
                  .map((event) => ({ ...event, kind: 'succeeded', counted: true, durationMs: 5 })),
              ),
            ]),
          ),
        retry: () =>
          database.byIndex(() =>
            database.query(RECORD_DELIVERY, [
              JSON.stringify(
                claimed
                  .slice(CLAIMED / 2)
                  .map((event) => ({ ...event, kind: 'failed', counted: true, durationMs: 5, delayMs: 5_000 })),
              ),
            ]),
          ),
        'due endpoints': () => dispatches.dueEndpoints(2_000, null),
        marks: () => dispatches.dueEndpoints.moveMarks(),
        replays: () => app.get(ReplaysRepository).feed(),
      };
    },
  },
  'one-time codes': {
    table: 'otp_challenge',
    insert: `insert into otp_challenge (id, organization_id, project_id, mode, recipient, country, idempotency_key,
        fingerprint, status, code_hash, code_key_version, code_ciphertext, template_language, attempt_id, created_at,
        expires_at)
      select uuid_v7(), $1::uuid, $3::uuid, 'live', '49' || lpad(n::text, 9, '0'), 'DE', uuid_v7()::text, ''::bytea,
        'queued', ''::bytea, 1, 'sealed', 'en', uuid_v7(), ${due}, ${due} + interval '100 seconds' ${series}
      where $2::uuid is not null`,
    finish: [
      `update otp_challenge set status = 'sending', lease_until = created_at + interval '20 seconds' where status = 'queued'`,
      `update otp_challenge set status = 'sent', sent_at = created_at, lease_until = null, code_ciphertext = null
       where status = 'sending'`,
      `update otp_challenge set status = 'verified', verified_at = created_at where status = 'sent'`,
    ],
    settle: ({ app }) => app.get(LaneRepository).ensure('otp'),
    rounds: async ({ app }) => {
      await app.get(SendingRepository).expireLeases(1_000);
      await app.get(SendingRepository).endOverdue(1_000);
    },
    work: ({ app, database }, { connection: { organizationId }, other: projectId }) => {
      const sending = app.get(SendingRepository);
      const challenges = app.get(OtpRepository);
      let claimed: Awaited<ReturnType<typeof sending.claim>>['items'] = [];
      const refOf = async () => {
        const { id, recipient } = await database.row<{ id: string; recipient: string }>(
          'select id, recipient from otp_challenge where attempt_id = $1',
          [claimed[0]?.attemptId],
        );
        return { id, recipient, organizationId, projectId };
      };
      return {
        claim: async () => (claimed = (await sending.claim(claimRequest('otp', OWNER, CLAIMED), null)).items),
        outcome: () => sending.record(claimed[0]?.attemptId ?? '', { kind: 'sent', metaMessageId: `wamid.${newId()}` }),
        reports: () =>
          sending.applyReports(
            claimed.map(({ attemptId }) => ({
              status: 'delivered',
              metaMessageId: `wamid.${attemptId}`,
              callbackData: attemptId,
              occurredAt: new Date(),
              category: 'unknown',
            })),
          ),
        guess: async () => challenges.admitGuess(await refOf()),
        'wrong guess': async () => challenges.noteWrong(await refOf()),
        'right guess': async () => challenges.consume(await refOf()),
        'a newer code': async () => challenges.supersede({ ...(await refOf()), id: newId() }),
        end: () => sending.end(claimed[1]?.id ?? ''),
        released: () => sending.release(claimed[2]?.attemptId ?? ''),
        'due code': () => sending.dueForMs(),
        'lost leases': () => sending.expireLeases(1_000),
        'overdue codes': () => sending.endOverdue(1_000),
      };
    },
  },
  'stored notifications': {
    table: 'notification_queue',
    // A trigger queues what is stored, where it is not queued already.
    insert: `with stored as (
        insert into platform_notification (id, body)
        select uuid_v7(), '{}'::bytea ${series} where $1::uuid <> $2::uuid and $3::uuid is not null returning id
      )
      insert into notification_queue (notification_id, due_at) select id, ${due} from stored`,
    finish: [
      `update notification_queue set tries = 1, due_at = due_at + interval '20 seconds'`,
      `update platform_notification set state = 'applied' where state = 'stored'`,
    ],
    settle: async (test) => {
      await mark(test, INBOUND_LANE);
      // Looks at all of them, as every five seconds.
      await test.app.get(InboundRepository).dueLanes.moveMarks();
    },
    work: ({ app, database }) => {
      const notifications = app.get(InboundRepository);
      let claimed: DueNotification[] = [];
      return {
        claim: async () =>
          (claimed = (await notifications.claim(claimRequest(INBOUND_LANE, OWNER, CLAIMED), 1_000_000)).items),
        outcome: () =>
          notifications.insert(
            claimed.map(({ id, body }) => ({ id, body, state: 'applied', unread: null, person: null })),
            database,
          ),
        'due lane': () => notifications.dueLanes(1, null),
        marks: () => notifications.dueLanes.moveMarks(),
        'what waits': () => notifications.backlog(),
      };
    },
  },
  'files to fetch': {
    table: 'media_object',
    insert: `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, status,
        platform_media_id, next_attempt_at)
      select uuid_v7(), $1::uuid, $2::uuid, 'inbound', 'image', 'image/png', 'pending', n::text, ${due} ${series}
      where $3::uuid is not null`,
    finish: [
      `update media_object set tries = 1, lease_owner = uuid_v7(), lease_until = next_attempt_at + interval '1 minute',
         next_attempt_at = next_attempt_at + interval '1 minute' where status = 'pending'`,
      `update media_object set status = 'stored', storage_key = uuid_v7(), size_bytes = 1, sha256 = repeat('0', 64),
         next_attempt_at = null, lease_owner = null, lease_until = null where status = 'pending'`,
    ],
    settle: (test, { connection }) => mark(test, fetchLaneOf(connection.id)),
    work: ({ app }, { connection }) => {
      const fetches = app.get(FetchRepository);
      const media = app.get(MediaRepository);
      let claimed: Awaited<ReturnType<typeof fetches.claim>>['items'] = [];
      return {
        claim: async () => {
          const request = claimRequest(fetchLaneOf(connection.id), OWNER, CLAIMED);
          return (claimed = (await fetches.claim(request)).items);
        },
        outcome: async () => {
          for (const { organizationId, id } of claimed.splice(0, 10)) {
            const facts = { storageKey: newId(), mimeType: 'image/png', sizeBytes: 1, sha256: '0'.repeat(64) };
            await media.setStored(organizationId, id, facts);
          }
        },
        retry: async () => {
          for (const file of claimed.splice(0, 10)) await fetches.retry(file, 'later', 60_000, null);
        },
        released: async () => {
          for (const file of claimed.splice(0, 10)) await fetches.release(file, null);
        },
        'due lanes': () => fetches.dueLanes(2_000, null),
        expiry: () => fetches.expire(1_000),
      };
    },
  },
};

/** What maintenance may have done to a table while twenty of its rows were live, or none. */
const STATES: Record<string, { live: number; maintain: (table: string) => string | null }> = {
  'never analyzed': { live: LIVE, maintain: () => null },
  'vacuumed without analyze': { live: LIVE, maintain: (table) => `vacuum ${table}` },
  'vacuumed and analyzed': { live: LIVE, maintain: (table) => `vacuum (analyze) ${table}` },
  'vacuumed and analyzed while empty': { live: 0, maintain: (table) => `vacuum (analyze) ${table}` },
};

describe.each(Object.entries(STATES))(
  `beside a transaction that stays open, behind ${DONE} rows that are done with, on a table that was %s`,
  (_state, { live, maintain }) => {
    let test: TestApp;
    let foreign: pg.Client;

    beforeAll(async () => {
      // Without a worker: nothing takes what waits.
      test = await startTestApp({ roles: ['api'] });
      foreign = await holdTransaction(test.databaseUrl);
    });
    afterAll(async () => {
      await foreign?.end();
      await test?.stop();
    });

    it.each(Object.entries(QUEUES))(
      'claims, outcomes and looks of %s read a bounded number of entries and pages',
      async (_name, { table, prepare, insert, later = false, finish, settle, rounds, work }) => {
        const { database, app } = test;
        const { connection } = await test.sender();
        const lane: Lane = { connection, other: newId() };
        const ids = [connection.organizationId, connection.id, lane.other];
        const write = async (count: number, secondsAgo: number): Promise<void> => {
          for (let from = 1; from <= count; from += EACH) {
            await database.execute(insert, [...ids, from, Math.min(count, from + EACH - 1), secondsAgo]);
          }
        };
        await database.execute(`alter table ${table} set (autovacuum_enabled = false)`);
        await database.execute(`truncate ${table} cascade`);
        if (prepare !== undefined) await database.execute(prepare, ids);
        for (let done = 0; done < DONE; done += EACH) {
          await write(Math.min(EACH, DONE - done), 180);
          for (const statement of finish) await database.execute(statement);
        }
        const liveSince = later ? -600 : 1;
        await write(live, liveSince);
        const maintenance = maintain(table);
        if (maintenance !== null) await database.execute(maintenance);
        if (live === 0) await write(LIVE, liveSince);
        const sweeps = app.get(Sweeps);
        const look = () => sweeps['look'](sweeps['sweeps'], false, performance.now());
        await look();
        await settle?.(test, lane);
        await look();
        const costs: Record<string, Cost> = {};
        costs['look for work before any round'] = await costOf(database, table, look);
        await rounds?.(test);
        await write(BACKLOG, 0);
        for (const mode of ['force_custom_plan', 'force_generic_plan']) {
          const each = { ...work(test, lane), 'look for work': look };
          for (const [name, run] of Object.entries(each)) {
            const found: unknown[] = [];
            costs[`${name}, ${mode}`] = await costOf(
              database,
              table,
              async () => found.push(await run()),
              () => database.execute(`set local plan_cache_mode = ${mode}`),
            );
            if (name === 'claim') expect((found[0] as unknown[]).length).toBeGreaterThan(0);
          }
        }
        const tooMuch = Object.entries(costs).flatMap(([name, { entries, pages, scans }]) =>
          entries + pages > MAX_READ || scans > 0
            ? [`${name}: ${entries} entries, ${pages} pages, ${scans} scans`]
            : [],
        );
        expect(tooMuch).toEqual([]);
      },
    );
  },
);
