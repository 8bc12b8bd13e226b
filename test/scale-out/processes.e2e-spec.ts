import { randomUUID } from 'node:crypto';
import { migrations } from '../../migrations/all.js';
import { hasRedis, startRedis } from '../support/rig/redis.js';
import { Scope } from '../support/rig/scope.js';
import { testPhone } from '../support/factories.js';
import { bodyOf, LocalServer } from '../support/local-server.js';
import { waitFor } from '../support/wait-for.js';
import { Fleet } from './fleet.js';

const LOOKS = { everyMs: 100 };
/** Where Redis is not installed, the same is tried on the PostgreSQL backend alone. */
const backends = (await hasRedis()) ? (['PostgreSQL', 'Redis'] as const) : (['PostgreSQL'] as const);

describe.each(backends)('two api and two workers, the queue on %s', (backend) => {
  const scope = new Scope();
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await Fleet.start(backend === 'Redis' ? await startRedis(scope) : null);
  }, 180_000);

  afterAll(async () => {
    await fleet?.stop();
    await scope.close();
  });

  type Sender = Awaited<ReturnType<Fleet['sender']>>;

  /** Sends to new contacts, each by the next api; returns the messages' ids. */
  async function send({ connection, clients }: Sender, count: number): Promise<string[]> {
    const phones = Array.from({ length: count }, () => testPhone());
    await Promise.all(phones.map((phone) => fleet.factories.conversation({ connection, phone })));
    const answers = await Promise.all(
      phones.map((phone, index) =>
        clients[index % 2 === 0 ? 0 : 1].post(
          '/messages',
          { connection_id: connection.id, to: `+${phone}`, type: 'text', text: { body: 'Hello' } },
          { headers: { 'idempotency-key': randomUUID() } },
        ),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 202));
    return answers.map((answer) => (answer.body.data as { id: string }).id);
  }

  const rows = (sql: string, params: unknown[]) => fleet.database.query<Record<string, unknown>>(sql, params);

  async function settled(ids: string[]): Promise<boolean> {
    const [row] = await rows(
      `select count(*)::integer as n from message_view where id = any($1) and status in ('queued', 'processing', 'accepted', 'sent')`,
      [ids],
    );
    return row?.n === 0;
  }

  /** How often the platform took a message of each of these attempts' messages. */
  async function takenOf(ids: string[]): Promise<number[]> {
    const attempts = await rows('select id, message_id from message_attempt_view where message_id = any($1)', [ids]);
    const messageOf = new Map(attempts.map((attempt) => [attempt.id, String(attempt.message_id)]));
    const answer = await fetch(`${fleet.simulatorUrl}/_simulator/messages`);
    const { data } = (await answer.json()) as { data: { callback: string }[] };
    const taken = new Map(ids.map((id) => [id, 0]));
    for (const { callback } of data) {
      const id = messageOf.get(callback.split('.')[1] ?? '');
      if (id !== undefined) taken.set(id, (taken.get(id) ?? 0) + 1);
    }
    return [...taken.values()];
  }

  // Neither asks the queue anything.
  const once = backend === 'PostgreSQL' ? it : it.skip;

  once('made the schema once, although all four began on an empty database at the same moment', async () => {
    const [ran] = await rows(
      'select count(*)::integer as n, count(distinct name)::integer as names from schema_migration',
      [],
    );
    expect(ran).toEqual({ n: migrations.length, names: migrations.length });
    const known = await rows('select 1 from database_identity where identity = identity_of_database()', []);
    expect(known).toHaveLength(1);
  });

  it('what either accepts is sent once by any, and reported once', async () => {
    const sender = await fleet.sender(1_000);
    const events: { id: string; status: string }[] = [];
    const receiver = await LocalServer.start(async (request, response) => {
      const { data } = JSON.parse((await bodyOf(request)).toString()) as {
        data: { message_id: string; status: string };
      };
      events.push({ id: data.message_id, status: data.status });
      response.end();
    });
    try {
      const put = await sender.clients[1].request({
        method: 'PUT',
        path: '/webhook',
        body: { url: receiver.url, events: ['message.status.updated'] },
      });
      expect(put.status).toBe(200);
      const ids = await send(sender, 60);
      await waitFor(() => settled(ids), LOOKS);
      expect(await takenOf(ids)).toEqual(ids.map(() => 1));
      // accepted, sent, delivered and read of each; sent may be skipped by what overtook it.
      await waitFor(
        () => new Set(events.filter(({ status }) => status === 'read').map(({ id }) => id)).size === 60,
        LOOKS,
      );
      const [endpoints] = await rows(
        'select count(*)::integer as n from webhook_event where endpoint_id is not null',
        [],
      );
      await waitFor(() => events.length >= Number(endpoints?.n), LOOKS);
      const repeats = events.length - new Set(events.map(({ id, status }) => `${id} ${status}`)).size;
      expect(repeats).toBe(0);
    } finally {
      await receiver.stop();
    }
  }, 180_000);

  once('one worker at a time leads the sweeps', async () => {
    const renewals = new Set<number>();
    await waitFor(
      async () => {
        const [lease] = await rows(
          `select (extract(epoch from beat_at) * 1000)::float8 as at from heartbeat where name = 'leader'`,
          [],
        );
        if (typeof lease?.at === 'number') renewals.add(lease.at);
        return renewals.size >= 4;
      },
      { ...LOOKS, everyMs: 60, what: 'four renewals' },
    );
    const sorted = [...renewals].sort((a, b) => a - b);
    const gaps = sorted.slice(1).map((at, index) => at - (sorted[index] ?? 0));
    // At most with each round, once a second, less a tenth for timers that are early. Two leaders would do so by turns.
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(899);
  });

  it('a number keeps its pace over both workers, and when one of them is killed', async () => {
    const perSecond = 20;
    const sender = await fleet.sender(perSecond);
    const ids = await send(sender, 70);
    const started = async () =>
      (
        await rows(
          `select (extract(epoch from started_at) * 1000)::float8 as at from message_attempt_view where message_id = any($1)
           order by started_at`,
          [ids],
        )
      ).map(({ at }) => Number(at));
    await waitFor(async () => (await started()).length >= 25, LOOKS);
    await fleet.workers[0]?.end('SIGKILL');
    await waitFor(async () => (await started()).length >= 70, LOOKS);
    await waitFor(() => settled(ids), LOOKS);
    const times = await started();
    // A claim's slots are reserved by the pace: within any second one second's worth and the burst, and once more a
    // burst that was reserved by a process which then stood still. Two workers that knew nothing of each other would
    // begin with three seconds' worth.
    const most = Math.max(...times.map((at) => times.filter((other) => other >= at && other < at + 1_000).length));
    expect(most).toBeLessThanOrEqual(perSecond * 2);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(
      ((70 - perSecond * 0.5) / perSecond) * 1_000 * 0.9,
    );
    // What was in flight at the kill may be unknown until the platform's notification; nothing was sent twice.
    expect(Math.max(...(await takenOf(ids)))).toBe(1);
    const [lost] = await rows(
      `select count(*)::integer as n from message_view where id = any($1) and status = 'failed'`,
      [ids],
    );
    expect(lost?.n).toBe(0);
  }, 180_000);
});
