import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import type { Config } from '../config/config.js';
import { newId } from '../../common/ids.js';
import { Failover, LEAVE_TO_OTHERS_MS } from './failover.js';
import type { LaneOwner } from './lane-owner.js';

let test: OpenTestDatabase;

beforeAll(async () => {
  test = await openTestDatabase();
});
beforeEach(async () => {
  await test.database.execute('update database_identity set identity = identity_of_database()');
  await test.database.execute(`delete from heartbeat where name like 'primary:%'`);
});
afterAll(async () => test?.close());

function failoverOf(afterFailover: 'ask' | 'continue' = 'continue') {
  let now = 0;
  const failover = new Failover(test.database, { id: newId() } as LaneOwner, { database: { afterFailover } } as Config);
  Object.assign(failover, { clock: { monotonic: () => now } });
  return { failover, pass: (ms: number) => (now += ms) };
}

const identity = async () => (await test.database.row<{ here: string }>('select identity_of_database() as here')).here;
const next = async (): Promise<string> => {
  const [cluster, timeline = '', database] = (await identity()).split('/');
  const promoted = (Number.parseInt(timeline, 16) + 1).toString(16).toUpperCase().padStart(8, '0');
  return `${cluster}/${promoted}/${database}`;
};
const beats = () =>
  test.database.query<{ n: number; names: string }>(
    `select (replication ->> 'n')::integer as n, replication ->> 'names' as names from heartbeat where name like 'primary:%'`,
  );

it('writes one row of the primary, and counts', async () => {
  const { failover } = failoverOf();
  await failover.beat();
  await failover.beat();
  expect(await beats()).toEqual([{ n: 2, names: '' }]);
});

it('writes nothing while claims are blocked', async () => {
  await test.database.execute(`update database_identity set identity = '1/00000001/1'`);
  await failoverOf().failover.beat();
  expect(await beats()).toEqual([]);
});

it('removes the rows of workers that ended', async () => {
  const [ended, { failover }] = [failoverOf().failover, failoverOf()];
  await ended.beat();
  await test.database.execute(
    `update heartbeat set beat_at = beat_at - interval '11 minutes' where name like 'primary:%'`,
  );
  await failover.beat();
  expect(await beats()).toHaveLength(1);
});

it('asks unless told to go on', async () => {
  const { failover } = failoverOf('ask');
  expect(failover.continues).toBe(false);
  expect(await failover.verdict(await identity(), await next())).toEqual({ kind: 'ask', reason: null });
});

it('leaves the decision to others where it does not know the database before, and then asks', async () => {
  const { failover, pass } = failoverOf();
  const [confirmed, found] = [await identity(), await next()];
  expect(await failover.verdict(confirmed, found)).toEqual({ kind: 'wait' });
  pass(LEAVE_TO_OTHERS_MS - 1);
  expect(await failover.verdict(confirmed, found)).toEqual({ kind: 'wait' });
  pass(1);
  expect(await failover.verdict(confirmed, found)).toMatchObject({
    kind: 'ask',
    reason: expect.stringContaining('no worker'),
  });
});

it('goes on where the standby was synchronous and all that it knows is there, and asks where some is lost', async () => {
  const { failover } = failoverOf();
  const [confirmed, found] = [await identity(), await next()];
  await failover.beat();
  await failover.beat();
  expect(await failover.verdict(confirmed, found)).toMatchObject({
    // Which of the two is missing depends on the settings of the server that runs the tests.
    reason: expect.stringMatching(/synchronous_commit|synchronous_standby_names is empty/),
  });
  const synchronous = { commit: 'on', names: 'b', standbys: [{ name: 'b', state: 'sync', address: null }] };
  await test.database.execute(
    `update heartbeat set replication = replication || $1::jsonb where name like 'primary:%'`,
    [JSON.stringify(synchronous)],
  );
  expect(await failover.verdict(confirmed, found)).toEqual({ kind: 'continue' });
  await test.database.execute(
    `update heartbeat set replication = replication || '{"n": 1}' where name like 'primary:%'`,
  );
  expect(await failover.verdict(confirmed, found)).toMatchObject({ reason: expect.stringContaining('lacks commits') });
});

it('does not trust what it knew ten minutes ago', async () => {
  const { failover, pass } = failoverOf();
  await failover.beat();
  pass(600_001);
  expect(await failover.verdict(await identity(), await next())).toMatchObject({
    reason: expect.stringContaining('ten minutes'),
  });
});

it('counts no row that may not be on the standby as known', async () => {
  const { failover, pass } = failoverOf();
  const lost = Object.assign(new Error('canceled'), { code: '08007' });
  import.meta.jest.spyOn(test.database, 'query').mockRejectedValueOnce(lost);
  await expect(failover.beat()).rejects.toThrow('canceled');
  expect(await failover.verdict(await identity(), await next())).toEqual({ kind: 'wait' });
  pass(LEAVE_TO_OTHERS_MS);
  expect(await failover.verdict(await identity(), await next())).toMatchObject({ kind: 'ask' });
});
