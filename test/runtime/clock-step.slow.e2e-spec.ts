import { randomUUID } from 'node:crypto';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { Receiver } from '../faults/webhook-receiver.js';
import { mobile, otpApp, setSender } from '../otp/fixture.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

describe("when the database's clock has stepped back by an hour", () => {
  let test: TestApp;
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await Receiver.start();
    test = await startTestApp({ env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' } });
  });

  afterAll(async () => {
    await test?.stop();
    await receiver?.stop();
  });

  /**
   * Every time that a sweep waits for is an hour ahead, as is the latest time that was seen. In one transaction: a sweep
   * that sees the step in between corrects what it finds, and what is moved after it stays an hour ahead.
   */
  async function stepBack(paused: string): Promise<void> {
    const { database, app } = test;
    // Before its first run there is no latest time, and so no step to see.
    await waitFor(async () => (await open('heartbeat', `name = 'clock'`)) === 1);
    const columns = new Map(app.get(Sweeps).awaitedTimes.map(({ table, column }) => [`${table} ${column}`, column]));
    await database.transaction(async () => {
      for (const [place, column] of columns) {
        const [table = ''] = place.split(' ');
        await database.execute(`update ${table} set ${column} = ${column} + interval '1 hour'`);
      }
      await database.execute(`update lane set next_slot_at = next_slot_at + interval '1 hour',
        owner = coalesce(owner, gen_random_uuid())`);
      await database.execute(`update worker set alive_until = alive_until + interval '1 hour'`);
      await database.execute(`update lane set paused_until = clock_timestamp() + interval '1 hour' where key = $1`, [
        paused,
      ]);
      await database.execute(`update rate_bucket set tokens = 0, refilled_at = refilled_at + interval '1 hour'`);
      await database.execute(`update heartbeat set beat_at = beat_at + interval '1 hour'`);
    });
  }

  async function open(table: string, condition: string): Promise<number> {
    const [row] = await test.database.query<{ many: number }>(
      `select count(*)::integer as many from ${table} where ${condition}`,
    );
    return row?.many ?? 0;
  }

  it('messages, webhooks, codes and requests go on within seconds', async () => {
    const sender = await test.sender();
    await setSender(test);
    const shop = await otpApp(test, 'live', { packages: { DE: 10 } });
    const { connection, workspace } = sender;
    await sender.api.request({ method: 'PUT', path: '/webhook', body: { url: receiver.url('/hook') } });
    // Both wait: the lane rests, and nothing may be sent to this number a second time within a minute.
    const { phone } = await test.openWindow(sender);
    const pause = `insert into lane (key, paused_until) values ($1, clock_timestamp() + interval '20 seconds')
       on conflict (key) do update set paused_until = excluded.paused_until`;
    await test.database.execute(pause, [connection.id]);
    const { body } = await sender.api.post(
      '/messages',
      { connection_id: connection.id, to: `+${phone}`, type: 'text', text: { body: 'Hello' } },
      { headers: { 'idempotency-key': randomUUID() } },
    );
    const to = mobile();
    expect((await shop.send(to)).status).toBe(202);
    const before = receiver.of('/hook').length;
    await stepBack(connection.id);

    // The longest pause, and the time between two codes, begin again.
    const { database } = test;
    const lane = `key = '${connection.id}'`;
    await waitFor(() => open('lane', `${lane} and paused_until < clock_timestamp() + interval '61 seconds'`));
    await database.execute(`update lane set paused_until = clock_timestamp() where ${lane}`);
    const ofShop = `project_id = '${shop.project.id}'`;
    await waitFor(() => open('otp_recipient', `${ofShop} and last_sent_at <= clock_timestamp()`));
    await database.execute(
      `update otp_recipient set last_sent_at = last_sent_at - interval '61 seconds' where ${ofShop}`,
    );

    await waitFor(async () => (await sender.api.get(`/messages/${body.data.id}`)).body.data?.status === 'read');
    await waitFor(() => receiver.of('/hook').length > before, { what: 'a delivery' });
    const again = await waitFor(async () => {
      const answer = await shop.send(to);
      if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
      return answer;
    });
    await shop.reaches(again.body.data.id, 'read');
    expect(
      await open('message_view', `organization_id = '${workspace.id}' and status in ('queued', 'processing')`),
    ).toBe(0);
  });

  it('a lease of a worker that has died lasts no longer than a lease', async () => {
    const sender = await test.sender();
    const { phone } = await test.openWindow(sender);
    const message = await test.factories.message({
      connection: sender.connection,
      recipient: phone,
      status: 'processing',
    });
    const ofMessage = `message_id = '${message.id}'`;
    const setLease = (until: string) =>
      test.database.execute(
        `update message_queue set lease_until = clock_timestamp() + interval '${until}' where ${ofMessage}`,
      );
    await setLease('1 hour');
    await test.database.execute(`update heartbeat set beat_at = clock_timestamp() + interval '1 hour'`);
    await waitFor(() =>
      open('message_queue', `${ofMessage} and lease_until < clock_timestamp() + interval '21 seconds'`),
    );
    await setLease('-1 second');
    await waitFor(
      async () => (await open('message_view', `id = '${message.id}' and status = 'outcome_unknown'`)) === 1,
    );
  });

  it('what was deferred before its tag was paused waits no longer than by the clock that counts', async () => {
    const { connection } = await test.sender();
    const nextAttemptAt = new Date(Date.now() + 3_600_000);
    const { id } = await test.factories.message({ connection, tag: 'paused', nextAttemptAt });
    await test.database.execute(
      `update message_queue set held_until = 'infinity', due_at = null, not_before = clock_timestamp() + interval '2 hours'
       where message_id = $1`,
      [id],
    );
    await test.database.execute(
      `update heartbeat set beat_at = clock_timestamp() + interval '1 hour' where name = 'clock'`,
    );
    await waitFor(
      async () =>
        (await open(
          'message_queue',
          `message_id = '${id}' and held_until = 'infinity' and not_before < clock_timestamp() + interval '90 minutes'`,
        )) === 1,
    );
  });

  const isCorrected = () =>
    waitFor(
      async () =>
        (await open('heartbeat', `name = 'clock' and beat_at > clock_timestamp() + interval '2 seconds'`)) === 0,
    );

  it('a tag starts at its time, and no sooner', async () => {
    const { workspace } = await test.sender();
    await waitFor(async () => (await open('heartbeat', `name = 'clock' and beat_at <= clock_timestamp()`)) === 1);
    await test.database.execute(
      `insert into message_tag (organization_id, tag, start_at, started_at) values ($1, 'later', now() + interval '1 day', null)`,
      [workspace.id],
    );
    await test.database.execute(
      `update heartbeat set beat_at = clock_timestamp() + interval '1 hour' where name = 'clock'`,
    );
    await isCorrected();
    expect(await open('message_tag', `tag = 'later' and start_at > clock_timestamp() + interval '23 hours'`)).toBe(1);
    expect(await test.app.get(Sweeps).runNow('tag_starts')).toBe(0);
  });

  /** The clock steps back; `work` is done in the transaction for which the correction waits after it has seen the step. */
  async function whileCorrecting(connectionId: string, work: () => Promise<unknown>): Promise<void> {
    const { database } = test;
    const setMark = `insert into lane (key, low_at) values ($1, now()) on conflict (key) do update set low_at = excluded.low_at`;
    await database.execute(setMark, [connectionId]);
    const isCorrecting = `datname = current_database() and wait_event_type = 'Lock' and query like 'update lane set low_at%'`;
    await database.transaction(async () => {
      await database.execute('select from lane where key = $1 for update', [connectionId]);
      await database.detached(async () => {
        await database.execute(
          `update heartbeat set beat_at = clock_timestamp() + interval '1 hour' where name = 'clock'`,
        );
        await waitFor(async () => (await open('pg_stat_activity', isCorrecting)) > 0);
      });
      await work();
    });
  }

  it('a lease that is given before that is corrected keeps its length', async () => {
    const { connection } = await test.sender();
    await isCorrected();
    const { id } = await test.factories.message({ connection, status: 'processing' });
    await whileCorrecting(connection.id, () =>
      test.database.execute(
        `update message_queue set lease_until = clock_timestamp() + interval '20 seconds' where message_id = $1`,
        [id],
      ),
    );
    await isCorrected();
    expect(await open('message_queue', `message_id = '${id}' and lease_until > clock_timestamp()`)).toBe(1);
  });

  it('a retry that is still ahead is not made earlier by a correction that is made again after it was broken off', async () => {
    await test.database.execute(
      `insert into webhook_queue (event_id, organization_id, endpoint_id, due_at, attempt_count, tries)
       values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), clock_timestamp() + interval '9 hours', 8, 8)`,
    );
    for (let times = 0; times < 3; times++) {
      await isCorrected();
      await test.database.execute(
        `update heartbeat set beat_at = clock_timestamp() + interval '1 hour' where name = 'clock'`,
      );
    }
    await isCorrected();
    expect(await open('webhook_queue', `tries = 8 and due_at > clock_timestamp() + interval '8 hours'`)).toBe(1);
  });

  it('and steps back again while that is corrected, both steps are followed', async () => {
    const { database } = test;
    const sender = await test.sender();
    await isCorrected();
    const message = await test.factories.message({
      connection: sender.connection,
      nextAttemptAt: new Date(Date.now() + 3_600_000),
    });
    await whileCorrecting(sender.connection.id, async () => {
      await database.execute(`update heartbeat set beat_at = beat_at + interval '1 hour' where name = 'clock'`);
      await database.execute(`update message_queue set due_at = due_at + interval '1 hour' where message_id = $1`, [
        message.id,
      ]);
    });
    await waitFor(
      async () => (await open('message_view', `id = '${message.id}' and status in ('queued', 'processing')`)) === 0,
    );
  });

  it('what was deferred since by the clock that counts keeps its time', async () => {
    const sender = await test.sender();
    await waitFor(async () => (await open('heartbeat', `name = 'clock' and beat_at > clock_timestamp()`)) === 0);
    const message = await test.factories.message({
      connection: sender.connection,
      nextAttemptAt: new Date(Date.now() + 3_600_000),
    });
    expect(await test.app.get(Sweeps).runNow('clock')).toBe(0);
    expect(
      await open(
        'message_view',
        `id = '${message.id}' and next_attempt_at > clock_timestamp() + interval '59 minutes'`,
      ),
    ).toBe(1);
  });
});
