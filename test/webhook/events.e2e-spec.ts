import { randomUUID } from 'node:crypto';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { Restoration } from '../../src/infrastructure/queue/restoration.js';
import { lowestIdSince, newId } from '../../src/common/ids.js';
import { MAX_SCANNED } from '../../src/modules/webhook/events/events.repository.js';
import { Receiver, verify } from '../faults/webhook-receiver.js';
import { envelope, notify, statusOf } from '../inbound/fixture.js';
import type { ApiClient } from '../support/api-client.js';
import { never } from '../support/never.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { insertEvents, startWebhookApp, subscriber } from './fixture.js';
import { idsOf, page, read, reader, type Page } from './event-pages.js';

const DAY_MS = 86_400_000;

let test: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  [test, receiver] = await Promise.all([startWebhookApp({ roles: ['api', 'worker', 'simulator'] }), Receiver.start()]);
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

/** Reads on to the end. Other tests of the same server may hold it back for a while. */
async function rest(api: ApiClient, after?: string, more: Record<string, string> = {}) {
  const events: Page['data'] = [];
  let next = after;
  await waitFor(
    async () => {
      const { data, ...place } = await page(api, { ...more, ...(next !== undefined && { after: next }) });
      events.push(...data);
      next = place.next;
      return place.done;
    },
    { what: 'the last event' },
  );
  return { events, next: next ?? '' };
}

/** Types that a key needs `messages:read` for. */
const OF_CONTACTS = ['contact.opt_out.updated', 'payment.updated', 'call.missed', 'call.ended'];
const ABOUT_MESSAGES = [
  'message.received',
  'message.status.updated',
  'message.standby.received',
  'message.sent_elsewhere',
  'conversation.control.updated',
  'conversation.updated',
];

describe('GET /events', () => {
  it('gives what the webhook delivers, with the same cursors, and more that it has not chosen', async () => {
    const sender = await test.sender();
    const url = receiver.url('/chosen');
    const { body } = await sender.api.request({
      method: 'PUT',
      path: '/webhook',
      body: { url, events: ['message.status.updated'] },
    });
    const delivered = () =>
      receiver.of('/chosen').map((delivery) => verify(String(body.data.secret), delivery) as Page['data'][number]);
    const { phone } = await test.openWindow(sender);
    await sender.api.post(
      '/messages',
      { connection_id: sender.connection.id, to: phone, type: 'text', text: { body: 'Hello' } },
      { headers: { 'idempotency-key': randomUUID() } },
    );
    await waitFor(() => delivered().length === 4, { what: 'four deliveries' });
    const answer = await fetch(`${test.simulatorUrl}/_simulator/inbound`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ phone_number_id: sender.connection.phoneNumberId, from: '4915112345678' }),
    });
    expect(answer.ok).toBe(true);
    const { events, next } = await waitFor(
      async () => {
        const all = await rest(sender.api);
        return all.events.length === 5 && all;
      },
      { what: 'five events' },
    );
    expect(events.map(({ type, data }) => (type === 'message.received' ? type : data.status))).toEqual([
      'accepted',
      'sent',
      'delivered',
      'read',
      'message.received',
    ]);
    const byId = new Map(delivered().map((event) => [event.id, event]));
    for (const event of events.slice(0, 4)) expect(event).toEqual(byId.get(event.id));
    // A receiver that was down after the second event.
    const after = byId.get(events[1]?.id ?? '')?.cursor ?? '';
    expect(idsOf((await rest(sender.api, after)).events)).toEqual(idsOf(events.slice(2)));
    expect(await rest(sender.api, next)).toMatchObject({ events: [] });
    const received = await rest(sender.api, undefined, { types: 'message.received' });
    expect(idsOf(received.events)).toEqual(idsOf(events.slice(4)));
    expect((await rest(sender.api, undefined, { types: 'webhook.test' })).events).toEqual([]);
  });

  it('records from the first call on, or from the first webhook; nothing before, and not less afterwards', async () => {
    const { organizationId, api, configure } = await subscriber(test);
    expect(await insertEvents(test.database, [{ organizationId, count: 2 }])).toEqual([]);
    const first = await page(api);
    expect(first.data).toEqual([]);
    const asked = await insertEvents(test.database, [{ organizationId, count: 2 }]);
    expect(idsOf((await rest(api, first.next)).events)).toEqual(asked);
    expect(idsOf((await rest(api)).events)).toEqual(asked);

    const other = await subscriber(test);
    await other.configure({ url: receiver.url('/then-gone'), active: false });
    const paused = await insertEvents(test.database, [{ organizationId: other.organizationId, count: 1 }]);
    await other.api.request({ method: 'DELETE', path: '/webhook' });
    const without = await insertEvents(test.database, [{ organizationId: other.organizationId, count: 1 }]);
    await test.app.get(Sweeps).runNow('webhook_purge');
    expect(idsOf((await rest(other.api)).events)).toEqual([...paused, ...without]);
    await configure({ url: receiver.url('/later'), active: false });
    expect(idsOf((await rest(api)).events)).toEqual(asked);
  });

  it('gives the changes of a message that are stored together in their order', async () => {
    const sender = await test.sender();
    const { next } = await page(sender.api);
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        test.factories.message({
          connection: sender.connection,
          status: 'accepted',
          recipient: `49151${1_000_000 + n}`,
        }),
      ),
    );
    const reported = ['sent', 'delivered', 'read'];
    const statuses = reported.flatMap((status) => made.map((message) => statusOf(message, status)));
    await notify(test, envelope(sender.connection, { statuses }));
    const { events } = await rest(sender.api, next);
    const toldOf = new Map(made.map(({ id }) => [id, [] as unknown[]]));
    for (const { data } of events) toldOf.get(String(data.message_id))?.push(data.status);
    expect([...toldOf.values()]).toEqual(made.map(() => reported));
  });

  it('begins now where that is asked for', async () => {
    const { organizationId, api, start } = await reader(test);
    await insertEvents(test.database, [{ organizationId, count: 3 }]);
    await rest(api, start);
    const { next } = await rest(api, 'now');
    const ids = await insertEvents(test.database, [{ organizationId, count: 2 }]);
    expect(idsOf((await rest(api, next)).events)).toEqual(ids);
  });

  it('turns pages of 1 to 250, and passes over many events of other types in bounded steps', async () => {
    const { organizationId, api, start } = await reader(test);
    const many = await insertEvents(test.database, [{ organizationId, count: MAX_SCANNED + 50 }]);
    const [rare] = await insertEvents(test.database, [{ organizationId, count: 1, type: 'message.received' }]);
    const all = await rest(api, start, { limit: '250' });
    expect(idsOf(all.events)).toEqual([...many, rare]);
    const one = await page(api, { after: start, limit: '1' });
    expect(one).toMatchObject({ data: [{ id: many[0] }], done: false });
    expect(one.next).toBe(one.data[0]?.cursor);
    const passed = await page(api, { after: start, types: 'message.received' });
    expect(passed).toMatchObject({ data: [], done: false });
    expect(idsOf((await rest(api, passed.next, { types: 'message.received' })).events)).toEqual([rare]);
  });

  it.each<[string, Record<string, string>, string]>([
    ['limit', { limit: '0' }, 'range'],
    ['limit', { limit: '251' }, 'range'],
    ['limit', { limit: 'all' }, 'type'],
    ['types', { types: 'message.gone' }, 'one_of'],
    ['types', { types: '' }, 'one_of'],
    ['after', { after: '' }, 'cursor'],
    ['after', { after: newId() }, 'cursor'],
    ['after', { after: 'x'.repeat(44) }, 'cursor'],
    ['before', { before: '2026-11-21T08:00:00.000Z' }, 'unknown_field'],
  ])('refuses %s: %j', async (field, query, rule) => {
    const { api } = await reader(test);
    const { status, body } = await read(api, query);
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(body.error.details).toEqual([{ field, rule, message: expect.any(String) }]);
  });

  it('gives nothing of another workspace, whose cursors it refuses as it refuses any text', async () => {
    const [mine, theirs] = await Promise.all([reader(test), reader(test)]);
    await insertEvents(test.database, [{ organizationId: theirs.organizationId, count: 2 }]);
    const { events, next } = await rest(theirs.api, theirs.start);
    expect((await rest(mine.api, mine.start)).events).toEqual([]);
    const refusals = await Promise.all(
      [events[0]?.cursor ?? '', next, theirs.start, 'A'.repeat(44)].map((after) => read(mine.api, { after })),
    );
    for (const { status, body } of refusals) {
      expect({ status, error: { ...body.error, request_id: '' } }).toEqual({
        status: 400,
        error: { ...refusals.at(-1)?.body.error, request_id: '' },
      });
    }
  });

  it('has events about messages only for a key that may read messages', async () => {
    const { organizationId, api, start } = await reader(test);
    await insertEvents(test.database, [{ organizationId, count: 2 }]);
    expect((await rest(api, start)).events).toHaveLength(2);
    expect((await page(api, { after: start })).omitted).toEqual([]);
    const { text } = await test.factories.apiKey({ organizationId, scopes: ['webhooks:read'] });
    const other = test.api.as(text);
    expect((await rest(other, start)).events).toEqual([]);
    const about = [...ABOUT_MESSAGES, 'media.ready', 'media.failed', ...OF_CONTACTS];
    expect((await page(other, { after: start })).omitted).toEqual(about);
    const some = await page(other, { after: start, types: 'message.received,template.status.updated' });
    expect([some.data, some.omitted]).toEqual([[], ['message.received']]);
  });

  it('has events about files, which show their names, only for a key that may read messages or files', async () => {
    const { organizationId, api, start } = await reader(test);
    for (const type of ['media.ready', 'media.failed', 'message.received', 'template.status.updated']) {
      await insertEvents(test.database, [{ organizationId, count: 1, type }]);
    }
    const readBy = async (scopes: string[]) => {
      const { text } = await test.factories.apiKey({ organizationId, scopes });
      const as = test.api.as(text);
      const { events } = await rest(as, start);
      return { types: events.map(({ type }) => type), omitted: (await page(as, { after: start })).omitted };
    };
    expect((await rest(api, start)).events).toHaveLength(4);
    expect(await readBy(['webhooks:read'])).toEqual({
      types: ['template.status.updated'],
      omitted: [...ABOUT_MESSAGES, 'media.ready', 'media.failed', ...OF_CONTACTS],
    });
    expect(await readBy(['webhooks:read', 'media:read'])).toEqual({
      types: ['media.ready', 'media.failed', 'template.status.updated'],
      omitted: [...ABOUT_MESSAGES, ...OF_CONTACTS],
    });
    expect(await readBy(['webhooks:read', 'messages:read'])).toEqual({
      types: ['media.ready', 'media.failed', 'message.received', 'template.status.updated'],
      omitted: [],
    });
  });

  it('takes a key with the scope webhooks:read', async () => {
    const { organizationId } = await subscriber(test);
    const { text } = await test.factories.apiKey({ organizationId, scopes: ['messages:read', 'webhooks:write'] });
    const { status, body } = await read(test.api.as(text));
    expect({ status, error: body.error }).toMatchObject({ status: 403, error: { required_scope: 'webhooks:read' } });
  });
});

describe('a cursor', () => {
  const expired = async (api: ApiClient, after: string, reason: string) => {
    const { status, body } = await read(api, { after });
    expect({ status, ...body.error }).toMatchObject({ status: 410, code: 'EVENT_CURSOR_EXPIRED', reason });
    expect(body.error.message).toContain('without after');
  };

  it('beyond the retention is answered 410, and a quiet reader gets a new one in time', async () => {
    const { organizationId, api, start } = await reader(test);
    const [id = ''] = await insertEvents(test.database, [{ organizationId, count: 1 }]);
    const aged = async (days: number): Promise<string> => {
      const at = `${lowestIdSince(new Date(Date.now() - days * DAY_MS)).slice(0, 13)}${id.slice(13)}`;
      await test.database.execute('update webhook_event set id = $3 where organization_id = $1 and id = any($2)', [
        organizationId,
        [id, ...(old === '' ? [] : [old])],
        at,
      ]);
      old = at;
      return (await rest(api, start)).events[0]?.cursor ?? '';
    };
    let old = '';
    const week = await aged(7);
    const quiet = await page(api, { after: week });
    expect(quiet.data).toEqual([]);
    expect(quiet.next).not.toBe(week);
    const [later] = await insertEvents(test.database, [{ organizationId, count: 1 }]);
    expect(idsOf((await rest(api, quiet.next)).events)).toEqual([later]);
    expect(idsOf((await rest(api, week)).events)).toEqual([later]);
    // A place of today stays as it is.
    const today = await rest(api, quiet.next);
    expect((await page(api, { after: today.next })).next).toBe(today.next);
    await expired(api, await aged(31), 'retention');
  });

  it('of a time in which nothing was recorded is answered 410', async () => {
    const { organizationId, api, start } = await reader(test);
    const [first] = await insertEvents(test.database, [{ organizationId, count: 1 }]);
    const { next } = await rest(api, start);
    await test.database.execute(
      `update event_recording set read_at = read_at - interval '8 days' where organization_id = $1`,
      [organizationId],
    );
    await test.app.get(Sweeps).runNow('webhook_purge');
    expect(await insertEvents(test.database, [{ organizationId, count: 1 }])).toEqual([]);
    await expired(api, next, 'not_recorded');
    // That call has begun the recording anew.
    const [again] = await insertEvents(test.database, [{ organizationId, count: 1 }]);
    await expired(api, next, 'not_recorded');
    const { events } = await rest(api);
    expect(idsOf(events)).toEqual([again]);
    expect(idsOf(events)).not.toContain(first);
    expect(idsOf((await rest(api, events[0]?.cursor)).events)).toEqual([]);
  });

  it('of a reader, or of a workspace with a webhook, keeps the recording', async () => {
    const [quiet, hooked] = await Promise.all([reader(test), subscriber(test)]);
    await hooked.configure({ url: receiver.url('/kept'), active: false });
    const organizations = [quiet.organizationId, hooked.organizationId];
    const age = (by: string) =>
      test.database.execute(
        `update event_recording set read_at = read_at - $2::interval where organization_id = any($1)`,
        [organizations, by],
      );
    await age('31 days');
    await page(quiet.api);
    await test.app.get(Sweeps).runNow('webhook_purge');
    for (const organizationId of organizations) {
      expect(await insertEvents(test.database, [{ organizationId, count: 1 }])).toHaveLength(1);
    }
  });

  it('goes on after a failover where its event is there, and is answered 410 where it is not', async () => {
    const { organizationId, api, start } = await reader(test);
    const ids = await insertEvents(test.database, [{ organizationId, count: 3 }]);
    const { events } = await rest(api, start);
    const [first = never(), second = never()] = events;
    const [identity] = await test.database.query<{ definition: string }>(
      `select pg_get_functiondef('identity_of_database'::regproc) as definition`,
    );
    await test.database.execute(
      `create or replace function identity_of_database() returns text language sql stable as $$ select 'other' $$`,
    );
    try {
      expect(idsOf((await rest(api, first.cursor)).events)).toEqual(ids.slice(1));
      // The same place has another text now: in deliveries as well.
      expect((await page(api, { after: first.cursor })).data[0]?.cursor).not.toBe(second.cursor);
      await expired(api, start, 'database_changed');
      // Also after a failover a time without a recording is a gap.
      const since = `update event_recording set since = $2::text::xid8 where organization_id = $1 returning since`;
      const begun = `select since::text from event_recording where organization_id = $1`;
      const [recording] = await test.database.query<{ since: string }>(begun, [organizationId]);
      await test.database.execute(since, [organizationId, '8000000000000000000']);
      await expired(api, first.cursor, 'not_recorded');
      await test.database.execute(since, [organizationId, recording?.since]);
      await test.database.execute('delete from webhook_event where organization_id = $1 and id = $2', [
        organizationId,
        second.id,
      ]);
      await expired(api, second.cursor, 'database_changed');
    } finally {
      await test.database.execute(identity?.definition ?? '');
    }
    // On the same database a single event that was removed is no gap.
    expect(idsOf((await rest(api, second.cursor)).events)).toEqual(ids.slice(2));
  });

  it('is good again once an operator has confirmed a database that was filled from a dump', async () => {
    const { organizationId, api, start } = await reader(test);
    const ids = await insertEvents(test.database, [{ organizationId, count: 3 }]);
    const [hidden = ''] = ids;
    // As rows of a server that had used more transaction ids.
    await test.database.execute(
      `update webhook_event set transaction_id = '9000000000000000000' where organization_id = $1`,
      [organizationId],
    );
    await test.database.execute(`update event_recording set since = '9000000000000000000' where organization_id = $1`, [
      organizationId,
    ]);
    const before = await page(api, { after: 'now' });
    expect(before).toMatchObject({ data: [], done: false });
    await test.app.get(Restoration).adopt();
    const { events } = await rest(api);
    expect(idsOf(events)).toEqual(ids);
    expect(events[0]?.id).toBe(hidden);
    expect((await rest(api, start)).events).toHaveLength(3);
    const [later] = await insertEvents(test.database, [{ organizationId, count: 1 }]);
    expect(idsOf((await rest(api, events.at(-1)?.cursor)).events)).toEqual([later]);
  });
});
