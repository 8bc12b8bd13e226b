import pg from 'pg';
import { newId } from '../../../common/ids.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import type { DuePage } from '../../../infrastructure/queue/due-lanes.js';
import { claimRequest } from '../../../../test/support/claim-request.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import {
  open,
  database,
  dispatches,
  endpoint,
  write,
  OWNER,
  claimOf,
  claim,
  outcomeOf,
} from '../../../../test/support/fixtures/webhook-dispatch.js';
import { queueAgain } from '../deliveries.repository.js';
import { WebhookMaintenanceRepository } from '../webhook-maintenance.repository.js';
import { DispatchRepository, endpointOfLane, webhookLaneOf } from './dispatch.repository.js';

describe('insertWebhookEvents', () => {
  it('writes chosen kinds for workspaces with an endpoint, under ids in the order of time', async () => {
    const { id, organizationId } = await endpoint();
    // Not chosen: for GET /events alone.
    expect(await write(organizationId, 3, 'message.status.updated')).toBe(3);
    expect(await write(newId(), 3)).toBe(0);
    expect(await write(organizationId, 1)).toBe(1);
    const before = Date.now();
    expect(await write(organizationId, 1)).toBe(1);
    const after = Date.now();
    const claimed = await claim(id, 10);
    const ids = claimed.map(({ eventId }) => eventId).sort((a, b) => (a < b ? -1 : 1));
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const madeAt = Number.parseInt((ids[1] ?? '').replace('-', '').slice(0, 12), 16);
    expect(madeAt).toBeGreaterThanOrEqual(before - 1_000);
    expect(madeAt).toBeLessThanOrEqual(after + 1_000);
    // Numbers that JavaScript cannot hold go out as they were written.
    expect(claimed[0]?.data).toContain('12345678901234567890');
  });

  it('writes those of the chosen numbers, and those about no number', async () => {
    const { id, organizationId } = await endpoint();
    const [chosen, other] = [newId(), newId()];
    const delivered = async (connectionIds: string[] | null): Promise<number> => {
      await write(organizationId, 1, 'message.received', connectionIds);
      return (await claim(id, 10)).length;
    };
    expect(await delivered([other])).toBe(1);
    await database.execute('update webhook_endpoint set connection_ids = $2 where id = $1', [id, [chosen]]);
    const counts = [];
    for (const numbers of [[other], [chosen], [other, chosen], null]) counts.push(await delivered(numbers));
    expect(counts).toEqual([0, 1, 1, 1]);
  });
});

describe('claim', () => {
  it('gives each event to one of many claims at once, and none twice', async () => {
    const { id } = await endpoint({ events: 6 });
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(id, 10)));
    const ids = claims.flat().map(({ eventId }) => eventId);
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
  });

  it('gives an event again once its lease has run out', async () => {
    const { id } = await endpoint({ events: 3 });
    expect(await claim(id, 7)).toHaveLength(3);
    expect(await claim(id, 7)).toHaveLength(0);
    await database.execute(
      `update webhook_queue set due_at = clock_timestamp() - interval '1 second' where endpoint_id = $1`,
      [id],
    );
    expect((await claim(id, 7)).map(({ attempt }) => attempt)).toEqual([2, 2, 2]);
  });

  it('takes from many endpoints at once as much as is wanted of each, and brings each its own address and secrets', async () => {
    const many = await Promise.all(Array.from({ length: 8 }, () => endpoint({ events: 5 })));
    await database.execute(
      `update webhook_endpoint set url = 'https://hooks.example.com/' || id where id = any($1::uuid[])`,
      [many.map(({ id }) => id)],
    );
    const claimed = await claimOf(new Map(many.map(({ id }, n) => [id, n % 4])));
    expect(new Set(claimed.map(({ attemptId }) => attemptId)).size).toBe(claimed.length);
    for (const [n, { id, organizationId }] of many.entries()) {
      const own = claimed.filter(({ endpointId }) => endpointId === id);
      expect(own).toHaveLength(n % 4);
      for (const event of own) {
        expect(event).toMatchObject({ organizationId, url: `https://hooks.example.com/${id}`, attempt: 1 });
        expect(event.secrets).toHaveLength(1);
      }
    }
  });

  it('gives each endpoint to one process at a time', async () => {
    const many = await Promise.all(Array.from({ length: 8 }, () => endpoint({ events: 12 })));
    const wanted = new Map(many.map(({ id }) => [id, 3]));
    const claims = await Promise.all(Array.from({ length: 6 }, () => claimOf(wanted, newId())));
    for (const { id } of many) {
      const owners = claims.filter((claimed) => claimed.some(({ endpointId }) => endpointId === id));
      expect(owners).toHaveLength(1);
    }
    expect(claims.flat()).toHaveLength(24);
  });

  it('gives nothing where the endpoint rests or does not want any, and the search for due endpoints passes over one that wants none', async () => {
    const takes = await endpoint({ events: 1 });
    const rests = await endpoint({ events: 1 });
    await new LaneRepository(database).pause(webhookLaneOf(rests.id), 'hangs', { leastMs: 60_000 });
    const paused = await endpoint({ events: 1, active: false });
    const later = await endpoint({ events: 1 });
    await database.execute(
      `update webhook_queue set due_at = clock_timestamp() + interval '1 hour' where endpoint_id = $1`,
      [later.id],
    );
    for (const { id } of [rests, paused, later]) expect(await claim(id, 1)).toEqual([]);
    const due: string[] = [];
    for (let after: string | null = null, more = true; more; more = after !== null) {
      const page: DuePage = await dispatches.dueEndpoints(2, after);
      due.push(...page.lanes.map(endpointOfLane));
      after = page.next;
    }
    expect(due).toContain(takes.id);
    for (const { id } of [paused, later]) expect(due).not.toContain(id);
  });
});

describe('of a process that was killed during a delivery', () => {
  const maintenance = () => new WebhookMaintenanceRepository(database);
  const left = async (endpointId: string): Promise<number> =>
    (await database.query('select from webhook_queue where endpoint_id = $1', [endpointId])).length;

  /** Events with an attempt whose lease ended `ago`; a time to come: they are being delivered. */
  async function interrupted(count: number, ago: string) {
    const made = await endpoint({ events: count });
    expect(await claim(made.id, count)).toHaveLength(count);
    await database.execute(
      `update webhook_queue set due_at = clock_timestamp() - $2::interval where endpoint_id = $1`,
      [made.id, ago],
    );
    return made;
  }
  const pause = (id: string) =>
    database.execute(
      `update webhook_endpoint set active = false, inactive_since = clock_timestamp() - interval '4 days' where id = $1`,
      [id],
    );

  it('events wait for a paused endpoint three days, too', async () => {
    const [{ id }, young] = [await interrupted(3, '4 days'), await interrupted(1, '2 days')];
    for (const each of [id, young.id]) await pause(each);
    await maintenance().dropHeld(10);
    expect([await left(id), await left(young.id)]).toEqual([0, 1]);
  });

  it('events are dropped with their time and beyond the bound, whatever their number, and not while they are delivered', async () => {
    await database.execute('truncate webhook_event, webhook_queue');
    const delivering = await interrupted(3, '-10 seconds');
    const { id } = await interrupted(5, '1 minute');
    const all = `ffffffff-ffff-ffff-ffff-ffffffffffff`;
    expect(await maintenance().dropOld(all, 2)).toBe(2);
    await pause(id);
    await database.execute(`update webhook_endpoint set inactive_since = now() where id = $1`, [id]);
    expect(await maintenance().dropExcess(1, 10)).toBe(2);
    expect(await maintenance().dropOld(all, 2)).toBe(1);
    expect(await maintenance().dropOld(all, 2)).toBe(0);
    expect([await left(id), await left(delivering.id)]).toEqual([0, 3]);
  });

  it('events that were removed meanwhile wait no more', async () => {
    const { id } = await interrupted(2, '1 minute');
    const [kept] = await database.query<{ event_id: string }>(
      'select event_id from webhook_queue where endpoint_id = $1 order by event_id limit 1',
      [id],
    );
    await database.execute('delete from webhook_event where endpoint_id = $1 and id <> $2', [id, kept?.event_id]);
    expect((await claim(id, 10)).map(({ eventId }) => eventId)).toEqual([kept?.event_id]);
    expect(await left(id)).toBe(1);
  });

  it('an event is queued again from its first try', async () => {
    const { id, organizationId } = await interrupted(1, '1 minute');
    await database.execute('update webhook_queue set tries = 5 where endpoint_id = $1', [id]);
    await database.execute(queueAgain('(select * from webhook_event where organization_id = $1)'), [organizationId]);
    expect(await claim(id, 1)).toMatchObject([{ tries: 0, attempt: 2 }]);
  });
});

it('a claim with little time gives up sooner than others where the table is locked', async () => {
  const [first, second] = [await endpoint({ events: 2 }), await endpoint({ events: 1 })];
  for (const { id } of [first, second]) await new LaneRepository(database).ensure(webhookLaneOf(id));
  const foreign = new pg.Client({ connectionString: open.url });
  await foreign.connect();
  try {
    await foreign.query('begin; lock table webhook_queue in access exclusive mode');
    let isOver = false;
    const patient = dispatches.claim([claimRequest(webhookLaneOf(first.id), OWNER, 2)]).finally(() => (isOver = true));
    const hurried = dispatches.claim([claimRequest(webhookLaneOf(second.id), OWNER, 1)], 50);
    await expect(hurried).rejects.toMatchObject({ code: '57014' });
    expect(isOver).toBe(false);
    await foreign.query('rollback');
    expect((await patient).map(({ items }) => items.length)).toEqual([2]);
  } finally {
    await foreign.end();
  }
});

it('an event whose time is before the mark is found by the next check of the marks', async () => {
  const target = await endpoint({ events: 2 });
  expect(await claim(target.id, 1)).toHaveLength(1);
  await database.execute(`update lane set low_at = clock_timestamp() - interval '20 seconds' where key = $1`, [
    webhookLaneOf(target.id),
  ]);
  await database.execute(
    `update webhook_queue set due_at = clock_timestamp() - interval '1 hour' where endpoint_id = $1 and attempt_id is null`,
    [target.id],
  );
  expect(await claim(target.id, 1)).toEqual([]);
  await new DispatchRepository(database).dueEndpoints.moveMarks();
  expect(await claim(target.id, 1)).toHaveLength(1);
});

describe('an outcome', () => {
  const stateOf = async (id: string) => {
    const [row] = await database.query<{ status: string; tries: number; attempt_count: number }>(
      `select status, coalesce(tries, 0) as tries, attempt_count from webhook_event_view where id = $1`,
      [id],
    );
    return row;
  };
  const log = (id: string) =>
    database.query('select attempt, status, error from webhook_delivery where event_id = $1 order by attempt', [id]);

  async function reclaimed() {
    const { id } = await endpoint({ events: 1 });
    const [first] = await claim(id, 1);
    if (first === undefined) throw new Error('nothing was claimed');
    await database.execute(
      `update webhook_queue set due_at = clock_timestamp() - interval '1 millisecond' where event_id = $1`,
      [first.eventId],
    );
    return { id, first };
  }

  it('that comes after its lease, before the next attempt, still counts', async () => {
    const { first } = await reclaimed();
    await dispatches.record(outcomeOf(first, { kind: 'succeeded', httpStatus: 200, delayMs: null }));
    expect(await stateOf(first.eventId)).toMatchObject({ status: 'delivered' });
  });

  it('of an attempt that was overtaken is logged, and moves nothing', async () => {
    const { id, first } = await reclaimed();
    const [second] = await claim(id, 1);
    expect(second).toMatchObject({ eventId: first.eventId, attempt: 2 });
    expect(await log(first.eventId)).toEqual([{ attempt: 1, status: 'failed', error: 'interrupted' }]);
    await dispatches.record(outcomeOf(first, { httpStatus: 500, error: 'http_500' }));
    expect(await stateOf(first.eventId)).toEqual({ status: 'pending', tries: 0, attempt_count: 2 });
    expect(await log(first.eventId)).toEqual([{ attempt: 1, status: 'failed', error: 'http_500' }]);
  });

  it('recorded twice counts once', async () => {
    const { first } = await reclaimed();
    const outcome = outcomeOf(first, { httpStatus: 500, error: 'http_500' });
    await Promise.all([dispatches.record(outcome), dispatches.record(outcome)]);
    await dispatches.record(outcome);
    expect(await stateOf(first.eventId)).toEqual({ status: 'pending', tries: 1, attempt_count: 1 });
    expect(await log(first.eventId)).toHaveLength(1);
  });

  it('that was given up for a reason of our own leaves no trace', async () => {
    const { first } = await reclaimed();
    await dispatches.record(outcomeOf(first, { kind: 'released', counted: false, delayMs: 0 }));
    expect(await stateOf(first.eventId)).toEqual({ status: 'pending', tries: 0, attempt_count: 0 });
    expect(await log(first.eventId)).toEqual([]);
  });

  it('under earlier settings says nothing of the endpoint as it is now', async () => {
    const { first } = await reclaimed();
    await database.execute('update webhook_endpoint set revision = revision + 1 where id = $1', [first.endpointId]);
    expect(await dispatches.record(outcomeOf(first, { httpStatus: 410 }))).toEqual({
      disabled: null,
      isCurrent: false,
    });
    await database.execute('update webhook_endpoint set revision = revision - 1 where id = $1', [first.endpointId]);
    expect(await dispatches.record(outcomeOf(first, { httpStatus: 410 }))).toEqual({
      disabled: 'gone',
      isCurrent: true,
    });
  });

  it('disables an endpoint once, where another process did so meanwhile', async () => {
    const { first } = await reclaimed();
    const other = new pg.Client({ connectionString: open.url });
    await other.connect();
    try {
      await other.query('begin');
      await other.query(`update webhook_endpoint set disabled_reason = 'gone' where id = $1`, [first.endpointId]);
      const recorded = dispatches.record(outcomeOf(first, { httpStatus: 410 }));
      await waitFor(async () => {
        const { rowCount } = await other.query(
          'select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))',
        );
        return rowCount === 1;
      });
      await other.query('commit');
      expect(await recorded).toEqual({ disabled: null, isCurrent: true });
    } finally {
      await other.end();
    }
  });
});
