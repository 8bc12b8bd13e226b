import { newId } from '../../src/common/ids.js';
import { ReplaysRepository } from '../../src/modules/webhook/replay/replays.repository.js';
import { EVENT_TYPES } from '../../src/modules/webhook/webhook.types.js';
import { Receiver } from '../faults/webhook-receiver.js';
import type { TestApp } from '../support/test-app.js';
import { rowsRead } from '../support/rows-read.js';
import { waitFor } from '../support/wait-for.js';
import { insertPast, startWebhookApp, subscriber } from './fixture.js';
import { ago, ended, readReplay, start } from './replays.js';

let test: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  [test, receiver] = await Promise.all([startWebhookApp(), Receiver.start()]);
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

describe('POST /webhook/replay', () => {
  it('goes on beside a hundred older replays whose receivers take nothing', async () => {
    const { api, configure, organizationId } = await subscriber(test);
    await configure({ url: receiver.url('/behind-others') });
    const [id = ''] = await insertPast(test.database, organizationId, { count: 1, outcome: 'exhausted' });
    const stuck = await Promise.all(Array.from({ length: 100 }, () => subscriber(test)));
    // One after the other: a hundred at once wait for the few connections of a test's pool.
    for (const each of stuck) await each.configure({ url: receiver.url('/stuck') });
    const endpoints = `select id from webhook_endpoint where organization_id = any($1::uuid[])`;
    const ids = stuck.map((each) => each.organizationId);
    // Each has as many due events as may be ahead, which its hanging receiver does not let go.
    await test.database.execute(
      `insert into webhook_queue (event_id, organization_id, endpoint_id, due_at)
       select uuid_v7(), organization_id, id, clock_timestamp() - interval '1 minute' from webhook_endpoint, generate_series(1, 20) where organization_id = any($1::uuid[])`,
      [ids],
    );
    const held = await test.database.pool.connect();
    try {
      await held.query('begin');
      await held.query(`select from webhook_queue where endpoint_id in (${endpoints}) for update`, [ids]);
      await test.database.execute(
        `with made as (
           insert into webhook_replay (id, organization_id, endpoint_id, only_failed, total)
           select overlay(uuid_v7()::text placing '00000000' from 1 for 8)::uuid, organization_id, id, true, 1
           from webhook_endpoint where organization_id = any($1::uuid[])
           returning id, organization_id
         )
         insert into webhook_replay_event (replay_id, organization_id, event_id)
         select id, organization_id, uuid_v7() from made`,
        [ids],
      );
      await ended(api, (await start(api, { since: ago(600) })).id);
      await waitFor(() => receiver.of(id).length === 1);
    } finally {
      await held.query('rollback');
      held.release();
      await test.database.execute(`delete from webhook_queue where organization_id = any($1::uuid[])`, [ids]);
      await test.database.execute(`delete from webhook_replay where organization_id = any($1::uuid[])`, [ids]);
    }
  });

  it('refuses more than it may have, and stores nothing of it', async () => {
    const { api, configure, organizationId } = await subscriber(test);
    await configure({ url: receiver.url('/too-many'), active: false });
    // The planner does not know of the workspace, and takes it for small.
    await test.database.execute('analyze webhook_event, webhook_delivery');
    await insertPast(test.database, organizationId, { count: 105_000, outcome: 'exhausted' });
    // An event that is gone counts while its attempts are kept: none is looked up where they are too many.
    const deleteEvents = async (count: number) => {
      const found = await test.database.query<{ id: string }>(
        'select id from webhook_event where organization_id = $1 limit $2',
        [organizationId, count],
      );
      const ids = [found.map(({ id }) => id)];
      await test.database.execute('delete from webhook_event where id = any($1::uuid[])', ids);
      await test.database.execute('delete from webhook_delivery where event_id = any($1::uuid[])', ids);
    };
    // What is too much already is not counted to its end.
    const choice = { since: new Date(ago(600)), until: new Date(), types: EVENT_TYPES, onlyFailed: true };
    const replays = test.app.get(ReplaysRepository);
    const read = await rowsRead(test.database, 'webhook_delivery', async () =>
      expect(await replays.start(organizationId, newId(), choice)).toEqual({ id: null, tooMany: true }),
    );
    expect(read).toBeGreaterThan(100_000);
    expect(read).toBeLessThanOrEqual(100_001);
    const lookedUp = await rowsRead(test.database, 'webhook_event', () =>
      replays.start(organizationId, newId(), choice),
    );
    expect(lookedUp).toBe(0);
    await deleteEvents(4_999);
    const { status, body } = await api.post('/webhook/replay', { since: ago(600) });
    expect([status, body.error.code, body.error.limit]).toEqual([422, 'WEBHOOK_REPLAY_TOO_LARGE', 100_000]);
    const rows = await test.database.query('select 1 from webhook_replay_event where organization_id = $1 limit 1', [
      organizationId,
    ]);
    expect(rows).toEqual([]);
    // A refusal is dear: the next one is not looked for at once.
    const again = await rowsRead(test.database, 'webhook_delivery', async () => {
      const { status, body, headers } = await api.post('/webhook/replay', { since: ago(600) });
      expect([status, body.error.code, body.error.scope]).toEqual([429, 'RATE_LIMITED', 'webhook_replay']);
      expect(body.error.retry_after_seconds).toBeGreaterThan(0);
      expect(headers.get('retry-after')).toBe(String(body.error.retry_after_seconds));
    });
    expect(again).toBe(0);
    await deleteEvents(1);
    const id = newId();
    expect(await replays.start(organizationId, id, choice)).toEqual({ id, tooMany: false });
    expect(await readReplay(api, id)).toMatchObject({ total: 100_000, done: 0, status: 'paused' });
  });
});
