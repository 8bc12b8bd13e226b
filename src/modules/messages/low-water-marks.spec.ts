import pg from 'pg';
import { claimRequest } from '../../../test/support/claim-request.js';
import { Factories, type ConnectionRow } from '../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { newId } from '../../common/ids.js';
import type { Prepared } from '../../platform/database/prepared.js';
import { holdParams } from '../../platform/lanes/lane-hold.js';
import { LaneRepository } from '../../platform/lanes/lane.repository.js';
import { CLAIM } from './claim-sql.js';
import { LowWaterMarks } from './low-water-marks.repository.js';
import { RECORD } from './outcome.repository.js';
import { LOCK } from './status-report-sql.js';
import { DUE, SendRepository } from './send.repository.js';

const OWNER = newId();
const LIMITS = { ttlHours: 24, leaseMs: 3_600_000 };

let opened: OpenTestDatabase;
let factories: Factories;
let marks: LowWaterMarks;
let sends: SendRepository;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  factories = new Factories(opened.database);
  marks = new LowWaterMarks(opened.database);
  sends = new SendRepository(opened.database);
});
afterAll(() => opened.close());

beforeEach(async () => {
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  await new LaneRepository(opened.database).ensure(connection.id);
});

const claim = (limit = 64) => sends.claim(connection.id, claimRequest(connection.id, OWNER, limit), LIMITS);

describe('beside a transaction that stays open, behind 100,000 messages that were sent', () => {
  let foreign: pg.Client;

  beforeEach(async () => {
    foreign = new pg.Client({ connectionString: opened.url });
    await foreign.connect();
    await foreign.query('begin isolation level repeatable read');
    await foreign.query('select count(*) from message');
    await claim();
    await send(100_000);
    await marks.move();
    await opened.database.execute(`update lane set seen_at = seen_at - interval '20 seconds' where key = $1`, [connection.id]);
    await opened.database.execute(`update lane set low_at = low_at - interval '10 seconds' where key = $1`, [connection.id]);
    await marks.move();
  });
  afterEach(() => foreign.end());

  /** Leaves as many dead rows as messages leave that are accepted, claimed and sent. */
  async function send(count: number): Promise<void> {
    await opened.database.execute(
      `insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at)
       select $1, now() - make_interval(secs => 60 - 30.0 * n / $2), gen_random_uuid(), $1, '4' || (n % 20000), now() from generate_series(1, $2::integer) n`,
      [connection.id, count],
    );
    await opened.database.execute(
      `update message_queue set attempt_id = gen_random_uuid(), claimed_at = now(), lease_until = now() + interval '20 seconds'`,
    );
    await opened.database.execute('delete from message_queue');
    await opened.database.execute('analyze message_queue');
  }

  async function show(name: string, statement: string | Prepared, params: unknown[]) {
    const text = typeof statement === 'string' ? statement : statement.text;
    const rows = await opened.database.query<any>('explain (analyze, buffers, costs off) ' + text, params);
    console.log(name + '\n' + rows.map((r) => r['QUERY PLAN']).join('\n'));
  }

  it('x', async () => {
    console.log(await opened.database.query('select * from lane where key = $1', [connection.id]));
    for (let n = 0; n < 3; n++) await factories.message({ connection, recipient: `15550${n}` });
    const request = claimRequest(connection.id, OWNER, 64);
    const p = [...holdParams(request), connection.id, '', Array.from({ length: 64 }, () => newId()), 20, 24, 1000, 128];
    await show('due', DUE, [2000, '00000000-0000-0000-0000-000000000000']);
    await opened.database.transaction(async () => {
    await show('claim', CLAIM, p);
    throw new Error('x');
    }).catch(() => 0);
    for (let n = 0; n < 200; n++) await factories.message({ connection, recipient: `5${n}` });
    await show('claim 200', CLAIM, p);
    const rs = JSON.stringify([{ attemptId: newId(), messageId: (await factories.message({ connection, status: 'processing' })).id, status: 'accepted', attemptStatus: 'accepted' }]);
    await show('record', RECORD, [rs]);
    await show('view', 'select * from message_view v where v.connection_id = $1 order by created_at desc limit 50', [connection.id]);
    await show('lock', LOCK, [[newId(), newId()]]);
  }, 60_000);
});
