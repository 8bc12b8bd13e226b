import pg from 'pg';
import { claimRequest } from '../../../test/support/claim-request.js';
import { grantLane } from '../../../test/support/grant-lane.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { newId } from '../../common/ids.js';
import type { Database } from '../database/database.js';
import { dueSweep, dueTableLanes, markedLane } from './due-lanes.js';

function sweepOver(due: string[], busy: readonly string[] = []) {
  const woken: string[] = [];
  const database = { query: () => Promise.resolve(busy.map((key) => ({ key }))) } as unknown as Database;
  const swept = { wakesUnavailable: false, wakeAny: (key: string) => void woken.push(key) };
  const page = (limit: number, after: string | null) => {
    const from = due.findIndex((key) => key === after) + 1;
    const lanes = due.slice(from, from + limit);
    return Promise.resolve({ lanes, next: lanes.length === limit ? (lanes.at(-1) ?? null) : null });
  };
  const dueLanes = Object.assign(page, { hasWork: (limit: number) => `any of ${limit}` });
  const sweep = dueSweep('spec', database, swept, dueLanes);
  return { woken, sweep, swept, run: () => sweep.run(new AbortController().signal) };
}

describe('the sweep of due lanes', () => {
  it('wakes those that have no owner and are not paused', async () => {
    const { woken, run } = sweepOver(['a', 'b', 'c', 'd'], ['b', 'c']);
    expect(await run()).toBe(2);
    expect(woken).toEqual(['a', 'd']);
  });

  it('is everywhere as long as no wake reaches the other workers', () => {
    const { sweep, swept } = sweepOver([]);
    expect(sweep.everywhere).toBe(false);
    swept.wakesUnavailable = true;
    expect(sweep.everywhere).toBe(true);
  });

  it('looks at a bounded number of lanes in a round, and wakes a lane behind any number of lanes that rest', async () => {
    const resting = Array.from({ length: 4_000 }, (_unused, index) => `rest${String(index)}`);
    const { woken, sweep, run } = sweepOver([...resting, 'last'], resting);
    expect(sweep.hasWork).toBe('any of 2000');
    expect([await run(), await run()]).toEqual([0, 0]);
    // Whatever the first lanes have, the turn goes on.
    expect(sweep.hasWork).toBe('true');
    expect(await run()).toBe(1);
    expect(woken).toEqual(['last']);
    expect(sweep.hasWork).toBe('any of 2000');
  });
});

describe('the look at many lanes', () => {
  it('looks at each of them for a minute where the look for what waits is slow', async () => {
    const opened = await openTestDatabase();
    try {
      await opened.database.execute(
        'create table many_lanes as select gen_random_uuid() as id from generate_series(1, 101)',
      );
      const look = dueTableLanes(opened.database, {
        table: 'many_lanes',
        prefix: '',
        where: 'true',
        dueSince: () => 'null::timestamptz',
        nextWaiting: (after) => `(select nullif(${after}, ${after}) from pg_sleep(0.6))`,
      });
      // Nothing waits for any of them.
      expect(await look(1, null)).toEqual({ lanes: [], next: null });
      expect(await look(1, null)).toEqual({ lanes: [], next: expect.any(String) });
    } finally {
      await opened.close();
    }
  });
});

describe('the check of marks', () => {
  let opened: OpenTestDatabase;
  /** Looks wait as long as it has the lock. */
  let client: pg.Client;

  beforeAll(async () => {
    opened = await openTestDatabase();
    client = new pg.Client({ connectionString: opened.url });
    await client.connect();
  });
  afterAll(async () => {
    await client?.end();
    await opened?.close();
  });

  /** A lane with a mark before which a row is due, while the check looks for that row. */
  async function whileLooking(work: (key: string) => Promise<unknown>): Promise<{ moved: number; low: string }> {
    const key = newId();
    await opened.database.execute(`insert into lane (key, low_at) values ($1, clock_timestamp())`, [key]);
    const { moveMarks } = markedLane(
      opened.database,
      key,
      () => `(select case when pg_advisory_xact_lock_shared(1)::text = '' then timestamptz '2020-01-01' end)`,
    );
    await client.query('begin; select pg_advisory_xact_lock(1)');
    const moving = moveMarks();
    try {
      await waitFor(async () => {
        const waiting = await client.query(`select from pg_locks where locktype = 'advisory' and not granted`);
        return waiting.rowCount === 1;
      });
      await work(key);
    } finally {
      await client.query('commit');
    }
    const moved = await moving;
    const { low } = await opened.database.row<{ low: string }>(
      `select case low_at when '2020-01-01' then 'back' when '-infinity' then 'none' end as low from lane where key = $1`,
      [key],
    );
    return { moved, low };
  }

  it('keeps no claim from its lane while it looks', async () => {
    let slots: number | undefined;
    const { moved, low } = await whileLooking(async (key) => {
      slots = (await grantLane(opened.database, { ...claimRequest(key, newId(), 4), knowsPace: false }))?.slots;
    });
    expect({ slots, moved, low }).toEqual({ slots: 4, moved: 1, low: 'back' });
  });

  it('leaves a mark that changed while it looked', async () => {
    const removed = (key: string) =>
      opened.database.execute(`update lane set low_at = '-infinity' where key = $1`, [key]);
    expect(await whileLooking(removed)).toEqual({ moved: 0, low: 'none' });
  });
});
