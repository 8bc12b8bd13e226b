import { factsOf } from '../../../../test/support/facts.js';
import { newId } from '../../../common/ids.js';
import { Factories } from '../../../../test/support/factories.js';
import { costOf, rowsRead } from '../../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { MessagesRepository } from '../messages.repository.js';
import { type JournalQuery, MAX_SCANNED } from './journal-page.js';
import { MESSAGE_STATUSES } from '../../message-state/message-state.types.js';

let test: OpenTestDatabase;
let factories: Factories;
let journal: MessagesRepository;

beforeAll(async () => {
  test = await openTestDatabase();
  factories = new Factories(test.database);
  journal = new MessagesRepository(test.database, factsOf(test.database));
});

afterAll(() => test.close());

async function newConnection(): Promise<{ id: string; organizationId: string }> {
  const { id: organizationId } = await factories.workspace();
  return factories.connection({ organizationId });
}

const FEW = 20;
const MANY = 4_000;

/**
 * Writes `count` messages of one contact, all `common`, but every hundredth in one of the states in turn, received ones
 * among them.
 */
async function fill(
  connection: { id: string; organizationId: string },
  count: number,
  common: string,
): Promise<string> {
  const conversation = await factories.conversation({ connection, phone: '4915100' });
  await test.database.execute(
    `with given as (
       select gen_random_uuid() as id,
         case when n % 100 = 0 then ($4::text[])[1 + (n / 100) % cardinality($4::text[])] else $5 end as status,
         date_trunc('milliseconds', now()) - n * interval '1 second' as created_at
       from generate_series(1, $6::integer) as n
     ), made as (
       insert into message (id, organization_id, connection_id, conversation_id, direction, type, recipient, sender,
         client_message_id, created_at)
       select id, $1, $2, $3, case status when 'received' then 'inbound' else 'outbound' end, 'text', '4915100', '4930',
         'same', created_at
       from given
     ), waiting as (
       insert into message_queue (connection_id, created_at, message_id, organization_id, conversation_id, recipient,
         queued_at, claimed_at, lease_until, attempt_id, attempt_number, expires_at)
       select $2, created_at, id, $1, $3, '4915100', created_at, case when status = 'processing' then created_at end,
         case when status = 'processing' then created_at end, case when status = 'processing' then id end, 0,
         now() + interval '1 day'
       from given where status in ('queued', 'processing')
     )
     insert into message_state (message_id, organization_id, connection_id, conversation_id, created_at, status,
       event_count, queued_at, attempt_number)
     select id, $1, $2, $3, created_at, case when status = 'processing' then 'queued' else status end, 1, created_at, 1
     from given where status <> 'received'`,
    [connection.organizationId, connection.id, conversation.id, MESSAGE_STATUSES, common, count],
  );
  return conversation.id;
}

describe('a page of the journal', () => {
  describe.each(['read', 'queued', 'received'])('where almost all messages are %s', (common) => {
    let connection: { id: string; organizationId: string };
    let conversationId: string;

    beforeAll(async () => {
      connection = await newConnection();
      conversationId = await fill(connection, MANY, common);
      await test.database.execute('analyze message, message_queue, message_state');
    });

    const filters = (): Partial<JournalQuery>[] => [
      {},
      { direction: 'outbound' },
      { direction: 'inbound' },
      ...MESSAGE_STATUSES.map((status) => ({ status })),
    ];

    it('reads few rows, whatever it is filtered by', async () => {
      const read: Record<string, number> = {};
      for (const filter of filters()) {
        for (const place of [{}, { connectionId: connection.id }, { conversationId }]) {
          const wanted = { ...filter, ...place };
          // All that wait for one contact are looked at.
          if (common === 'queued' && filter.status === 'queued' && 'conversationId' in place) continue;
          const query = { ...wanted, organizationId: connection.organizationId, limit: FEW };
          const page = async (): Promise<unknown> =>
            journal.page({ ...query, downTo: (await journal.scanEnd(query)) ?? undefined });
          for (const table of ['message', 'message_queue', 'message_state', 'message_content']) {
            read[`${table} ${JSON.stringify(wanted)}`] = await rowsRead(test.database, table, page);
          }
        }
      }
      // No index has the states in which most messages are: their lists walk the journal, as far as one page looks.
      const bound = (filter: string): number =>
        /accepted|sent|delivered|read/.test(filter) ? 6 * MAX_SCANNED : 10 * FEW;
      expect(Object.entries(read).filter(([filter, rows]) => rows > bound(filter))).toEqual([]);
    });
  });

  it('reads a bounded part of what one index leads to, and says where it ended', async () => {
    const connection = await newConnection();
    const { organizationId } = connection;
    const conversationId = await fill(connection, 8 * MAX_SCANNED, 'read');
    await test.database.execute('analyze message, message_queue, message_state');
    const pageWithin = async (query: JournalQuery) =>
      journal.page({ ...query, downTo: (await journal.scanEnd(query)) ?? undefined });
    const filters: Partial<JournalQuery>[] = [
      { clientMessageId: 'same', status: 'accepted' },
      { clientMessageId: 'same', status: 'queued' },
      { clientMessageId: 'same', to: '4915101' },
      { clientMessageId: 'same', from: '4931' },
      { mediaObjectId: newId(), tag: 'x' },
      { to: '4915100', status: 'accepted' },
      { to: '4915100', connectionId: newId(), status: 'failed' },
      { conversationId, status: 'read', to: '4915101' },
      { conversationId, to: '4915101' },
      { conversationId, from: '4931' },
    ];
    const dear: [string, string, number][] = [];
    for (const filter of filters) {
      for (const table of ['message', 'message_queue', 'message_state', 'conversation']) {
        const read = await rowsRead(test.database, table, () => pageWithin({ organizationId, limit: FEW, ...filter }));
        // Of the index and of the table, in both statements.
        if (read > 6 * MAX_SCANNED) dear.push([JSON.stringify(filter), table, read]);
      }
    }
    expect(dear).toEqual([]);
  });

  it('reads no table as a whole for a contact and an own number, however much the number has received', async () => {
    const connection = await newConnection();
    await test.database.execute(
      `insert into message (id, organization_id, connection_id, direction, type, recipient, sender, created_at)
       select gen_random_uuid(), $1, $2, case when is_own then 'outbound' else 'inbound' end, 'text',
         case when is_own then '4915100' else '4930' end, case when is_own then '4930' else '49151' || n end,
         date_trunc('milliseconds', now()) - n * interval '1 second'
       from generate_series(1, 60000) as n cross join lateral (select n % 4 = 0 as is_own) as own`,
      [connection.organizationId, connection.id],
    );
    await test.database.execute('vacuum analyze message');
    // The planner then decides as it does by default for a table that is many times as large.
    const asForMany = () => test.database.execute('set local random_page_cost = 10');
    for (const filter of [
      { from: '4915177', to: '4930' },
      { from: '4930', to: '4915100' },
    ]) {
      const page = () => journal.page({ organizationId: connection.organizationId, limit: FEW, ...filter });
      expect(await costOf(test.database, 'message', page, asForMany)).toMatchObject({ scans: 0 });
    }
  });

  it('has all that the filters leave, over as many pages as it takes', async () => {
    const connection = await newConnection();
    await fill(connection, 2 * MAX_SCANNED + 700, 'read');
    const { organizationId } = connection;
    const whole = { organizationId, limit: 10_000 };
    const pages = async (filter: Partial<JournalQuery>): Promise<string[]> => {
      const ids: string[] = [];
      let query: JournalQuery = { ...whole, limit: FEW, ...filter };
      for (;;) {
        const end = await journal.scanEnd(query);
        const page = await journal.page({ ...query, downTo: end ?? undefined });
        ids.push(...page.map(({ id }) => id));
        const next = page.length === FEW ? page.at(-1) : end;
        if (next === null || next === undefined) return ids;
        query = { ...query, before: next.createdAt, beforeId: next.id };
      }
    };
    for (const filter of [
      { clientMessageId: 'same', status: 'failed' },
      { to: '4915100', status: 'delivered' },
      { clientMessageId: 'same', direction: 'inbound' },
    ] as const) {
      const all = (await journal.page({ ...whole, ...filter })).map(({ id }) => id);
      expect(all.length).toBeGreaterThan(2);
      expect(await pages(filter)).toEqual(all);
    }
  });

  it('has each message once and in a state, while they move from the queue to an outcome', async () => {
    const connection = await newConnection();
    const ids: string[] = [];
    for (let n = 0; n < FEW; n++) ids.push((await factories.message({ connection, status: 'processing' })).id);
    let moved = false;
    const moving = (async () => {
      for (const id of ids) {
        await test.database.execute(
          `with gone as (delete from message_queue where connection_id = $1 and message_id = $2 returning *)
           update message_state s set status = 'accepted' from gone where s.message_id = gone.message_id`,
          [connection.id, id],
        );
      }
      moved = true;
    })();
    const seen = new Set<string>();
    while (!moved) {
      const page = await journal.page({ organizationId: connection.organizationId, limit: 100 });
      expect(page.map(({ id }) => id).sort()).toEqual(ids.toSorted());
      for (const { status } of page) seen.add(status);
    }
    await moving;
    expect([...seen].filter((status) => status !== 'processing' && status !== 'accepted')).toEqual([]);
  });

  it('has what waits for a contact under each of its names', async () => {
    const connection = await newConnection();
    const names = { phone: '5511987654321', waId: '551187654321', userId: 'BR.1' };
    const conversation = await factories.conversation({ connection, ...names });
    const merged = await factories.conversation({ connection, phone: null });
    await test.database.execute('update conversation set merged_into = $2 where id = $1', [merged.id, conversation.id]);
    const ids: string[] = [];
    for (const recipient of Object.values(names)) {
      for (const conversationId of [conversation.id, merged.id]) {
        ids.push((await factories.message({ connection, recipient, conversationId })).id);
      }
    }
    await factories.message({ connection, recipient: names.phone });
    const page = await journal.page({
      organizationId: connection.organizationId,
      conversationId: merged.id,
      status: 'queued',
      limit: 100,
    });
    expect(page.map(({ id }) => id).sort()).toEqual(ids.sort());
  });

  it('is empty for an unknown conversation', async () => {
    const connection = await newConnection();
    const filter = { organizationId: connection.organizationId, limit: FEW };
    expect(await journal.page({ ...filter, conversationId: newId() })).toEqual([]);
  });
});
