import pg from 'pg';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import {
  open,
  database,
  dispatches,
  endpoint,
  write,
  claim,
  outcomeOf,
} from '../../../../test/support/fixtures/webhook-dispatch.js';
import { WebhookMaintenanceRepository } from '../webhook-maintenance.repository.js';
import { RECORD_DELIVERY, webhookLaneOf, type ClaimedEvent } from './dispatch.repository.js';

const BACKLOG = 20_000;

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
