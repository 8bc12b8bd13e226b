import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { expectFiltered, filteredJournal, USER_ID } from './filtered-journal.js';
import { sendingWorkspace, connectionAtSimulator, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api', 'simulator'] });
  workspace = await sendingWorkspace(test);
});

afterAll(() => test.stop());

interface Item {
  id: string;
  created_at: string;
  status: string;
  connection_id: string;
  to: string;
}

async function walk(api: SendingWorkspace['api'], query: string): Promise<Item[]> {
  const items: Item[] = [];
  let cursor = '';
  for (let pages = 0; pages < 200; pages++) {
    const response = await api.get(`/messages?${query}${cursor}`);
    expect(response.status).toBe(200);
    items.push(...(response.body.data as Item[]));
    const { next_before: before, next_before_id: beforeId } = response.body.pagination;
    if (before === null) return items;
    cursor = `&before=${encodeURIComponent(before)}&before_id=${beforeId}`;
  }
  throw new Error('the journal does not end');
}

/** Seven share a millisecond. */
async function insertSent({ organizationId, connection }: SendingWorkspace, count: number): Promise<void> {
  await test.database.execute(
    `with made as (
       insert into message (id, organization_id, connection_id, direction, type, recipient, created_at)
       select gen_random_uuid(), $1, $2, 'outbound', 'text', '15550001',
         timestamptz '2026-01-01 00:00:00.123+00' + (n / 7) * interval '1 ms'
       from generate_series(1, $3::integer) as n returning *
     )
     insert into message_state (message_id, organization_id, connection_id, created_at, status, event_count, queued_at,
       attempt_number)
     select id, organization_id, connection_id, created_at, 'sent', 1, created_at, 1 from made`,
    [organizationId, connection.id, count],
  );
}

describe('the journal', () => {
  it('is empty at first', async () => {
    const { body } = await workspace.api.get('/messages');
    expect(body).toEqual({ data: [], pagination: { next_before: null, next_before_id: null } });
  });

  it('gives every message once, newest first, also where many share a millisecond', async () => {
    const world = await sendingWorkspace(test);
    await insertSent(world, 30);
    for (const limit of [1, 7, 15, 100]) {
      const items = await walk(world.api, `limit=${limit}`);
      expect(new Set(items.map((item) => item.id)).size).toBe(30);
      expect(items).toHaveLength(30);
      const keys = items.map((item) => `${item.created_at} ${item.id}`);
      expect(keys).toEqual(keys.toSorted().toReversed());
    }
  });

  it('gives 50 by default', async () => {
    const world = await sendingWorkspace(test);
    await insertSent(world, 55);
    expect((await world.api.get('/messages')).body.data).toHaveLength(50);
  });

  it('filters by connection, state, client id and recipient, and by all together', async () => {
    const world = await sendingWorkspace(test);
    const second = await connectionAtSimulator(test, world.organizationId);
    const rows: Item[] = [];
    for (const connection of [world.connection, second]) {
      for (const status of ['queued', 'sent', 'failed', 'read', 'outcome_unknown'] as const) {
        for (const recipient of ['15550100111', '15550100222']) {
          const message = await test.factories.message({
            connection,
            status,
            recipient,
            clientMessageId: `c-${status}`,
          });
          rows.push({ id: message.id, status, connection_id: connection.id, to: recipient, created_at: '' });
        }
      }
    }
    const inbound = await test.factories.message({ connection: second, status: 'received' });
    const expectIds = async (query: string, match: (row: Item) => boolean): Promise<void> => {
      const found = await walk(world.api, `limit=3&${query}`);
      expect(found.map((item) => item.id).sort()).toEqual(
        rows
          .filter(match)
          .map((row) => row.id)
          .sort(),
      );
    };
    await expectIds('status=sent', (row) => row.status === 'sent');
    await expectIds(
      `connection_id=${second.id}&status=failed`,
      (row) => row.connection_id === second.id && row.status === 'failed',
    );
    await expectIds('client_message_id=c-read', (row) => row.status === 'read');
    await expectIds('to=%2B15550100111', (row) => row.to === '15550100111');
    await expectIds('to=15550100222&status=queued', (row) => row.to === '15550100222' && row.status === 'queued');
    await expectIds(
      `to=15550100222&status=queued&connection_id=${second.id}&client_message_id=c-queued`,
      (row) => row.to === '15550100222' && row.status === 'queued' && row.connection_id === second.id,
    );
    const received = await walk(world.api, 'status=received');
    expect(received.map((item) => item.id)).toEqual([inbound.id]);
    const ofSecond = await walk(world.api, `connection_id=${second.id}`);
    expect(ofSecond).toHaveLength(11);
  });

  it('filters by failure category and by time, with other filters and over many pages', async () => {
    const world = await sendingWorkspace(test);
    const { connection } = world;
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
    const rows: { id: string; to: string; category: string | null; minute: number }[] = [];
    for (let minute = 0; minute < 12; minute++) {
      const category = [null, 'rate_limited', 'recipient_unreachable'][minute % 3] ?? null;
      const to = minute % 2 === 0 ? '15550100111' : '15550100222';
      const { id } = await test.factories.message({
        connection,
        recipient: to,
        createdAt: at(minute),
        status: category === null ? 'sent' : 'failed',
        ...(category !== null && { failureCategory: category }),
      });
      rows.push({ id, to, category, minute });
    }
    const expectIds = async (query: string, match: (row: (typeof rows)[number]) => boolean): Promise<void> => {
      const found = await walk(world.api, `limit=2&${query}`);
      expect(found.map((item) => item.id)).toEqual(
        rows
          .filter(match)
          .map(({ id }) => id)
          .toReversed(),
      );
    };
    const limited = (row: (typeof rows)[number]) => row.category === 'rate_limited';
    await expectIds('failure_category=rate_limited', limited);
    await expectIds('failure_category=rate_limited&status=failed', limited);
    await expectIds('failure_category=rate_limited&status=sent', () => false);
    await expectIds('failure_category=rate_limited&direction=inbound', () => false);
    await expectIds('failure_category=rate_limited&to=15550100111', (row) => limited(row) && row.to === '15550100111');
    await expectIds(`failure_category=rate_limited&connection_id=${connection.id}`, limited);
    const times = `since=${at(3).toISOString()}&until=${at(8).toISOString()}`;
    await expectIds(times, ({ minute }) => minute >= 3 && minute < 8);
    await expectIds(
      `failure_category=rate_limited&${times}`,
      (row) => limited(row) && row.minute >= 3 && row.minute < 8,
    );
  });

  it('filters exactly by each value alone, and by one of each', async () => {
    const journal = await filteredJournal(test);
    const { world, rows, values } = journal;
    for (const [name, options] of Object.entries(values)) {
      for (const value of options) await expectFiltered(journal, { [name]: value });
    }
    await expectFiltered(journal, Object.fromEntries(Object.entries(values).map(([name, [value]]) => [name, value])));
    const foreign = await workspace.api.get(`/messages?conversation_id=${rows[0]?.conversation_id}`);
    expect(foreign.body.data).toEqual([]);
    const paged = await walk(world.api, `limit=3&recipient=${USER_ID}&direction=outbound`);
    expect(paged).toHaveLength(20);
  });

  it('has the messages of every number, however many there are', async () => {
    const world = await sendingWorkspace(test);
    await test.database.execute(
      `insert into connection (id, organization_id, phone_number_id, waba_id, phone_number, status, token_ciphertext)
       select gen_random_uuid(), $1, 'many-' || n, 'many', '15' || lpad(n::text, 9, '0'), 'connected', '\\x00'
       from generate_series(1, 1100) as n`,
      [world.organizationId],
    );
    const latest = await connectionAtSimulator(test, world.organizationId);
    const { id } = await test.factories.message({ connection: latest, status: 'failed' });
    const found = await walk(world.api, 'status=failed');
    expect(found.map((item) => item.id)).toEqual([id]);
    const outbound = await walk(world.api, 'direction=outbound');
    expect(outbound.map((item) => item.id)).toEqual([id]);
  });

  it('takes before alone as a bound in time', async () => {
    const world = await sendingWorkspace(test);
    const to = await world.contact();
    const first = await world.sendText(to);
    const { created_at: bound } = await world.message(first);
    await world.sendText(to);
    const response = await world.api.get(`/messages?before=${encodeURIComponent(bound as string)}`);
    expect(response.body.data).toEqual([]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=abc', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['before=yesterday', 'before'],
    ['before=2026-13-45T00:00:00Z', 'before'],
    [`before_id=${newId()}`, 'before_id'],
    ['before_id=x&before=2026-01-01T00:00:00Z', 'before_id'],
    ['connection_id=x', 'connection_id'],
    ['status=unheard', 'status'],
    // The specification leaves this state out of the filter.
    ['status=accepted', 'status'],
    ['to=abc', 'to'],
    ['client_message_id=a%00b', 'client_message_id'],
    ['before=2026-02-30T00:00:00Z', 'before'],
    ['direction=sideways', 'direction'],
    ['conversation_id=x', 'conversation_id'],
    ['from=abc', 'from'],
    ['recipient=49123', 'recipient'],
    ['colour=red', 'colour'],
    ['limitt=5', 'limitt'],
    ['contact=15550100111', 'contact'],
  ])('answers 400 for %s, naming the parameter', async (query, field) => {
    const response = await workspace.api.get(`/messages?${query}`);
    expect([response.status, response.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(response.body.error.details?.map((detail) => detail.field)).toContain(field);
  });

  it('names the parameters that there are where it does not know one', async () => {
    const response = await workspace.api.get('/messages?colour=red');
    expect(response.body.error.details).toEqual([
      {
        field: 'colour',
        rule: 'unknown_field',
        message:
          'colour is not known here; allowed: connection_id, conversation_id, direction, source, status, statuses, failure_category, since, until, client_message_id, tag, media_object_id, ' +
          'meta_message_id, to, from, recipient, limit, before, before_id.',
      },
    ]);
  });

  it.each([
    ['before=2026-11-21T08:00:00+01:00', 'Escape the + of the zone as %2B.'],
    ['to=+4915112345678', 'the + written as %2B or left out'],
  ])('says how to escape the + of %s', async (query, advice) => {
    const response = await workspace.api.get(`/messages?${query}`);
    expect(response.status).toBe(400);
    expect(response.body.error.details?.[0]?.message).toContain(advice);
  });
});

describe('two workspaces', () => {
  it('see nothing of each other: a foreign id and an unknown one answer alike', async () => {
    const stranger = await sendingWorkspace(test);
    const theirs = await stranger.sendText(await stranger.contact());
    const normal = (answer: { status: number; body: { error: object } }) => ({
      status: answer.status,
      error: { ...answer.body.error, request_id: '' },
    });
    const routes: ((id: string) => Promise<{ status: number; body: { error: object } }>)[] = [
      (id) => workspace.api.get(`/messages/${id}`),
      (id) => workspace.api.post(`/messages/${id}/retry`),
      (id) => workspace.api.post(`/messages/${id}/retry`, { confirm_outcome_unknown: true }),
    ];
    for (const call of routes) {
      const [foreign, unknown, malformed] = [await call(theirs), await call(newId()), await call('not-an-id')];
      expect(foreign.status).toBe(404);
      expect(normal(foreign)).toEqual(normal(unknown));
      expect(normal(malformed)).toEqual(normal(unknown));
    }
    const [foreign, unknown] = [stranger.connection.id, newId()].map((id) =>
      workspace.api.get(`/messages?connection_id=${id}`),
    );
    expect(normal(await (foreign as Promise<never>))).toEqual(normal(await (unknown as Promise<never>)));
    expect((await workspace.api.get('/messages')).body.data).not.toContainEqual(
      expect.objectContaining({ id: theirs }),
    );
  });
});
