import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { newId } from '../../src/common/ids.js';
import { dataSourceOptions } from '../../src/infrastructure/database/data-source.js';
import { Database } from '../../src/infrastructure/database/database.js';
import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';
import { LostClaimError, releaseLost } from '../../src/infrastructure/queue/lost-claims.js';
import { ClaimRepository } from '../../src/modules/sending/claim/claim.repository.js';
import { OutcomeRepository, released } from '../../src/modules/sending/outcome/outcome.repository.js';
import { describeWithStandby, Servers } from '../late-reads/fixture.js';
import { CodeRows } from '../otp/code-rows.js';
import { claimLane, claimRequest } from '../support/claim-request.js';
import { factsOf } from '../support/facts.js';
import { registerNumber } from '../support/register-number.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

const OWNER = newId();

describeWithStandby('a commit whose wait for the synchronous standby was canceled', () => {
  let servers: Servers;
  let api: TestApp;
  let sender: TestSender;
  let source: DataSource;
  let database: Database;
  let isAway = false;

  beforeAll(async () => {
    servers = await Servers.start();
    api = await startTestApp({
      roles: ['api', 'simulator'],
      env: { DATABASE_URL: servers.primary.url, DATABASE_MIGRATE: 'true', QUEUE_PREFIX: randomUUID() },
    });
    sender = await api.sender();
    registerNumber(api.simulator, sender.connection);
    await api.openWindow(sender, '15550101111');
    source = new DataSource(dataSourceOptions({ url: servers.primary.url, poolSize: 3, queryTimeoutMs: 60_000 }));
    await source.initialize();
    database = new Database(source);
  });

  afterAll(async () => {
    await servers?.synchronous('');
    await source?.destroy();
    await api?.stop();
    await servers?.remove();
  });

  beforeEach(() => servers.synchronous('*'));
  afterEach(() => back());

  /** The standby is away from now on, and what `work` commits waits for it until that is canceled. */
  async function canceled<T>(work: () => Promise<T>): Promise<unknown> {
    servers.standby.end();
    isAway = true;
    const working = work().catch((error: unknown) => error);
    await servers.cancelWait();
    return working;
  }

  /** Commits wait for no standby; it comes back. */
  async function back(): Promise<void> {
    if (!isAway) return;
    isAway = false;
    await servers.synchronous('');
    servers.standby.begin();
  }

  const send = (key: string) =>
    api.api
      .as(sender.key.text)
      .post(
        '/messages',
        { connection_id: sender.connection.id, to: '+15550101111', type: 'text', text: { body: 'Hello' } },
        { headers: { 'idempotency-key': key } },
      );

  it('is no claim of messages: nothing is sent, and they are queued again', async () => {
    const { id } = (await send(randomUUID())).body.data as { id: string };
    const sends = new ClaimRepository(database);
    await new LaneRepository(database).ensure(sender.connection.id);
    const request = claimRequest(sender.connection.id, OWNER, 1);
    const error = await canceled(() => claimLane(sends, request, { leaseMs: 3_600_000 }));
    expect(error).toBeInstanceOf(LostClaimError);
    const status = async () =>
      (await database.query<{ status: string }>('select status from message_view where id = $1', [id]))[0]?.status;
    expect(await status()).toBe('processing');

    await back();
    const outcomes = new OutcomeRepository(database, factsOf(database));
    const count = await releaseLost(error as LostClaimError, {
      find: (ids) => sends.findAttempts([sender.connection.id], ids),
      release: (attempt) => outcomes.record(released(attempt)),
      forMs: 20_000,
    });
    expect([count, await status()]).toEqual([1, 'queued']);
  });

  it('is no claim of codes: none is sent', async () => {
    const rows = await CodeRows.project(database);
    const made = await rows.make();
    await rows.lanes.ensure('otp');
    const error = await canceled(() => rows.sending.claim(claimRequest('otp', OWNER, 1), null));
    expect(error).toBeInstanceOf(LostClaimError);
    expect(await rows.statusOf(made)).toBe('sending');

    await back();
    const count = await releaseLost(error as LostClaimError, {
      find: (ids) => rows.sending.findAttempts(ids),
      release: (attemptId) => rows.sending.release(attemptId),
      forMs: 20_000,
    });
    expect([count, await rows.statusOf(made)]).toEqual([1, 'queued']);
  });

  it('is no acceptance: 503 instead of 202, and the request is repeated with its key', async () => {
    const key = randomUUID();
    const answer = (await canceled(() => send(key))) as Awaited<ReturnType<typeof send>>;
    expect([answer.status, answer.body.error?.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    await back();
    const again = await send(key);
    expect(again.status).toBe(202);
    // That of the first test, and this one.
    const sent = 'select count(*)::integer as count from message where connection_id = $1';
    expect(await database.count(sent, [sender.connection.id])).toBe(2);
  });

  it('leaves its connection as it was: the next statement of it succeeds', async () => {
    await database.execute('create table noted (n integer)');
    const error = await canceled(() => database.execute('insert into noted values (1)'));
    expect(error).toMatchObject({ code: '08007', message: expect.stringContaining('not known to be on the standby') });
    await back();
    await database.execute('insert into noted values (2)');
    await waitFor(async () => (await database.query('select n from noted order by n')).length === 2);
  });
});
