import { jest } from '@jest/globals';
import { holdTransaction } from '../../../test/support/open-transaction.js';
import { rowsRead } from '../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { databaseClock, systemClock } from '../../common/clock.js';
import { loadConfig } from '../config/load-config.js';
import { Counters } from '../operations/counters.js';
import { Heartbeats } from '../operations/readiness.js';
import { inBatches, Sweeps, type Sweep } from './sweeps.js';

let test: OpenTestDatabase;
let made: Sweeps[] = [];
/** The time of the sweeps' own clock. The database's is left alone. */
let nowMs = 0;

beforeAll(async () => {
  test = await openTestDatabase();
});
beforeEach(() => {
  nowMs = 0;
  jest.spyOn(systemClock, 'monotonic').mockImplementation(() => nowMs);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(made.map((sweeps) => sweeps.onModuleDestroy()));
  made = [];
  await test.database.execute('delete from heartbeat');
});
afterAll(() => test?.close());

/** What one process runs; `rounds` has the name of each sweep as often as it ran. */
function worker(sweeps: (Partial<Sweep> & { name: string })[], roles = 'worker') {
  const config = loadConfig({ env: { NODE_ENV: 'test', ROLES: roles }, persistSecrets: false });
  const all = new Sweeps(test.database, config, new Counters(), new Heartbeats(test.database, config));
  const rounds: string[] = [];
  for (const sweep of sweeps) {
    const run = (): Promise<number> => Promise.resolve(rounds.push(sweep.name));
    all.add({ everyMs: 1_000, run, ...sweep });
  }
  made.push(all);
  return { all, rounds };
}

/** So many seconds of one process, each with the rounds that it begins. */
async function live(all: Sweeps, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    nowMs += 1_000;
    await all.tick();
    await new Promise(setImmediate);
  }
}

/**
 * A process takes the lease in its first second and renews it in every second one, together with what succeeded before;
 * a lease of another process is over after four.
 */
const A_FEW_SECONDS = 6;

const has = async (name: string, where = 'true'): Promise<boolean> =>
  (await test.database.query(`select 1 from heartbeat where name = $1 and ${where}`, [name])).length > 0;

/** Another process takes the lease, valid for as long as the database's clock allows. */
const otherLeads = (): Promise<unknown> =>
  test.database.execute(
    `insert into heartbeat (name, beat_at) values ('leader', clock_timestamp() + interval '3 seconds')
     on conflict (name) do update set beat_at = excluded.beat_at`,
  );

const otherEnds = (): Promise<unknown> =>
  test.database.execute(`update heartbeat set beat_at = beat_at - interval '1 minute' where name = 'leader'`);

describe('Sweeps', () => {
  it('run only what has work, ask for all of it in one statement, and count what has none as done', async () => {
    const query = jest.spyOn(test.database, 'query');
    const measured = jest.spyOn(databaseClock, 'measured');
    const execute = jest.spyOn(test.database, 'execute');
    const { all, rounds } = worker([
      { name: 'empty', hasWork: 'exists (select 1 from message)' },
      { name: 'empty_too', waitsFor: [{ table: 'media_object', column: 'next_attempt_at' }] },
      { name: 'full', hasWork: 'true' },
      { name: 'always' },
    ]);
    await live(all, A_FEW_SECONDS);
    expect(await has('sweep:empty')).toBe(true);
    expect(await has('sweep:empty_too')).toBe(true);
    expect(await has('sweep:full')).toBe(true);
    expect(await has('clock')).toBe(true);
    const eachSecond = (name: string): string[] => Array<string>(A_FEW_SECONDS).fill(name);
    expect(rounds.toSorted()).toEqual([...eachSecond('always'), ...eachSecond('full')]);
    const asked = query.mock.calls.filter(([sql]) => JSON.stringify(sql).includes('as work'));
    expect(asked).toHaveLength(A_FEW_SECONDS);
    // Each answer has the time, and nothing else needs to ask for it.
    expect(measured).toHaveBeenCalledTimes(A_FEW_SECONDS);
    expect(execute).not.toHaveBeenCalled();
  });

  it('run where a time that they wait for has passed', async () => {
    await test.database.execute(
      `insert into lane (key, paused_until) values ('past', clock_timestamp() - interval '1 second')`,
    );
    const { all, rounds } = worker([
      { name: 'past', waitsFor: [{ table: 'lane', column: 'paused_until', where: `key = 'past'` }] },
      { name: 'other', waitsFor: [{ table: 'lane', column: 'paused_until', where: `key = 'other'` }] },
    ]);
    await live(all, 2);
    expect(rounds).toEqual(['past', 'past']);
  });

  describe('beside a transaction that stays open', () => {
    const REMOVED = 5_000;
    const DUE = { table: 'due_row', column: 'due_at' };
    const dueSince = (from: string) =>
      `(select due_at from due_row where due_at <= now() and due_at >= ${from} order by due_at limit 1)`;
    let foreign: Awaited<ReturnType<typeof holdTransaction>>;

    beforeAll(async () => {
      await test.database.execute('create table due_row (due_at timestamptz) with (autovacuum_enabled = false)');
      await test.database.execute('create index on due_row (due_at)');
      foreign = await holdTransaction(test.url);
      await test.database.execute(
        `insert into due_row select now() - interval '1 hour' - make_interval(secs => n) from generate_series(1, ${REMOVED}) n`,
      );
      await test.database.execute('delete from due_row');
    });
    afterEach(() => test.database.execute('delete from due_row'));
    afterAll(() => foreign?.end());

    /** Entries that each of so many seconds reads. */
    async function readIn(all: Sweeps, seconds: number): Promise<number[]> {
      const read: number[] = [];
      for (let second = 0; second < seconds; second++) {
        read.push(await rowsRead(test.database, 'due_row', () => live(all, 1)));
      }
      return read;
    }

    it.each([
      ['a time that they wait for: once a minute', { waitsFor: [DUE] }, [0, 61, 122]],
      ['what is due: every five seconds', { dueSince }, Array.from({ length: 22 }, (_, n) => 6 * n)],
    ])('read what was removed by %s', async (_name, looks, expected) => {
      const { all, rounds } = worker([{ name: 'one', ...looks }]);
      const read = await readIn(all, 130);
      expect(rounds).toEqual([]);
      expect(read.flatMap((rows, second) => (rows >= REMOVED ? [second] : []))).toEqual(expected);
      expect(Math.max(...read.filter((rows) => rows < REMOVED))).toBeLessThan(100);
    });

    it.each([
      ['a time that they wait for', { waitsFor: [DUE] }, 2],
      ['what is due', { dueSince }, 12],
    ])('read what was removed as often where each second has work, too: by %s', async (_name, looks, often) => {
      await test.database.execute(`insert into due_row select now() from generate_series(1, 3)`);
      const { all, rounds } = worker([{ name: 'one', ...looks }]);
      const read = await readIn(all, 70);
      expect(rounds).toHaveLength(70);
      expect(read.filter((rows) => rows >= REMOVED)).toHaveLength(often);
    });
  });

  it('are not run beside another leader, and are when its lease is over', async () => {
    const { all, rounds } = worker([{ name: 'one' }, { name: 'wherever', everywhere: true }]);
    await otherLeads();
    await live(all, 3);
    expect(rounds).toEqual(['wherever', 'wherever', 'wherever']);
    await otherEnds();
    await live(all, A_FEW_SECONDS);
    expect(rounds).toContain('one');
  });

  it('end where another process has taken the lease meanwhile', async () => {
    const { all, rounds } = worker([{ name: 'one' }]);
    await live(all, 1);
    expect(rounds).toEqual(['one']);
    await otherLeads();
    // It may run until it renews its lease next.
    await live(all, 2);
    const before = rounds.length;
    await otherLeads();
    await live(all, A_FEW_SECONDS);
    expect(rounds).toHaveLength(before);
  });

  it('are run by every worker where the leader does not succeed with them', async () => {
    await test.database.execute(
      `insert into heartbeat values ('sweep:stuck', clock_timestamp() - interval '1 minute'),
         ('sweep:well', clock_timestamp() + interval '1 hour')`,
    );
    const { all, rounds } = worker([{ name: 'stuck' }, { name: 'well' }]);
    await otherLeads();
    await live(all, 1);
    expect(rounds).toEqual([]);
    // Now it has been up for long enough to judge, and renews what it succeeds with at its next look.
    for (let looks = 0; looks < 2; looks++) {
      nowMs += 60_000;
      await otherLeads();
      await live(all, 1);
    }
    expect(new Set(rounds)).toEqual(new Set(['stuck']));
    expect(await has('sweep:stuck', `beat_at > clock_timestamp() - interval '50 seconds'`)).toBe(true);
  });

  it('that no other release has are run beside a leader of one', async () => {
    await test.database.execute(`insert into heartbeat values ('sweep:known', clock_timestamp() + interval '1 hour')`);
    const { all, rounds } = worker([{ name: 'new' }, { name: 'known' }]);
    await otherLeads();
    await live(all, 1);
    // It has been up for long enough to judge, and renews what it succeeds with at its next look.
    for (let looks = 0; looks < 2; looks++) {
      nowMs += 60_000;
      await otherLeads();
      await live(all, 1);
    }
    expect(await has('sweep:new', 'every_seconds = 1')).toBe(true);
    expect(new Set(rounds)).toEqual(new Set(['new']));
  });

  it('that are overdue have their first round at once', async () => {
    await test.database.execute(`insert into heartbeat values
      ('sweep:overdue', clock_timestamp() - interval '2 hours'), ('sweep:early', clock_timestamp())`);
    const everyMs = 3_600_000;
    const { all, rounds } = worker([{ name: 'quick' }, { name: 'overdue', everyMs }, { name: 'early', everyMs }]);
    await live(all, A_FEW_SECONDS);
    expect(rounds.filter((name) => name !== 'quick')).toEqual(['overdue']);
  });

  it('of other releases that have not run for ten minutes are forgotten', async () => {
    await test.database.execute(`insert into heartbeat values
      ('sweep:own', clock_timestamp() - interval '1 hour'), ('sweep:gone', clock_timestamp() - interval '11 minutes'),
      ('sweep:other', clock_timestamp() - interval '9 minutes'), ('clock', clock_timestamp() - interval '1 hour')`);
    const { all } = worker([{ name: 'own' }], 'api');
    await all.forgetOthers();
    const rows = await test.database.query<{ name: string }>('select name from heartbeat order by name');
    expect(rows.map(({ name }) => name)).toEqual(['clock', 'sweep:other', 'sweep:own']);
  });

  it('all run where the condition of one is refused', async () => {
    const { all, rounds } = worker([
      { name: 'broken', hasWork: 'no_such_column' },
      { name: 'well', hasWork: 'false' },
    ]);
    await live(all, 1);
    expect(rounds.toSorted()).toEqual(['broken', 'well']);
  });

  it('that fail do not stop the others, and have no success', async () => {
    const { all, rounds } = worker([{ name: 'bad', run: () => Promise.reject(new Error('no')) }, { name: 'good' }]);
    await live(all, A_FEW_SECONDS);
    expect(rounds).toHaveLength(A_FEW_SECONDS);
    expect(await has('sweep:good')).toBe(true);
    expect(await has('sweep:bad')).toBe(false);
  });

  it('let another process lead at once when they stop', async () => {
    const { all, rounds } = worker([{ name: 'one' }]);
    await live(all, 1);
    expect(rounds).toEqual(['one']);
    await all.onModuleDestroy();
    const { all: next, rounds: ofNext } = worker([{ name: 'next' }]);
    await live(next, 1);
    expect(ofNext).toEqual(['next']);
    // PostgreSQL before 17 refuses to subtract an infinite time.
    expect(await has('leader', 'not isfinite(beat_at)')).toBe(false);
  });

  it('lead where an earlier release gave the lease back by an infinite time', async () => {
    await test.database.execute(`insert into heartbeat values ('leader', '-infinity')`);
    const { all, rounds } = worker([{ name: 'one' }]);
    await live(all, 1);
    expect(rounds).toEqual(['one']);
    expect(await has('leader', 'isfinite(beat_at)')).toBe(true);
  });

  it('run by themselves after a start, again and again', async () => {
    const { all, rounds } = worker([{ name: 'one' }]);
    jest.spyOn(systemClock, 'monotonic').mockImplementation(() => (nowMs += 1_000));
    all.start();
    await waitFor(() => rounds.length >= 2, { what: 'two rounds' });
    await all.onModuleDestroy();
    expect(new Set(rounds)).toEqual(new Set(['one']));
  });

  it('do nothing without a worker', async () => {
    const query = jest.spyOn(test.database, 'query');
    const later = jest.spyOn(globalThis, 'setTimeout');
    const { all } = worker([{ name: 'one' }], 'api');
    all.start();
    expect(later).not.toHaveBeenCalled();
    await all.onModuleDestroy();
    expect(query).not.toHaveBeenCalled();
    expect(await all.runNow('one')).toBe(1);
    await expect(all.runNow('two')).rejects.toThrow('there is no sweep named two');
  });
});

describe('work in batches', () => {
  it('goes on until a batch is not full', async () => {
    let left = 25;
    const work = (limit: number) => {
      const done = Math.min(limit, left);
      left -= done;
      return Promise.resolve(done);
    };
    expect(await inBatches(new AbortController().signal, 10, work)).toBe(25);
    expect(left).toBe(0);
  });

  it('ends with the round', async () => {
    const round = new AbortController();
    let batches = 0;
    const work = (limit: number) => {
      if (++batches === 3) round.abort();
      return Promise.resolve(limit);
    };
    expect(await inBatches(round.signal, 10, work)).toBe(30);
  });
});
