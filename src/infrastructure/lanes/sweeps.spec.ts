import { jest } from '@jest/globals';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { loadConfig } from '../config/load-config.js';
import { Counters } from '../operations/counters.js';
import { Heartbeats } from '../operations/readiness.js';
import { inBatches, Sweeps, type Sweep } from './sweeps.js';

/** A second of the sweeps' own clock and timers takes so much less. The database's clock is left alone. */
const FASTER = 4;
const TICK_MS = 1_000;

let test: OpenTestDatabase;
let started: Sweeps[] = [];
/** Milliseconds that the sweeps' clock is ahead. */
let ahead = 0;

beforeAll(async () => {
  test = await openTestDatabase();
});
beforeEach(() => {
  const [now, later] = [performance.now.bind(performance), setTimeout];
  ahead = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now() * FASTER + ahead);
  jest
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation(((work: () => void, ms: number) =>
      later(work, ms === TICK_MS ? ms / FASTER : ms)) as typeof setTimeout);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(started.map((sweeps) => sweeps.onModuleDestroy()));
  started = [];
  await test.database.execute('delete from heartbeat');
});
afterAll(() => test?.close());

/** Starts what one process does; `rounds` has the name of each sweep as often as it ran. */
function worker(sweeps: (Partial<Sweep> & { name: string })[], roles = 'worker') {
  const config = loadConfig({ env: { NODE_ENV: 'test', ROLES: roles }, persistSecrets: false });
  const all = new Sweeps(test.database, config, new Counters(), new Heartbeats(test.database, config));
  const rounds: string[] = [];
  for (const sweep of sweeps) {
    const run = (): Promise<number> => Promise.resolve(rounds.push(sweep.name));
    all.add({ everyMs: 1_000, run, ...sweep });
  }
  started.push(all);
  all.start();
  return { all, rounds };
}

/** A look at a busy machine may take long. */
const until = (look: () => boolean | Promise<boolean>): Promise<unknown> =>
  waitFor(look, { timeoutMs: 30_000 * FASTER });

const has = async (name: string, where = 'true'): Promise<boolean> =>
  (await test.database.query(`select 1 from heartbeat where name = $1 and ${where}`, [name])).length > 0;

/** Another process leads for as long as `work` takes; `work` gets the number of looks since. */
async function besideLeader(work: (looks: () => number) => Promise<void>): Promise<void> {
  const query = jest.spyOn(test.database, 'query');
  const renew = (): Promise<unknown> =>
    test.database.execute(
      `insert into heartbeat (name, beat_at) values ('leader', clock_timestamp())
       on conflict (name) do update set beat_at = excluded.beat_at`,
    );
  await renew();
  query.mockClear();
  let over = false;
  const renewing = (async () => {
    while (!over) {
      await renew();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  try {
    await work(() => query.mock.calls.filter(([sql]) => JSON.stringify(sql).includes('leader')).length);
  } finally {
    over = true;
    await renewing;
    // Its lease is over.
    await test.database.execute(`update heartbeat set beat_at = beat_at - interval '1 minute' where name = 'leader'`);
  }
}

describe('Sweeps', () => {
  it('run only what has work, ask for all of it in one statement, and count what has none as done', async () => {
    const query = jest.spyOn(test.database, 'query');
    const execute = jest.spyOn(test.database, 'execute');
    const { rounds } = worker([
      { name: 'empty', hasWork: 'exists (select 1 from message)' },
      { name: 'empty_too', waitsFor: [{ table: 'media_object', column: 'next_attempt_at' }] },
      { name: 'full', hasWork: 'true' },
      { name: 'always' },
    ]);
    await until(() => has('sweep:empty'));
    expect(await has('sweep:empty_too')).toBe(true);
    expect(await has('sweep:full')).toBe(true);
    expect(await has('clock')).toBe(true);
    expect(rounds.filter((name) => name !== 'full' && name !== 'always')).toEqual([]);
    expect(rounds.filter((name) => name === 'full').length).toBe(rounds.filter((name) => name === 'always').length);
    const asked = query.mock.calls.filter(([sql]) => JSON.stringify(sql).includes('as work'));
    // One a second, which ends in a round of both that have work; the last round may not have begun yet.
    expect(asked.length).toBeLessThanOrEqual(rounds.length / 2 + 1);
    expect(execute).not.toHaveBeenCalled();
  });

  it('run where a time that they wait for has passed', async () => {
    await test.database.execute(
      `insert into lane (key, paused_until) values ('past', clock_timestamp() - interval '1 second')`,
    );
    const { rounds } = worker([
      { name: 'past', waitsFor: [{ table: 'lane', column: 'paused_until', where: `key = 'past'` }] },
      { name: 'other', waitsFor: [{ table: 'lane', column: 'paused_until', where: `key = 'other'` }] },
    ]);
    await until(() => rounds.length >= 2);
    expect(new Set(rounds)).toEqual(new Set(['past']));
  });

  it('are not run beside another leader, and are when its lease is over', async () => {
    let rounds: string[] = [];
    await besideLeader(async (looks) => {
      ({ rounds } = worker([{ name: 'one' }, { name: 'wherever', everywhere: true }]));
      await until(() => looks() > 0 && rounds.includes('wherever'));
      expect(rounds).not.toContain('one');
    });
    await until(() => rounds.includes('one'));
  });

  it('end where another process has taken the lease meanwhile', async () => {
    const { rounds } = worker([{ name: 'one' }]);
    await until(() => rounds.length > 0);
    await besideLeader(async (looks) => {
      await until(() => looks() > 0);
      const before = rounds.length;
      await until(() => looks() > 1);
      // One may have begun as the answer to the first look came.
      expect(rounds.length - before).toBeLessThanOrEqual(1);
    });
  });

  it('are run by every worker where the leader does not succeed with them', async () => {
    await test.database.execute(
      `insert into heartbeat values ('sweep:stuck', clock_timestamp() - interval '1 minute'),
         ('sweep:well', clock_timestamp() + interval '1 hour')`,
    );
    const { rounds } = worker([{ name: 'stuck' }, { name: 'well' }]);
    // It has been up for long enough to judge.
    ahead = 60_000;
    await besideLeader(async () => {
      await until(() => rounds.includes('stuck'));
      await until(() => has('sweep:stuck', `beat_at > clock_timestamp() - interval '30 seconds'`));
      expect(rounds).not.toContain('well');
    });
  });

  it('that no other release has are run beside a leader of one', async () => {
    await test.database.execute(`insert into heartbeat values ('sweep:known', clock_timestamp() + interval '1 hour')`);
    const { rounds } = worker([{ name: 'new' }, { name: 'known' }]);
    ahead = 60_000;
    await besideLeader(async () => {
      await until(() => has('sweep:new', 'every_seconds = 1'));
      expect(new Set(rounds)).toEqual(new Set(['new']));
    });
  });

  it('that are overdue have their first round at once', async () => {
    await test.database.execute(`insert into heartbeat values
      ('sweep:overdue', clock_timestamp() - interval '2 hours'), ('sweep:early', clock_timestamp())`);
    const everyMs = 3_600_000;
    const { rounds } = worker([{ name: 'quick' }, { name: 'overdue', everyMs }, { name: 'early', everyMs }]);
    await until(() => rounds.filter((name) => name === 'quick').length > 4);
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
    const { rounds } = worker([
      { name: 'broken', hasWork: 'no_such_column' },
      { name: 'well', hasWork: 'false' },
    ]);
    await until(() => rounds.length >= 2);
    expect(new Set(rounds)).toEqual(new Set(['broken', 'well']));
  });

  it('that fail do not stop the others, and have no success', async () => {
    const { rounds } = worker([{ name: 'bad', run: () => Promise.reject(new Error('no')) }, { name: 'good' }]);
    await until(() => has('sweep:good'));
    expect(rounds.length).toBeGreaterThan(0);
    expect(await has('sweep:bad')).toBe(false);
  });

  it('let another process lead at once when they stop', async () => {
    const { all, rounds } = worker([{ name: 'one' }]);
    await until(() => rounds.length > 0);
    await all.onModuleDestroy();
    const { rounds: ofNext } = worker([{ name: 'next' }]);
    await until(() => ofNext.length > 0);
    // PostgreSQL before 17 refuses to subtract an infinite time.
    expect(await has('leader', 'not isfinite(beat_at)')).toBe(false);
  });

  it('lead where an earlier release gave the lease back by an infinite time', async () => {
    await test.database.execute(`insert into heartbeat values ('leader', '-infinity')`);
    const { rounds } = worker([{ name: 'one' }]);
    await until(() => rounds.length > 0);
    expect(await has('leader', 'isfinite(beat_at)')).toBe(true);
  });

  it('do nothing without a worker', async () => {
    const query = jest.spyOn(test.database, 'query');
    const { all } = worker([{ name: 'one' }], 'api');
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
