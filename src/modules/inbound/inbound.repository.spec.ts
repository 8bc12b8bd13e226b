import { newId } from '../../common/ids.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { InboundRepository } from './inbound.repository.js';

const MEBIBYTE = 1_024 * 1_024;

let opened: OpenTestDatabase;
let notifications: InboundRepository;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  notifications = new InboundRepository(opened.database);
});

afterAll(() => opened.close());

beforeEach(() => opened.database.execute('delete from platform_notification'));

async function store(
  body: Buffer | string = '{}',
  state: 'stored' | 'applied' | 'unreadable' = 'stored',
  id = newId(),
): Promise<string> {
  await notifications.store({ id, body: Buffer.from(body), state, unread: null });
  return id;
}

/** Turns come in the order of the ids given. */
async function letBecomeDue(...ids: string[]): Promise<void> {
  await opened.database.execute(
    `update platform_notification n set next_try_at = now() - interval '10 seconds' + k.n * interval '1 millisecond'
     from unnest($1::uuid[]) with ordinality as k (id, n) where n.id = k.id`,
    [ids],
  );
}

async function states(): Promise<Record<string, string>> {
  const rows = await opened.database.query<{ id: string; state: string }>(
    'select id, state from platform_notification',
  );
  return Object.fromEntries(rows.map((row) => [row.id, row.state]));
}

describe('store', () => {
  it('keeps the very bytes, whatever they are, alone or in a batch', async () => {
    const bodies = [
      Buffer.from([0, 255, 92, 34, 39, 10, 13, 92, 120]),
      Buffer.from('{"a":"\\u0000 \\\\x \'"}'),
      Buffer.alloc(0),
      Buffer.alloc(200_000, 0x5c),
    ];
    const ids = await Promise.all(bodies.map((body) => store(body)));
    const rows = await opened.database.query<{ id: string; body: Buffer }>(
      'select id, body from platform_notification',
    );
    const stored = new Map(rows.map((row) => [row.id, row.body]));
    expect(ids.map((id) => stored.get(id))).toEqual(bodies);
  });

  it('changes the state of what is stored, and nothing that is settled', async () => {
    const [applied, settled, other] = [await store(), await store('{', 'unreadable'), await store()];
    await Promise.all([store('{}', 'applied', applied), store('{', 'applied', settled)]);
    await Promise.all([store('{}', 'stored', applied), store('{}', 'stored', other)]);
    expect(await states()).toEqual({ [applied]: 'applied', [settled]: 'unreadable', [other]: 'stored' });
  });
});

describe('claimDue', () => {
  it('takes what is due, oldest turn first, and leaves the rest', async () => {
    const [first, second, third] = [await store('1'), await store('2'), await store('3')];
    const young = await store('young');
    // Its first turn comes in seconds, and a slow machine takes seconds.
    await opened.database.execute(
      `update platform_notification set next_try_at = next_try_at + interval '1 hour' where id = $1`,
      [young],
    );
    await letBecomeDue(third, first, second);
    expect((await notifications.claimDue(2, MEBIBYTE)).map((due) => due.body.toString()).sort()).toEqual(['1', '3']);
    expect((await notifications.claimDue(2, MEBIBYTE)).map((due) => due.body.toString())).toEqual(['2']);
    expect(await notifications.claimDue(2, MEBIBYTE)).toEqual([]);
  });

  it('takes few large bodies at a time, and one at least', async () => {
    const ids = [await store(Buffer.alloc(2 * MEBIBYTE)), await store(Buffer.alloc(MEBIBYTE)), await store('3')];
    await letBecomeDue(...ids);
    const sizes = async () => (await notifications.claimDue(10, MEBIBYTE)).map((due) => due.body.length);
    expect(await sizes()).toEqual([2 * MEBIBYTE]);
    expect(await sizes()).toEqual([MEBIBYTE]);
    expect(await sizes()).toEqual([1]);
  });

  it('gives two concurrent claims different notifications, and neither waits', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => store()));
    await letBecomeDue(...ids);
    const client = await opened.database.pool.connect();
    try {
      await client.query('begin');
      await client.query('select 1 from platform_notification where id = any($1) for update', [ids.slice(0, 4)]);
      expect(new Set((await notifications.claimDue(10, MEBIBYTE)).map((due) => due.id))).toEqual(new Set(ids.slice(4)));
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  it('passes over what is settled', async () => {
    const [applied, unreadable] = [await store(), await store('{', 'unreadable')];
    await letBecomeDue(applied, unreadable);
    await store('{}', 'applied', applied);
    expect(await notifications.claimDue(10, MEBIBYTE)).toEqual([]);
  });

  it('says how often it was tried and whether a day has passed', async () => {
    const id = await store();
    await letBecomeDue(id);
    expect(await notifications.claimDue(1, MEBIBYTE)).toEqual([
      expect.objectContaining({ id, tries: 1, expired: false }),
    ]);
    await letBecomeDue(id);
    await opened.database.execute(`update platform_notification set received_at = now() - interval '25 hours'`);
    expect(await notifications.claimDue(1, MEBIBYTE)).toEqual([
      expect.objectContaining({ id, tries: 2, expired: true }),
    ]);
  });
});
