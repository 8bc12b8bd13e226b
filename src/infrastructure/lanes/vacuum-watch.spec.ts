import pg from 'pg';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { TransactionTimes, VACUUM_HORIZON, type Holder, VacuumWatch } from './vacuum-watch.js';
import type { GaugeSource, Metrics } from '../operations/metrics/metrics.js';
import type { Sweep, Sweeps } from './sweeps.js';

let test: OpenTestDatabase;
beforeAll(async () => {
  test = await openTestDatabase();
});
afterAll(async () => test?.close());

async function within<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: test.url, application_name: 'spec-holder' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const holders = (): Promise<Holder[]> => test.database.query<Holder>(VACUUM_HORIZON);

it('sees a transaction that may still read rows, and none that only began', async () => {
  await within(async (client) => {
    await client.query('begin');
    expect((await holders()).filter(({ name }) => name === 'spec-holder')).toEqual([]);
    await client.query('set transaction isolation level repeatable read');
    await client.query('select 1 from organization');
    const [found] = (await holders()).filter(({ name }) => name === 'spec-holder');
    expect(found).toMatchObject({ kind: 'session', pid: expect.any(Number), seconds: expect.any(Number) });
    const measured = await measure();
    expect(measured.session).toBeGreaterThanOrEqual(found?.seconds ?? Infinity);
  });
});

it('measures once a round, and a process that measures no more shows nothing', async () => {
  const { sweep, gauge } = watch();
  expect(await gauge.collect()).toEqual([]);
  await sweep.run(new AbortController().signal);
  expect((await gauge.collect()).map(({ labels }) => labels?.holder)).toEqual(['session', 'prepared', 'slot']);
  const later = import.meta.jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
  expect(await gauge.collect()).toEqual([]);
  later.mockRestore();
});

it('knows how long ago a transaction was the newest, to the minute, and a day back', () => {
  const times = new TransactionTimes();
  for (let minute = 0; minute < 2_000; minute++) times.note(minute * 60_000, minute * 10);
  const now = 2_000 * 60_000;
  expect(times.secondsSince(19_985, now)).toBe(60);
  expect(times.secondsSince(19_000, now)).toBe(99 * 60);
  expect(times.secondsSince(0, now)).toBe(1_500 * 60);
  expect(times.secondsSince(20_000, now)).toBe(0);
});

async function measure(): Promise<Record<string, number>> {
  const { sweep, gauge } = watch();
  await sweep.run(new AbortController().signal);
  return Object.fromEntries((await gauge.collect()).map(({ labels, value }) => [labels?.holder ?? '', value]));
}

function watch(): { sweep: Sweep; gauge: GaugeSource } {
  const sweeps: Sweep[] = [];
  const gauges: GaugeSource[] = [];
  const takes = <T>(all: T[]) => ({ add: (each: T) => all.push(each) });
  const watched = new VacuumWatch(
    test.database,
    takes(sweeps) as unknown as Sweeps,
    takes(gauges) as unknown as Metrics,
  );
  watched.onModuleInit();
  const [sweep] = sweeps;
  const [gauge] = gauges;
  if (sweep === undefined || gauge === undefined) throw new Error('nothing was added');
  return { sweep, gauge };
}
