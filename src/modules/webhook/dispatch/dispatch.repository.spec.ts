import { claimRequest } from '../../../../test/support/claim-request.js';
import { newId } from '../../../common/ids.js';
import { Database } from '../../../platform/database/database.js';
import { LaneRepository } from '../../../platform/lanes/lane.repository.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { laneKeyOf } from '../webhook-lane-key.js';
import { insertWebhookEvents } from '../webhook.types.js';
import { DispatchRepository } from './dispatch.repository.js';
import { OutcomesRepository, type DeliveryOutcome } from './outcomes.repository.js';

const BACKLOG = 20_000;
const owner = newId();

let open: OpenTestDatabase;
let database: Database;
let dispatches: DispatchRepository;
let outcomes: OutcomesRepository;

beforeAll(async () => {
  open = await openTestDatabase();
  ({ database } = open);
  dispatches = new DispatchRepository(database);
  outcomes = new OutcomesRepository(database);
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
  return { id, organizationId, key: laneKeyOf(id) };
}

async function write(organizationId: string, count: number, type = 'message.received'): Promise<number> {
  const source = `(select $1::uuid as organization_id, $2 as event_type, jsonb_build_object('n', n, 'big', 12345678901234567890) as event_data,
    clock_timestamp() as occurred_at from generate_series(1, $3::integer) n)`;
  return database.execute(insertWebhookEvents(source), [organizationId, type, count]);
}

async function claim(key: string, limit: number) {
  const request = claimRequest(key, owner, limit);
  await new LaneRepository(database).hold(request);
  return dispatches.claim(request);
}

const rowsReadIn = (work: () => Promise<unknown>) => rowsRead(database, 'webhook_event', work);

describe('insertWebhookEvents', () => {
  it('writes chosen kinds for workspaces with an endpoint, under ids in the order of time', async () => {
    const { organizationId, key } = await endpoint();
    expect(await write(organizationId, 3, 'message.status.updated')).toBe(0);
    expect(await write(newId(), 3)).toBe(0);
    expect(await write(organizationId, 1)).toBe(1);
    const before = Date.now();
    expect(await write(organizationId, 1)).toBe(1);
    const after = Date.now();
    const claimed = await claim(key, 10);
    const ids = claimed.map(({ id }) => id).sort((a, b) => (a < b ? -1 : 1));
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const madeAt = Number.parseInt((ids[1] ?? '').replace('-', '').slice(0, 12), 16);
    expect(madeAt).toBeGreaterThanOrEqual(before - 1_000);
    expect(madeAt).toBeLessThanOrEqual(after + 1_000);
    // Numbers that JavaScript cannot hold go out as they were written.
    expect(claimed[0]?.data).toContain('12345678901234567890');
  });
});

describe('claim', () => {
  it('gives each event to one of many claims at once, and none twice', async () => {
    const { key } = await endpoint({ events: 6 });
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(key, 10)));
    const ids = claims.flat().map(({ id }) => id);
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
  });

  it('gives no more while ten are in flight, whoever claimed them, and goes on once their leases have run out', async () => {
    const { id, key } = await endpoint({ events: 30 });
    expect(await claim(key, 7)).toHaveLength(7);
    expect(await claim(key, 10)).toHaveLength(3);
    expect(await claim(key, 10)).toHaveLength(0);
    await database.execute(
      `update webhook_event set next_attempt_at = clock_timestamp() - interval '1 hour'
       where endpoint_id = $1 and current_attempt_id is not null`,
      [id],
    );
    const again = await claim(key, 10);
    expect(again.map(({ attemptNumber }) => attemptNumber)).toEqual(Array.from({ length: 10 }, () => 2));
  });

  it('gives nothing where the lane is not held or rests, or the endpoint does not want any', async () => {
    const held = await endpoint({ events: 1 });
    expect(await dispatches.claim(claimRequest(held.key, owner, 1))).toEqual([]);
    await new LaneRepository(database).pause(held.key, 'test', 60_000);
    expect(await claim(held.key, 1)).toEqual([]);
    const paused = await endpoint({ events: 1, active: false });
    expect(await claim(paused.key, 1)).toEqual([]);
    const due = (await dispatches.dueLanes(1_000, null)).lanes.map(({ key }) => key);
    expect(due).not.toContain(held.key);
    expect(due).not.toContain(paused.key);
  });

  it.each(['new', 'known to the planner'])(
    'and the search for due lanes read a few rows of a backlog of any size that is %s',
    async (age) => {
      await database.execute('truncate webhook_event');
      const big = await endpoint({ events: BACKLOG });
      const small = await endpoint({ events: 1 });
      if (age !== 'new') await database.execute('analyze webhook_event, webhook_endpoint, lane');
      expect(await rowsReadIn(() => claim(big.key, 10))).toBeLessThan(100);
      expect(await rowsReadIn(() => claim(small.key, 10))).toBeLessThan(100);
      const later = await endpoint();
      await database.execute(
        `insert into webhook_event (organization_id, endpoint_id, type, data, occurred_at, next_attempt_at)
         select $1, $2, 'message.received', '{}', clock_timestamp(), clock_timestamp() + interval '1 hour'
         from generate_series(1, $3::integer)`,
        [later.organizationId, later.id, BACKLOG],
      );
      expect(await rowsReadIn(() => claim(later.key, 10))).toBeLessThan(100);
      const due = async () => {
        const keys = (await dispatches.dueLanes(1_000, null)).lanes.map(({ key }) => key);
        expect(keys).toEqual(expect.arrayContaining([big.key]));
      };
      expect(await rowsReadIn(due)).toBeLessThan(200);
      expect(await rowsReadIn(() => dispatches.dropHeld(1_000))).toBeLessThan(1_000);
    },
  );
});

describe('an outcome', () => {
  const outcomeOf = (claimed: Awaited<ReturnType<typeof claim>>[number], values: Partial<DeliveryOutcome>) => ({
    attemptId: claimed.attemptId,
    eventId: claimed.id,
    organizationId: claimed.organizationId,
    endpointId: claimed.endpointId,
    revision: claimed.revision,
    eventType: claimed.type,
    attempt: claimed.attemptNumber,
    kind: 'failed' as const,
    counted: true,
    httpStatus: null,
    error: null,
    durationMs: 5,
    delayMs: 5_000,
    ...values,
  });
  const stateOf = async (id: string) => {
    const [row] = await database.query<{ status: string; tries: number; attempt_count: number }>(
      'select status, tries, attempt_count from webhook_event where id = $1',
      [id],
    );
    return row;
  };
  const log = (id: string) =>
    database.query('select attempt, status, error from webhook_delivery where event_id = $1 order by attempt', [id]);

  async function reclaimed() {
    const { key } = await endpoint({ events: 1 });
    const [first] = await claim(key, 1);
    if (first === undefined) throw new Error('nothing was claimed');
    await database.execute('update webhook_event set next_attempt_at = clock_timestamp() where id = $1', [first.id]);
    return { key, first };
  }

  it('that comes after its lease, before the next attempt, still counts', async () => {
    const { first } = await reclaimed();
    await outcomes.record(outcomeOf(first, { kind: 'succeeded', httpStatus: 200, delayMs: null }));
    expect(await stateOf(first.id)).toEqual({ status: 'delivered', tries: 0, attempt_count: 1 });
  });

  it('of an attempt that was overtaken is logged, and moves nothing', async () => {
    const { key, first } = await reclaimed();
    const [second] = await claim(key, 1);
    expect(second).toMatchObject({ id: first.id, attemptNumber: 2 });
    expect(await log(first.id)).toEqual([{ attempt: 1, status: 'failed', error: 'interrupted' }]);
    await outcomes.record(outcomeOf(first, { httpStatus: 500, error: 'http_500' }));
    expect(await stateOf(first.id)).toEqual({ status: 'pending', tries: 0, attempt_count: 2 });
    expect(await log(first.id)).toEqual([{ attempt: 1, status: 'failed', error: 'http_500' }]);
  });

  it('recorded twice counts once', async () => {
    const { first } = await reclaimed();
    const outcome = outcomeOf(first, { httpStatus: 500, error: 'http_500' });
    await Promise.all([outcomes.record(outcome), outcomes.record(outcome)]);
    await outcomes.record(outcome);
    expect(await stateOf(first.id)).toEqual({ status: 'pending', tries: 1, attempt_count: 1 });
    expect(await log(first.id)).toHaveLength(1);
  });

  it('that was given up for a reason of our own leaves no trace', async () => {
    const { first } = await reclaimed();
    await outcomes.record(outcomeOf(first, { kind: 'released', counted: false, delayMs: 0 }));
    expect(await stateOf(first.id)).toEqual({ status: 'pending', tries: 0, attempt_count: 0 });
    expect(await log(first.id)).toEqual([]);
  });

  it('under earlier settings says nothing of the endpoint as it is now', async () => {
    const { first } = await reclaimed();
    await database.execute('update webhook_endpoint set revision = revision + 1 where id = $1', [first.endpointId]);
    expect(await outcomes.record(outcomeOf(first, { httpStatus: 410 }))).toEqual({ disabled: null });
    await database.execute('update webhook_endpoint set revision = revision - 1 where id = $1', [first.endpointId]);
    expect(await outcomes.record(outcomeOf(first, { httpStatus: 410 }))).toEqual({ disabled: 'gone' });
  });
});
