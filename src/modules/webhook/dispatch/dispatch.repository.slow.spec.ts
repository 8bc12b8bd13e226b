import pg from 'pg';
import { newId } from '../../../common/ids.js';
import { Database } from '../../../infrastructure/database/database.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { claimRequest } from '../../../../test/support/claim-request.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { insertWebhookEvents } from '../webhook.types.js';
import { WebhookMaintenanceRepository } from '../webhook-maintenance.repository.js';
import {
  DispatchRepository,
  RECORD_DELIVERY,
  webhookLaneOf,
  type ClaimedEvent,
  type DeliveryOutcome,
} from './dispatch.repository.js';

const BACKLOG = 20_000;

let open: OpenTestDatabase;
let database: Database;
let dispatches: DispatchRepository;

beforeAll(async () => {
  open = await openTestDatabase();
  ({ database } = open);
  dispatches = new DispatchRepository(database);
});
afterAll(() => open.close());

async function endpoint(values: { active?: boolean; events?: number } = {}) {
  const id = newId();
  const organizationId = newId();
  await database.execute(`insert into organization (id, name) values ($1, 'Test')`, [organizationId]);
  await database.execute(
    `insert into webhook_endpoint (id, organization_id, url, events, active)
     values ($1, $2, 'https://hooks.example.com/', '{message.received}', $3)`,
    [id, organizationId, values.active ?? true],
  );
  await database.execute(
    `insert into webhook_secret (id, organization_id, endpoint_id, ciphertext, hint) values ($1, $2, $3, 'x', 'y')`,
    [newId(), organizationId, id],
  );
  await write(organizationId, values.events ?? 0);
  return { id, organizationId };
}

async function write(
  organizationId: string,
  count: number,
  type = 'message.received',
  connectionIds: readonly string[] | null = null,
): Promise<number> {
  const source = `(select $1::uuid as organization_id, $2 as event_type, jsonb_build_object('n', n, 'big', 12345678901234567890) as event_data,
    clock_timestamp() as occurred_at, $4::uuid[] as connection_ids, null::bytea as trace_context from generate_series(1, $3::integer) n)`;
  return database.execute(`with ${insertWebhookEvents(source)} select from announced`, [
    organizationId,
    type,
    count,
    connectionIds,
  ]);
}

const OWNER = newId();

/** What a process claims of each endpoint. */
async function claimOf(wanted: ReadonlyMap<string, number>, owner = OWNER): Promise<ClaimedEvent[]> {
  const lanes = new LaneRepository(database);
  const requests = [...wanted].map(([id, limit]) => claimRequest(webhookLaneOf(id), owner, limit));
  for (const { laneKey } of requests) await lanes.ensure(laneKey);
  return (await dispatches.claim(requests)).flatMap(({ items }) => items);
}

const claim = (id: string, limit: number) => claimOf(new Map([[id, limit]]));

const outcomeOf = (claimed: ClaimedEvent, values: Partial<DeliveryOutcome>) => ({
  attemptId: claimed.attemptId,
  eventId: claimed.eventId,
  organizationId: claimed.organizationId,
  endpointId: claimed.endpointId,
  revision: claimed.revision,
  eventType: claimed.eventType,
  attempt: claimed.attempt,
  kind: 'failed' as const,
  counted: true,
  httpStatus: null,
  error: null,
  durationMs: 5,
  delayMs: 5_000,
  pauseMs: null,
  claimedAt: performance.now(),
  ...values,
});

const rowsReadIn = (work: () => Promise<unknown>) => rowsRead(database, 'webhook_queue', work);

describe('claim', () => {
  it.each(['new', 'known to the planner'])(
    'and the search for due endpoints read a few rows of a backlog of any size that is %s',
    async (age) => {
      await database.execute('truncate webhook_event, webhook_queue');
      const big = await endpoint({ events: BACKLOG });
      const small = await endpoint({ events: 1 });
      if (age !== 'new') await database.execute('analyze webhook_queue, webhook_event, webhook_endpoint');
      expect(await rowsReadIn(() => claim(big.id, 10))).toBeLessThan(100);
      expect(await rowsReadIn(() => claim(small.id, 10))).toBeLessThan(100);
      const later = await endpoint();
      await database.execute(
        `insert into webhook_queue (event_id, organization_id, endpoint_id, due_at)
         select uuid_v7(), $1, $2, clock_timestamp() + interval '1 hour' from generate_series(1, $3::integer)`,
        [later.organizationId, later.id, BACKLOG],
      );
      expect(await rowsReadIn(() => claim(later.id, 10))).toBeLessThan(100);
      const due = async () => {
        const { lanes } = await dispatches.dueEndpoints(1_000, null);
        expect(lanes).toContain(webhookLaneOf(big.id));
      };
      expect(await rowsReadIn(due)).toBeLessThan(200);
      expect(await rowsReadIn(() => new WebhookMaintenanceRepository(database).dropHeld(1_000))).toBeLessThan(1_000);
    },
  );
});

describe('beside a transaction that stays open, behind 100,000 delivered events', () => {
  let foreign: pg.Client;

  beforeAll(async () => {
    await database.execute('truncate webhook_event, webhook_queue');
    foreign = new pg.Client({ connectionString: open.url });
    await foreign.connect();
    await foreign.query('begin isolation level repeatable read');
    await foreign.query('select count(*) from webhook_queue');
  });
  afterAll(() => foreign.end());

  /** Leaves as many removed rows as events leave that were delivered minutes ago. */
  async function deliver({ id, organizationId }: { id: string; organizationId: string }, count: number): Promise<void> {
    await database.execute(
      `insert into webhook_queue (event_id, organization_id, endpoint_id, due_at)
       select uuid_v7(), $1, $2, clock_timestamp() - interval '3 minutes' from generate_series(1, $3::integer)`,
      [organizationId, id, count],
    );
    await database.execute(
      `update webhook_queue set attempt_count = 1, attempt_id = gen_random_uuid(),
         due_at = clock_timestamp() - interval '2 minutes' where endpoint_id = $1`,
      [id],
    );
    await database.execute('delete from webhook_queue where endpoint_id = $1', [id]);
    await new LaneRepository(database).ensure(webhookLaneOf(id));
    await database.execute(
      `update lane set low_at = clock_timestamp() - interval '100 seconds', next_slot_at = clock_timestamp() where key = $1`,
      [webhookLaneOf(id)],
    );
  }

  it.each([
    ['', 'analyze webhook_queue'],
    [', vacuumed since,', 'vacuum webhook_queue'],
  ])('a claim%s, an outcome and the search for due endpoints read a few rows', async (_when, statement) => {
    const target = await endpoint();
    await deliver(target, 100_000);
    await database.execute(statement);
    await write(target.organizationId, 30);
    // Once a minute all are looked at.
    await dispatches.dueEndpoints.moveMarks();
    const [first] = await claim(target.id, 2);
    const outcomes = JSON.stringify([outcomeOf(first as ClaimedEvent, {})]);
    const read = [
      await rowsReadIn(() => claim(target.id, 5)),
      await rowsReadIn(() => database.byIndex(() => database.query(RECORD_DELIVERY, [outcomes]))),
      await rowsReadIn(() => dispatches.dueEndpoints(1_000, null)),
      await rowsReadIn(() => dispatches.dueEndpoints.moveMarks()),
    ];
    expect(read.map((rows) => (rows < 1_000 ? 'few' : rows))).toEqual(['few', 'few', 'few', 'few']);
  });
});
