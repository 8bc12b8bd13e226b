import pg from 'pg';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { oldestXmin, TransactionTimes, VACUUM_HORIZON, type Holder } from './vacuum-horizon.js';

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
  const samples = await oldestXmin(test.database).collect();
  return Object.fromEntries(samples.map(({ labels, value }) => [labels?.holder ?? '', value]));
}
