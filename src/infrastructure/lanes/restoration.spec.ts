import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { Restoration } from './restoration.js';

describe('Restoration', () => {
  let test: OpenTestDatabase;

  beforeAll(async () => {
    test = await openTestDatabase();
  });
  beforeEach(async () => test.database.execute('delete from heartbeat'));
  afterAll(async () => test?.close());

  /** Work of which two rows are in doubt until they are marked. */
  function restorationOf() {
    const restoration = new Restoration(test.database);
    const marks: Date[] = [];
    restoration.add({
      name: 'things',
      count: () => Promise.resolve(marks.length === 0 ? 2 : 0),
      mark: (before) => {
        marks.push(before);
        return Promise.resolve(2);
      },
    });
    return { restoration, marks };
  }

  const beat = (name: string, secondsAgo: number): Promise<number> =>
    test.database.execute(
      `insert into heartbeat (name, beat_at) values ($1, clock_timestamp() - make_interval(secs => $2))
       on conflict (name) do update set beat_at = excluded.beat_at`,
      [name, secondsAgo],
    );
  const servers = (): Promise<{ name: string }[]> =>
    test.database.query("select name from heartbeat where name like 'server:%'");

  it('takes a database on which Herald never worked as it is, and knows it from then on', async () => {
    const { restoration, marks } = restorationOf();
    await beat('sweep:send_due', 86_400);
    expect(await restoration.checkAtStart()).toBe('new');
    expect(await restoration.checkAtStart()).toBe('known');
    const [server] = await servers();
    expect(server?.name).toMatch(/^server:(\d+|-)\/([0-9A-F]{8}|-)\/\d+$/);
    expect(marks).toEqual([]);
  });

  it('lets a long pause on the same database pass', async () => {
    const { restoration, marks } = restorationOf();
    await restoration.adopt();
    const [server] = await servers();
    await beat(server?.name ?? '', 86_400);
    await beat('sweep:send_due', 86_400);
    expect(await restoration.checkAtStart()).toBe('known');
    expect(marks).toEqual([]);
  });

  it('only warns after a failover: another history, and a sign of life of a moment ago', async () => {
    const { restoration, marks } = restorationOf();
    await beat('server:1/00000001/1', 86_400);
    await beat('sweep:send_due', 20);
    expect(await restoration.checkAtStart()).toBe('moved');
    expect(marks).toEqual([]);
    expect(await servers()).toHaveLength(1);
  });

  it('takes note of a failover under processes that work on, so that a long stop later is no restore', async () => {
    const { restoration, marks } = restorationOf();
    await beat('server:1/00000001/1', 86_400);
    await beat('sweep:send_due', 20);
    expect(await restoration.follow()).toBe(1);
    expect(await restoration.follow()).toBe(0);
    await beat('sweep:send_due', 900);
    expect(await restoration.checkAtStart()).toBe('known');
    expect(marks).toEqual([]);
  });

  it('leaves a restored database to the next start', async () => {
    const { restoration, marks } = restorationOf();
    await beat('server:1/00000001/1', 86_400);
    await beat('sweep:send_due', 700);
    expect(await restoration.follow()).toBe(0);
    expect(await restoration.checkAtStart()).toBe('restored');
    expect(marks).toHaveLength(1);
  });

  it('takes no passing fault of the database for another server', async () => {
    const { restoration } = restorationOf();
    await restoration.adopt();
    const fault = Object.assign(new Error('canceling statement'), { code: '57014' });
    const query = import.meta.jest.spyOn(test.database, 'query').mockRejectedValueOnce(fault);
    await expect(restoration.checkAtStart()).rejects.toThrow('canceling statement');
    query.mockRestore();
    expect(await restoration.checkAtStart()).toBe('known');
  });

  it('marks what is in doubt after a restore, once however many processes start', async () => {
    const { restoration, marks } = restorationOf();
    await beat('server:1/00000001/1', 86_400);
    await beat('sweep:send_due', 700);
    const found = await Promise.all(Array.from({ length: 3 }, () => restoration.checkAtStart()));
    expect(found.sort()).toEqual(['known', 'known', 'restored']);
    expect(marks).toHaveLength(1);
    expect(await restoration.checkAtStart()).toBe('known');
  });

  it('marks when it is told to, and then takes the database as known', async () => {
    const { restoration, marks } = restorationOf();
    await beat('server:1/00000001/1', 86_400);
    expect((await restoration.plan()).counts).toEqual({ things: 2 });
    const before = new Date('2026-01-01T00:00:00Z');
    expect(await restoration.mark(before)).toEqual({ before, counts: { things: 2 } });
    expect(marks).toEqual([before]);
    expect(await restoration.checkAtStart()).toBe('known');
  });
});
