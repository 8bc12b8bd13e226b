import { grantLane } from '../../../test/support/grant-lane.js';
import { NO_AUDIT } from '../../../test/support/no-audit.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import type { GaugeSource, Metrics } from '../operations/metrics/metrics.js';
import { Readiness } from '../operations/readiness.js';
import { newId } from '../../common/ids.js';
import type { Failover, Verdict } from './failover.js';
import { Restoration } from './restoration.js';

describe('Restoration', () => {
  let test: OpenTestDatabase;

  beforeAll(async () => {
    test = await openTestDatabase();
  });
  beforeEach(() => confirmed('identity_of_database()'));
  afterAll(async () => test?.close());

  const NEWEST = new Date('2036-01-01T00:00:00.123Z');

  /** Work of which two rows are uncertain until they are marked; the newest is of a clock that was years ahead. */
  function restorationOf(verdict: Verdict = { kind: 'ask', reason: null }) {
    const gauges: GaugeSource[] = [];
    const readiness = new Readiness();
    const metrics = { add: (gauge: GaugeSource) => gauges.push(gauge) } as unknown as Metrics;
    const failover = {
      continues: verdict.kind !== 'ask',
      verdict: () => Promise.resolve(verdict),
    } as unknown as Failover;
    const restoration = new Restoration(test.database, NO_AUDIT, failover, readiness, metrics);
    const marks: Date[] = [];
    restoration.add({
      name: 'things',
      newest: () => Promise.resolve(NEWEST),
      count: () => Promise.resolve(marks.length === 0 ? 2 : 0),
      mark: (before) => {
        marks.push(before);
        return Promise.resolve(2);
      },
    });
    const valueOf = async (name: string) => (await gauges.find((gauge) => gauge.name === name)?.collect())?.[0]?.value;
    const lanesHeld = () => valueOf('lanes_held');
    return { restoration, marks, readiness, lanesHeld, continued: () => valueOf('failover_continued') };
  }

  /** As if Herald had last worked on this database. */
  const confirmed = (identity: string): Promise<number> =>
    test.database.execute(
      `update database_identity set identity = ${identity}, blocked_since = null, blocked_on = null`,
    );

  async function slots(): Promise<number | undefined> {
    const pace = { ratePerSecond: 100, burstSeconds: 1 };
    const request = { laneKey: newId(), owner: newId(), limit: 5, pace, knowsPace: false };
    return (await grantLane(test.database, request))?.slots;
  }

  it('knows cluster, timeline and database, with the rights of an ordinary role', async () => {
    const [row] = await test.database.query<{ identity: string }>('select identity_of_database() as identity');
    expect(row?.identity).toMatch(/^\d+\/[0-9A-F]{8}\/\d+$/);
    await test.database.execute('create role spec_plain');
    try {
      const asPlain = await test.database.transaction(async () => {
        await test.database.execute('set local role spec_plain');
        return test.database.query('select identity_of_database() as identity');
      });
      expect(asPlain).toEqual([row]);
    } finally {
      await test.database.execute('drop role spec_plain');
    }
  });

  it('leaves out what a managed server does not give away, and knows the rest', async () => {
    const asked = 'select identity_of_database() as identity';
    const found = await test.database
      .transaction(async () => {
        await test.database.execute('revoke execute on function pg_control_system() from public');
        await test.database.execute('create role spec_managed');
        await test.database.execute('set local role spec_managed');
        throw new Error((await test.database.query<{ identity: string }>(asked))[0]?.identity);
      })
      .catch((error: Error) => error.message);
    expect(found).toMatch(/^-\/[0-9A-F]{8}\/\d+$/);
  });

  it('lets the lanes of the confirmed database be, and says so', async () => {
    const { restoration, marks, readiness, lanesHeld } = restorationOf();
    await restoration.checkAtStart();
    expect(await restoration.notice()).toBe(0);
    expect([await restoration.blocked(), await lanesHeld(), await slots(), marks]).toEqual([null, 0, 5, []]);
    expect((await readiness.report()).parts.lanes).toEqual({ ok: true });
  });

  it.each([
    ['cluster', `regexp_replace(identity_of_database(), '^[^/]+', '1')`],
    ['timeline', `regexp_replace(identity_of_database(), '/[^/]+/', '/000000FF/')`],
    ['database', `regexp_replace(identity_of_database(), '[^/]+$', '1')`],
  ])('holds the lanes where the %s is another one, and names the command', async (_, identity) => {
    await confirmed(identity);
    const { restoration, marks, readiness, lanesHeld } = restorationOf();
    await restoration.checkAtStart();
    expect([await lanesHeld(), await slots(), marks]).toEqual([1, 0, []]);
    const { status, parts } = await readiness.report();
    expect([status, parts.lanes]).toEqual(['ready', { ok: true, detail: expect.stringContaining('herald restore') }]);
  });

  it('notes once since when, however many processes look, and not before what is queued', async () => {
    await confirmed(`'1/00000001/1'`);
    const { restoration } = restorationOf();
    const noticed = await Promise.all(Array.from({ length: 3 }, () => restoration.notice()));
    expect(noticed.filter((count) => count > 0)).toEqual([1]);
    expect((await restoration.blocked())?.since).toEqual(new Date(NEWEST.getTime() + 1));
    await restoration.checkAtStart();
    expect((await restoration.blocked())?.since).toEqual(new Date(NEWEST.getTime() + 1));
  });

  it('notes it again on another database: a backup was made while claims were blocked', async () => {
    await confirmed(`'1/00000001/1'`);
    await test.database.execute(
      `update database_identity set blocked_since = now() - interval '1 hour', blocked_on = '1/00000002/1'`,
    );
    const { restoration } = restorationOf();
    expect((await restoration.blocked())?.since).toBeNull();
    expect(await test.database.row(`select ${restoration.unnoticed} as noted`)).toEqual({ noted: true });
    expect(await restoration.notice()).toBe(1);
    expect((await restoration.blocked())?.since).toEqual(new Date(NEWEST.getTime() + 1));
  });

  it('notes no time of before the last heartbeat: a clock that is behind that of the server before marks no less', async () => {
    const last = new Date('2037-01-01T00:00:00.000Z');
    await test.database.execute(
      `insert into heartbeat (name, beat_at) values ('sweep:spec', $1) on conflict (name) do update set beat_at = excluded.beat_at`,
      [last],
    );
    try {
      await confirmed(`'1/00000001/1'`);
      const { restoration } = restorationOf();
      await restoration.notice();
      expect((await restoration.blocked())?.since).toEqual(new Date(last.getTime() + 1));
    } finally {
      await test.database.execute(`delete from heartbeat where name = 'sweep:spec'`);
    }
  });

  it('marks what was queued before that, and lets the lanes go on', async () => {
    await confirmed(`'1/00000001/1'`);
    const { restoration, marks, lanesHeld } = restorationOf();
    await restoration.notice();
    expect((await restoration.plan()).counts).toEqual({ things: 2 });
    const before = new Date(NEWEST.getTime() + 1);
    expect(await restoration.mark()).toEqual({ before, counts: { things: 2 } });
    expect([marks, await lanesHeld(), await slots()]).toEqual([[before], 0, 5]);
    await confirmed(`'1/00000001/1'`);
    expect((await restoration.blocked())?.since).toBeNull();
  });

  it('goes on without marking where nothing was lost', async () => {
    await confirmed(`'1/00000001/1'`);
    const { restoration, marks, lanesHeld } = restorationOf();
    await restoration.notice();
    await restoration.adopt();
    expect([marks, await lanesHeld(), await slots()]).toEqual([[], 0, 5]);
  });

  it('goes on by itself, marks nothing, and says so for an hour', async () => {
    await confirmed(`'1/00000001/1'`);
    const { restoration, marks, lanesHeld, continued } = restorationOf({ kind: 'continue' });
    expect([await lanesHeld(), await continued(), await slots()]).toEqual([1, 0, 0]);
    expect(await restoration.notice()).toBe(1);
    expect([marks, await lanesHeld(), await continued(), await slots()]).toEqual([[], 0, 1, 5]);
    expect(await restoration.notice()).toBe(0);
    await test.database.execute(`update database_identity set continued_at = continued_at - interval '1 hour'`);
    expect(await continued()).toBe(0);
  });

  it('leaves the decision to another process, and claims stay blocked until then', async () => {
    await confirmed(`'1/00000001/1'`);
    const { restoration, lanesHeld } = restorationOf({ kind: 'wait' });
    await restoration.checkAtStart();
    expect(await restoration.notice()).toBe(0);
    expect([await restoration.blocked(), await lanesHeld(), await slots()]).toMatchObject([{ since: null }, 1, 0]);
  });

  it('does not go on by itself where an operator was asked before', async () => {
    await confirmed(`'1/00000001/1'`);
    await restorationOf().restoration.notice();
    const { restoration, lanesHeld } = restorationOf({ kind: 'continue' });
    expect(await restoration.notice()).toBe(0);
    expect(await lanesHeld()).toBe(1);
  });

  it('marks up to a time that is given, or up to now on a database whose claims are not blocked', async () => {
    const { restoration, marks } = restorationOf();
    const before = new Date('2026-01-01T00:00:00Z');
    await restoration.mark(before);
    await restoration.mark();
    expect(marks[0]).toEqual(before);
    expect(marks[1]?.getTime()).toBeLessThan(NEWEST.getTime());
  });

  it('takes no passing fault of the database for another server', async () => {
    const { restoration } = restorationOf();
    const fault = Object.assign(new Error('canceling statement'), { code: '57014' });
    const query = import.meta.jest.spyOn(test.database, 'query').mockRejectedValueOnce(fault);
    await expect(restoration.checkAtStart()).rejects.toThrow('canceling statement');
    query.mockRestore();
    expect(await restoration.blocked()).toBeNull();
  });
});
