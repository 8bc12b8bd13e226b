import { factsOf, cancelMessage, retryMessage } from '../../../../test/support/facts.js';
import pg from 'pg';
import { seedScheduled } from '../../../../test/support/rig/seed-messages.js';
import { testPhone } from '../../../../test/support/factories.js';
import { beginTransaction } from '../../../../test/support/open-transaction.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import {
  opened,
  factories,
  schedule,
  sweeps,
  connection,
  newConnection,
  due,
  queued,
  claim,
  findDue,
  placesOf,
} from '../../../../test/support/fixtures/schedule.js';
import { newId } from '../../../common/ids.js';
import { MessagesMaintenanceRepository } from '../maintenance/messages-maintenance.repository.js';
import { MessagesRepository } from '../messages.repository.js';
import { TagsRepository } from '../../tags/tags.repository.js';
import { RELEASE_BATCH, scheduleLaneOf } from './schedule.repository.js';

describe('the release', () => {
  it('finds a batch of one number, the longest due first, and none of another number', async () => {
    await seedScheduled(opened.database, connection, { count: 2 * RELEASE_BATCH });
    await opened.database.execute(
      `update message_queue set held_until = clock_timestamp() - interval '1 hour', scheduled_for = clock_timestamp() - interval '1 hour'
       where connection_id = $1`,
      [connection.id],
    );
    const first = await due(connection, { secondsAgo: 7_200 });
    const other = await newConnection();
    const single = await due(other);
    const found = await findDue();
    expect([found[0], found.length]).toEqual([first, RELEASE_BATCH]);
    expect(await findDue(other)).toEqual([single]);
    await opened.database.execute('delete from message_queue where held_until is not null');
  });

  it('finds every number with due messages, page by page', async () => {
    await opened.database.execute('delete from message_queue where held_until is not null');
    const ids: string[] = [];
    for (let n = 0; n < 9; n++) {
      const of = await newConnection();
      await due(of);
      ids.push(scheduleLaneOf(of.id));
    }
    const found: string[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const page = await schedule.dueLanes(4, after ?? null);
      found.push(...page.lanes);
      after = page.next;
    }
    expect(found.sort()).toEqual(ids.sort());
    await opened.database.execute('delete from message_queue where held_until is not null');
  });

  it('gives a message its place behind what waits for its recipient, by its time', async () => {
    const recipient = testPhone();
    const [late, early] = [
      await due(connection, { recipient, secondsAgo: 1 }),
      await due(connection, { recipient, secondsAgo: 9 }),
    ];
    const before = (await factories.message({ connection, recipient })).id;
    await schedule.release([queued(late), queued(early)]);
    const rows = await opened.database.query<{ id: string }>(
      'select message_id as id from message_queue where connection_id = $1 order by seq',
      [connection.id],
    );
    expect(rows.map(({ id }) => id)).toEqual([before, early, late]);
  });

  it('expires by the time for which it was scheduled', async () => {
    const id = await due(connection, { secondsAgo: 3_600 });
    await schedule.release([queued(id)]);
    const [row] = await opened.database.query<{ hours: number }>(
      `select extract(epoch from expires_at - clock_timestamp())::float8 / 3600 as hours from message_queue
       where message_id = $1`,
      [id],
    );
    expect(row?.hours).toBeCloseTo(23, 1);
  });

  it('that comes late leaves what was held with its tag meanwhile', async () => {
    const id = await due(connection, { tag: 'sale' });
    const refusal = { category: 'template_unavailable', code: 'TEMPLATE_NOT_APPROVED', message: 'paused' } as const;
    await schedule.release([{ ...queued(id), refusal }]);
    await retryMessage(opened.database, connection.organizationId, id, ['failed']);
    const tags = new TagsRepository(opened.database, factsOf(opened.database));
    const sale = { organizationId: connection.organizationId, tag: 'sale' };
    await tags.act(sale, 'pause', null);
    await tags.hold(sale);
    expect(await schedule.release([queued(id)])).toEqual([]);
    expect(await placesOf(id)).toEqual(['held']);
    await tags.act(sale, 'resume', null);
    await tags.resume(sale);
    const rows = await opened.database.query('select event_count from message_state where message_id = $1', [id]);
    expect(rows).toEqual([{ event_count: 1 }]);
  });

  it('passes over what is deferred, until its time', async () => {
    const id = await due();
    await schedule.postpone([id], 60);
    expect(await findDue()).toEqual([]);
    await opened.database.execute('update message_queue set held_until = clock_timestamp() where message_id = $1', [
      id,
    ]);
    expect(await findDue()).toEqual([id]);
    await schedule.release([queued(id)]);
  });
});

describe('a cancel beside a claim and a release', () => {
  it('while a claim holds the row: the cancel waits, and finds it claimed', async () => {
    const { id } = await factories.message({ connection, recipient: testPhone() });
    const holder = new pg.Client({ connectionString: opened.url });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query(
        `update message_queue set attempt_id = gen_random_uuid(), claimed_at = clock_timestamp(),
           lease_until = clock_timestamp() + interval '1 hour', due_at = null where message_id = $1`,
        [id],
      );
      const canceling = cancelMessage(opened.database, connection.organizationId, id);
      await waitFor(
        async () => {
          const waiting = await holder.query(
            `select 1 from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`,
          );
          return waiting.rowCount === 1;
        },
        { what: 'the cancel to wait for the row' },
      );
      await holder.query('commit');
      expect(await canceling).toBe(false);
    } finally {
      await holder.end();
    }
    expect(await placesOf(id)).toEqual(['wire']);
  });

  it('names the workspace', async () => {
    const { id } = await factories.message({ connection, recipient: testPhone() });
    expect(await cancelMessage(opened.database, newId(), id)).toBe(false);
    expect(await placesOf(id)).toEqual(['queue']);
  });
});

describe('scheduled messages elsewhere', () => {
  const LATER = "clock_timestamp() + interval '20 days'";

  it('keep their contents, however old', async () => {
    const id = await due();
    await opened.database.execute(`update message_queue set held_until = ${LATER} where message_id = $1`, [id]);
    const maintenance = new MessagesMaintenanceRepository(opened.database, factsOf(opened.database));
    await maintenance.remove('contents', new Date(Date.now() + 86_400_000), 100_000);
    const kept = await opened.database.query('select 1 from message_content where message_id = $1', [id]);
    expect(kept).toHaveLength(1);
  });

  it('are withdrawn with their contact, and counted before', async () => {
    const recipient = testPhone();
    const id = await due(connection, { recipient });
    const maintenance = new MessagesMaintenanceRepository(opened.database, factsOf(opened.database));
    const subject = {
      organizationId: connection.organizationId,
      numbers: [recipient],
      userIds: [],
      conversationIds: [],
    };
    expect(await maintenance.countLane(subject)).toEqual({ waiting: 1, sending: 0 });
    expect((await maintenance.page(subject, null)).ids).not.toContain(id);
    expect(await maintenance.withdraw(subject)).toBe(1);
    expect(await placesOf(id)).toEqual(['failed unknown']);
    expect(await opened.database.query('select 1 from message_content where message_id = $1', [id])).toEqual([]);
  });

  it('of a restored backup are in doubt where they were due by then, and stay where they were not', async () => {
    const [past, future] = [await due(connection, { secondsAgo: 60 }), await due(connection, { secondsAgo: -3_600 })];
    const maintenance = new MessagesMaintenanceRepository(opened.database, factsOf(opened.database));
    const before = new Date();
    const counted = await maintenance.countUncertain(before);
    const marked = await opened.database.transaction(() => maintenance.markUncertain(before));
    expect(marked).toBe(counted);
    expect(await placesOf(past)).toEqual(['outcome_unknown ']);
    expect(await placesOf(future)).toEqual(['held']);
  });

  it('are not released while claims are blocked, and only those not due yet can be canceled', async () => {
    const [isDue, future] = [await due(connection, { secondsAgo: 60 }), await due(connection, { secondsAgo: -3_600 })];
    const { id: waiting } = await factories.message({ connection, recipient: testPhone() });
    await opened.database.execute(`update database_identity set identity = 'another/1/1'`);
    try {
      expect(await findDue()).toEqual([]);
      const cancel = (id: string) => cancelMessage(opened.database, connection.organizationId, id);
      expect([await cancel(isDue), await cancel(waiting), await cancel(future)]).toEqual([false, false, true]);
    } finally {
      await opened.database.execute('update database_identity set identity = identity_of_database()');
    }
    await cancelMessage(opened.database, connection.organizationId, isDue);
  });

  it('are neither released nor refused where the batch was found before claims were blocked', async () => {
    const [goes, refused] = [await due(), await due()];
    const refusal = { category: 'opted_out', code: 'RECIPIENT_OPTED_OUT', message: 'no' } as const;
    const decisions = [queued(goes), { messageId: refused, refusal, body: null }];
    await opened.database.execute(`update database_identity set identity = 'another/1/1'`);
    try {
      expect(await schedule.release(decisions)).toEqual([]);
      expect([await placesOf(goes), await placesOf(refused)]).toEqual([['held'], ['held']]);
    } finally {
      await opened.database.execute('update database_identity set identity = identity_of_database()');
    }
    expect(await schedule.release(decisions)).toHaveLength(2);
  });

  it.each(['message_queue', 'message_state'])('wait for no lock on the %s of another one', async (table) => {
    const [locked, free] = [await due(), await due()];
    const refusal = { category: 'opted_out', code: 'RECIPIENT_OPTED_OUT', message: 'no' } as const;
    const other = await beginTransaction(opened.url);
    try {
      await other.query(`select from ${table} where message_id = $1 for update`, [locked]);
      const decision = table === 'message_queue' ? queued(locked) : { messageId: locked, refusal, body: null };
      expect(await schedule.release([decision, queued(free)])).toMatchObject([{ isQueued: true }]);
      if (table === 'message_queue') await schedule.postpone([locked], 60);
      expect([await placesOf(locked), await placesOf(free)]).toEqual([['held'], ['queue']]);
    } finally {
      await other.end();
    }
    expect(await findDue()).toEqual([locked]);
  });

  it('that were changed since they were looked for leave no later one to their recipient without a turn', async () => {
    const recipient = testPhone();
    const [first, second] = [
      await due(connection, { recipient, secondsAgo: 60 }),
      await due(connection, { recipient, secondsAgo: 30 }),
    ];
    const other = await beginTransaction(opened.url);
    try {
      // As another process, which had the lane before, writes the first one again.
      await other.query('update message_queue set held_until = held_until where message_id = $1', [first]);
      await schedule.release([queued(first), queued(second)]);
      await other.query('commit');
    } finally {
      await other.end();
    }
    expect(await sweeps.repairTurns(new AbortController().signal)).toBe(0);
    expect(await claim()).toMatchObject([{ id: second }]);
  });

  it('are counted apart, for the workspace, its numbers and the gauges', async () => {
    await seedScheduled(opened.database, connection, { count: 30 });
    const messages = new MessagesRepository(opened.database, factsOf(opened.database));
    const { organizationId } = connection;
    expect([
      await messages.countScheduled(organizationId, 20),
      await messages.countScheduled(organizationId, 100),
    ]).toEqual([20, 30]);
    expect(await messages.countQueued(organizationId, 100)).toBe(0);
    const maintenance = new MessagesMaintenanceRepository(opened.database, factsOf(opened.database));
    const lane = (await maintenance.lanes()).find(({ connectionId }) => connectionId === connection.id);
    expect(lane).toMatchObject({ queued: 0, due: 0, inFlight: 0, scheduled: 30, oldestDueAt: null });
    expect(await maintenance.scheduled()).toBeGreaterThanOrEqual(30);
  });
});
