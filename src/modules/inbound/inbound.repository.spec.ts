import { claimRequest } from '../../../test/support/claim-request.js';
import { grantLane, livingOwner } from '../../../test/support/grant-lane.js';
import { newId } from '../../common/ids.js';
import { LaneRepository } from '../../infrastructure/queue/lane.repository.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { INBOUND_LANE, InboundRepository, type DueNotification } from './inbound.repository.js';
import type { NotifiedPerson } from './notified-person.js';

const MEBIBYTE = 1_024 * 1_024;

let opened: OpenTestDatabase;
let notifications: InboundRepository;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  notifications = new InboundRepository(opened.database);
  await new LaneRepository(opened.database).ensure(INBOUND_LANE);
});

afterAll(() => opened.close());

beforeEach(() => opened.database.execute('delete from platform_notification'));

async function store(
  body: Buffer | string = '{}',
  state: 'stored' | 'applied' | 'unreadable' = 'stored',
  id = newId(),
): Promise<string> {
  await notifications.store({ id, body: Buffer.from(body), state, unread: null, person: null });
  return id;
}

/** Turns come in the order of the ids given. */
async function letBecomeDue(...ids: string[]): Promise<void> {
  await opened.database.execute(
    `update notification_queue q set due_at = now() - interval '10 seconds' + k.n * interval '1 millisecond'
     from unnest($1::uuid[]) with ordinality as k (id, n) where q.notification_id = k.id`,
    [ids],
  );
}

const OWNER = newId();

async function claim(limit: number, maxBytes = MEBIBYTE): Promise<DueNotification[]> {
  return (await notifications.claim(claimRequest(INBOUND_LANE, OWNER, limit), maxBytes)).items;
}

async function queued(): Promise<string[]> {
  const rows = await opened.database.query<{ id: string }>('select notification_id as id from notification_queue');
  return rows.map(({ id }) => id);
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

describe('the queue', () => {
  it('has what is stored, until it is settled', async () => {
    const [first, second] = [await store(), await store()];
    await store('{}', 'applied');
    expect((await queued()).sort()).toEqual([first, second].sort());
    await store('{}', 'applied', first);
    expect(await queued()).toEqual([second]);
    await opened.database.execute(`update platform_notification set state = 'stored' where id = $1`, [first]);
    expect((await queued()).sort()).toEqual([first, second].sort());
  });

  it('has nothing that another transaction settles while it is stored', async () => {
    const id = newId();
    const client = await opened.database.pool.connect();
    try {
      await client.query('begin');
      await client.query(`insert into platform_notification (id, body) values ($1, '{}')`, [id]);
      const settled = store('{}', 'applied', id);
      await waitFor(
        async () => {
          const waiting = await client.query(
            'select 1 from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))',
          );
          return waiting.rowCount !== 0;
        },
        { what: 'the other transaction to wait' },
      );
      await client.query('commit');
      await settled;
    } finally {
      client.release();
    }
    expect([await states(), await queued()]).toEqual([{ [id]: 'applied' }, []]);
  });
});

describe('a claim', () => {
  it('takes what is due, oldest turn first, and leaves the rest', async () => {
    const [first, second, third] = [await store('1'), await store('2'), await store('3')];
    const young = await store('young');
    // Its first turn comes in seconds, and a slow machine takes seconds.
    await opened.database.execute(
      `update notification_queue set due_at = due_at + interval '1 hour' where notification_id = $1`,
      [young],
    );
    await letBecomeDue(third, first, second);
    expect((await claim(2)).map((due) => due.body.toString()).sort()).toEqual(['1', '3']);
    expect((await claim(2)).map((due) => due.body.toString())).toEqual(['2']);
    expect(await claim(2)).toEqual([]);
  });

  it('takes few large bodies at a time, and one at least', async () => {
    const ids = [await store(Buffer.alloc(2 * MEBIBYTE)), await store(Buffer.alloc(MEBIBYTE)), await store('3')];
    await letBecomeDue(...ids);
    const sizes = async () => (await claim(10)).map((due) => due.body.length);
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
      await client.query('select 1 from notification_queue where notification_id = any($1) for update', [
        ids.slice(0, 4),
      ]);
      expect(new Set((await claim(10)).map((due) => due.id))).toEqual(new Set(ids.slice(4)));
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  it('takes none where the bodies under way are as many as may be', async () => {
    await letBecomeDue(await store());
    expect(await claim(1, 0)).toEqual([]);
    expect(await claim(1, 1)).toHaveLength(1);
  });

  it('leaves what it took alone until the next try, which comes later every time', async () => {
    const id = await store();
    const gaps: number[] = [];
    for (let tries = 1; tries <= 5; tries++) {
      await letBecomeDue(id);
      gaps.push(...(await claim(1)).map(({ againMs }) => againMs));
      expect(await claim(1)).toEqual([]);
    }
    expect(gaps).toEqual([20_000, 80_000, 320_000, 1_280_000, 3_600_000]);
  });

  it('takes nothing where another process holds the lane', async () => {
    await letBecomeDue(await store());
    await grantLane(opened.database, claimRequest(INBOUND_LANE, (await livingOwner(opened.database)).id, 0));
    const request = claimRequest(INBOUND_LANE, newId(), 10);
    expect(await notifications.claim(request, MEBIBYTE)).toEqual({ grant: null, items: [] });
    await opened.database.execute('update lane set owner = null where key = $1', [INBOUND_LANE]);
  });

  it('passes over what is settled', async () => {
    const [applied, unreadable] = [await store(), await store('{', 'unreadable')];
    await letBecomeDue(applied, unreadable);
    await store('{}', 'applied', applied);
    expect(await claim(10)).toEqual([]);
  });

  it('says how often it was tried and whether a day has passed', async () => {
    const id = await store();
    await letBecomeDue(id);
    expect(await claim(1)).toEqual([expect.objectContaining({ id, tries: 1, expired: false })]);
    await letBecomeDue(id);
    await opened.database.execute(`update platform_notification set received_at = now() - interval '25 hours'`);
    expect(await claim(1)).toEqual([expect.objectContaining({ id, tries: 2, expired: true })]);
  });
});

describe('findOf', () => {
  const whose = {
    organizationId: OWNER,
    numbers: ['525512345678', '5215512345678'],
    userIds: ['MX.1'],
    conversationIds: [],
  };

  async function storeOf(person: NotifiedPerson | null, body: string): Promise<string> {
    const id = newId();
    await notifications.store({ id, body: Buffer.from(body), state: 'applied', unread: null, person });
    return id;
  }

  it('finds what names the person alone by either name, and reads what names several', async () => {
    const byNumber = await storeOf({ number: '525512345678', userId: null }, 'of 5215512345678');
    const byUserId = await storeOf({ number: null, userId: 'MX.1' }, 'of MX.1');
    const several = await storeOf(null, 'of 525512345678 and 4915550001111');
    await storeOf({ number: '4915550001111', userId: 'DE.1' }, 'says 525512345678');
    await storeOf(null, 'of 4915550001111');
    expect(await notifications.findOf(whose, 'named', null)).toEqual({ ids: [byNumber, byUserId], cursor: null });
    expect(await notifications.findOf(whose, 'named', byNumber)).toEqual({ ids: [byUserId], cursor: null });
    expect(await notifications.findOf(whose, 'unnamed', null)).toEqual({ ids: [several], cursor: null });
  });

  it('leaves what is not applied yet', async () => {
    const person = { number: '525512345678', userId: null };
    const body = Buffer.from('of 525512345678');
    await notifications.store({ id: newId(), body, state: 'stored', unread: null, person });
    expect(await notifications.findOf(whose, 'named', null)).toEqual({ ids: [], cursor: null });
    expect(await notifications.countStored(whose)).toBe(1);
  });
});
