import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { loadConfig } from '../config/load-config.js';
import { databaseAnswers, Heartbeats, Readiness, type ReadinessCheck } from './readiness.js';

function readinessOf(checks: Record<string, ReadinessCheck>): Readiness {
  const readiness = new Readiness();
  for (const [name, check] of Object.entries(checks)) readiness.register(name, check);
  return readiness;
}

describe('Readiness', () => {
  it('is ready when every part is', async () => {
    const report = await readinessOf({
      a: () => Promise.resolve({ ok: true }),
      b: () => Promise.resolve({ ok: true, detail: '3 sweeps' }),
    }).report();
    expect(report).toEqual({ status: 'ready', parts: { a: { ok: true }, b: { ok: true, detail: '3 sweeps' } } });
  });

  it('is not ready when one part is not, and lists all', async () => {
    const report = await readinessOf({
      a: () => Promise.resolve({ ok: false, detail: 'stopping' }),
      b: () => Promise.resolve({ ok: true }),
    }).report();
    expect(report.status).toBe('not_ready');
    expect(report.parts.b).toEqual({ ok: true });
  });

  it('looks once for all that ask within half a second, but at once where a change must be seen', async () => {
    let looks = 0;
    let stopping = false;
    const readiness = readinessOf({ dear: () => Promise.resolve({ ok: true, detail: String(++looks) }) });
    readiness.register('accepting', () => Promise.resolve({ ok: !stopping }), false);
    import.meta.jest.useFakeTimers();
    try {
      const reports = await Promise.all([readiness.report(), readiness.report()]);
      expect(reports.map(({ status, parts }) => [status, parts.dear?.detail])).toEqual([
        ['ready', '1'],
        ['ready', '1'],
      ]);
      stopping = true;
      expect(await readiness.report()).toMatchObject({ status: 'not_ready', parts: { dear: { detail: '1' } } });
      import.meta.jest.advanceTimersByTime(500);
      expect((await readiness.report()).parts.dear?.detail).toBe('2');
    } finally {
      import.meta.jest.useRealTimers();
    }
  });

  it('counts a part that fails or hangs as not ready, and repeats no error text', async () => {
    import.meta.jest.useFakeTimers();
    const reporting = readinessOf({
      fails: () => Promise.reject(new Error('connect to db.internal as herald')),
      hangs: () => new Promise(() => undefined),
    }).report();
    await import.meta.jest.advanceTimersByTimeAsync(1_000);
    import.meta.jest.useRealTimers();
    expect(await reporting).toEqual({
      status: 'not_ready',
      parts: { fails: { ok: false, detail: 'failed' }, hangs: { ok: false, detail: 'no answer' } },
    });
  });

  it.each([
    [
      'cannot be reached (ECONNREFUSED)',
      Object.assign(new Error('connect db.internal:5432'), { code: 'ECONNREFUSED' }),
    ],
    ['cannot be reached', new Error('timeout exceeded when trying to connect')],
    ['failed (28P01)', Object.assign(new Error('password of herald'), { driverError: { code: '28P01' } })],
  ])('says of a part that throws: %s', async (detail, error) => {
    const { parts } = await readinessOf({ database: () => Promise.reject(error) }).report();
    expect(parts).toEqual({ database: { ok: false, detail } });
  });

  it('has one line in the log for each change of the reasons', async () => {
    const lines: unknown[] = [];
    const spies = (['warn', 'log'] as const).map((level) =>
      import.meta.jest
        .spyOn(Logger.prototype, level)
        .mockImplementation((...line: unknown[]) => void lines.push(line[0])),
    );
    let fault: Error | null = new Error('connect to db.internal');
    const readiness = new Readiness();
    readiness.register('database', () => (fault ? Promise.reject(fault) : Promise.resolve({ ok: true })), false);
    for (let look = 0; look < 3; look++) await readiness.report();
    fault = null;
    for (let look = 0; look < 3; look++) await readiness.report();
    for (const spy of spies) spy.mockRestore();
    expect(lines).toEqual(['not ready: database: failed: connect to db.internal', 'ready again']);
  });
});

let opened: OpenTestDatabase;

beforeAll(async () => {
  opened = await openTestDatabase();
});

afterEach(() => opened.database.execute(`delete from heartbeat where name <> 'ready'`));

afterAll(() => opened.close());

describe('the database', () => {
  const written = async (): Promise<string> =>
    (await opened.database.row<{ at: string }>(`select beat_at::text as at from heartbeat where name = 'ready'`)).at;

  it('is ready while it takes writes, and is written once in five seconds', async () => {
    await opened.database.execute(`update heartbeat set beat_at = beat_at - interval '6 seconds' where name = 'ready'`);
    const before = await written();
    expect(await databaseAnswers(opened.database)).toEqual({ ok: true, detail: expect.stringMatching(/^\d+ ms$/) });
    const after = await written();
    expect(after).not.toBe(before);
    await databaseAnswers(opened.database);
    expect(await written()).toBe(after);
  });

  it('is not ready where it is read-only, also where nothing would be written', async () => {
    const { database } = opened;
    await database
      .transaction(async () => {
        await database.execute('set transaction read only');
        expect(await databaseAnswers(database)).toEqual({ ok: false, detail: 'it is read-only' });
        // The transaction has failed.
        throw new Error('over');
      })
      .catch((error: unknown) => expect(error).toMatchObject({ message: 'over' }));
  });
});

describe('a database that was full', () => {
  const full = Object.assign(new Error('could not extend file'), { code: '53100' });

  it('is not ready until a file of it can grow again', async () => {
    const { database } = opened;
    await expect(
      database.execute(`do $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`),
    ).rejects.toMatchObject({ code: '53100' });
    const execute = jest.spyOn(database, 'execute').mockRejectedValueOnce(full);
    expect(await databaseAnswers(database)).toEqual({ ok: false, detail: 'it is full, or lacks another resource' });
    execute.mockRestore();
    expect(await databaseAnswers(database)).toMatchObject({ ok: true });
    expect(database.diskWasFull).toBe(false);
  });
});

/** As it is in a process that started `agoMs` before, and has these sweeps, which run once a second. */
function heartbeats(roles: string, agoMs = 60_000, sweeps = ['send_due']): Heartbeats {
  const config = loadConfig({ env: { NODE_ENV: 'test', ROLES: roles }, persistSecrets: false });
  const own = new Heartbeats(opened.database, config, performance.now() - agoMs);
  for (const sweep of sweeps) own.expect(sweep, 1_000);
  return own;
}

async function beat(name: string, secondsAgo: number): Promise<void> {
  await opened.database.execute(
    `insert into heartbeat (name, beat_at) values ($1, clock_timestamp() - make_interval(secs => $2))`,
    [name, secondsAgo],
  );
}

describe('Heartbeats', () => {
  it('are fine while every sweep beats, whatever else has a row', async () => {
    await beat('sweep:send_due', 1);
    await beat('turn:send_due', 3_600);
    expect(await heartbeats('worker').check()).toEqual({ ok: true, detail: '1 sweeps' });
  });

  it('name the sweep that has been silent for 30 seconds, in every process of the fleet; only a worker is not ready', async () => {
    await beat('sweep:send_due', 1);
    await beat('sweep:send_leases', 31);
    for (const roles of ['worker', 'api']) {
      const { ok, detail } = await heartbeats(roles, 60_000, ['send_due', 'send_leases']).check();
      expect(ok).toBe(roles === 'api');
      const [, seconds] = /^silent for too long: send_leases (\d+) s$/.exec(detail ?? '') ?? [];
      // Seconds, not their thousandths: of 31, and what has passed since.
      expect(Number(seconds)).toBeGreaterThanOrEqual(31);
      expect(Number(seconds)).toBeLessThan(31_000);
    }
  });

  it('let a sweep that runs seldom be silent for three rounds', async () => {
    await beat('sweep:sync', 7_200);
    const patient = heartbeats('worker', 60_000, []);
    patient.expect('sync', 3_600_000);
    expect((await patient.check()).ok).toBe(true);
    expect((await heartbeats('worker', 60_000, ['sync']).check()).ok).toBe(false);
  });

  it('may be missing in the first 30 seconds, and without limit where no worker runs', async () => {
    expect((await heartbeats('worker', 0).check()).ok).toBe(true);
    expect(await heartbeats('worker').check()).toEqual({ ok: false, detail: 'no sweep has run yet' });
    expect((await heartbeats('api').check()).ok).toBe(true);
  });

  it('of sweeps that this release does not have say nothing', async () => {
    await beat('sweep:send_due', 1);
    await beat('sweep:of_another_release', 3_600);
    expect(await heartbeats('worker').check()).toEqual({ ok: true, detail: '1 sweeps' });
  });

  it('are missed of a sweep that has never succeeded while others do', async () => {
    await beat('sweep:send_due', 1);
    const sweeps = ['send_due', 'new'];
    expect((await heartbeats('worker', 45_000, sweeps).check()).ok).toBe(true);
    expect(await heartbeats('worker', 61_000, sweeps).check()).toEqual({
      ok: false,
      detail: 'silent for too long: new without a success',
    });
  });

  it('of before a stop say nothing in the first 30 seconds', async () => {
    await beat('sweep:send_due', 3_600);
    expect((await heartbeats('worker', 0).check()).ok).toBe(true);
    expect((await heartbeats('worker').check()).ok).toBe(false);
  });

  it('of a sweep that runs seldom say nothing before it has had its time', async () => {
    await beat('sweep:send_due', 1);
    await beat('sweep:sync', 86_400);
    const early = heartbeats('worker', 60_000);
    early.expect('sync', 60_000);
    expect((await early.check()).ok).toBe(true);
    const late = heartbeats('worker', 200_000);
    late.expect('sync', 60_000);
    expect((await late.check()).ok).toBe(false);
  });
});
