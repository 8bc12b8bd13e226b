import { newId } from '../../../common/ids.js';
import { testPhone } from '../../../../test/support/factories.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import {
  test,
  factories,
  pages,
  ALL,
  newConnection,
  fill,
} from '../../../../test/support/fixtures/conversation-pages.js';
import { UNREAD_LIMIT, type ConversationFilter, type ConversationResponse } from '../dto/conversations.dto.js';

/** All pages; how many there were, too. */
async function walk(
  organizationId: string,
  filter: Partial<ConversationFilter>,
): Promise<{ found: ConversationResponse[]; turned: number }> {
  const found: ConversationResponse[] = [];
  let place: Partial<ConversationFilter> = {};
  for (let turned = 1; turned < 1_000; turned++) {
    const { conversations, next } = await pages.page(organizationId, { ...ALL, ...filter, ...place });
    expect(conversations.length).toBeLessThanOrEqual(filter.limit ?? ALL.limit);
    found.push(...conversations);
    if (next === null) return { found, turned };
    place = { before: next.at, beforeId: next.messageId };
  }
  throw new Error('the list does not end');
}

const idsOf = (found: readonly ConversationResponse[]): string[] => found.map(({ id }) => id);

/** The order by reading everything. */
async function expected(organizationId: string, connectionId: string | null): Promise<string[]> {
  const rows = await test.database.query<{ id: string }>(
    `select s.id from (
       select distinct on (coalesce(c.merged_into, c.id)) coalesce(c.merged_into, c.id) as id, m.id as message_id, m.created_at
       from message m join conversation c on c.id = m.conversation_id
       where m.organization_id = $1 and ($2::uuid is null or m.connection_id = $2)
       order by coalesce(c.merged_into, c.id), m.created_at desc, m.id desc) s
     order by s.created_at desc, s.message_id desc`,
    [organizationId, connectionId],
  );
  return rows.map(({ id }) => id);
}

describe('conversations by their last message', () => {
  it.each([
    ['messages spread over all contacts', 90, 1_500, '(hashint4(n) & 1023) % 90'],
    ['a campaign: one message each', 250, 250, 'n - 1'],
    ['many contacts long ago, then a few', 150, 1_500, 'case when n <= 150 then n - 1 else n % 3 end'],
  ])('each once and in order: %s', async (_name, conversations, messages, which) => {
    const connection = await newConnection();
    const other = await newConnection(connection.organizationId);
    await fill(connection, conversations, messages, which);
    await fill(other, 10, 100, 'n % 10');
    // Two rows that turned out to be one contact, and a message of a group.
    await test.database.execute(
      `with pair as (select min(id::text)::uuid as stays, max(id::text)::uuid as goes from conversation where connection_id = $1)
       update conversation set merged_into = pair.stays, phone = null from pair where id = pair.goes`,
      [connection.id],
    );
    await factories.message({ connection, status: 'received', conversationId: null });
    for (const connectionId of [null, connection.id]) {
      const order = await expected(connection.organizationId, connectionId);
      expect(order.length).toBeGreaterThan(50);
      for (const limit of [23, 50, 100]) {
        const { found } = await walk(connection.organizationId, { connectionId, limit });
        expect(idsOf(found)).toEqual(order);
      }
    }
  });

  it('looks at so many messages and no more, however long one contact’s thread is', async () => {
    const connection = await newConnection();
    await fill(connection, 2, 12_000, 'case when n <= 3 then 0 else 1 end');
    const rows = await rowsRead(test.database, 'message', async () => {
      const { conversations, next } = await pages.page(connection.organizationId, ALL);
      expect(conversations).toHaveLength(1);
      expect(next).not.toBeNull();
    });
    expect(rows).toBeLessThan(30_000);
    const { found, turned } = await walk(connection.organizationId, {});
    expect(idsOf(found)).toEqual(await expected(connection.organizationId, null));
    expect(turned).toBe(3);
  });

  it('finds a contact by every way to write the number, and by the user id, on each connection', async () => {
    const connection = await newConnection();
    const second = await newConnection(connection.organizationId);
    const [a, b] = [
      await factories.conversation({ connection, phone: '5511987654321', waId: '551187654321', userId: 'BR.1' }),
      await factories.conversation({ connection: second, phone: '551187654321' }),
    ];
    const stranger = await newConnection();
    const theirs = await factories.conversation({ connection: stranger, phone: '5511987654321', userId: 'BR.1' });
    for (const [each, { id: conversationId }] of [
      [connection, a],
      [second, b],
      [stranger, theirs],
    ] as const) {
      await factories.message({ connection: each, conversationId, status: 'received' });
    }
    const found = async (filter: Partial<ConversationFilter>) =>
      idsOf((await walk(connection.organizationId, { limit: 1, ...filter })).found);
    expect(await found({ to: '551187654321' })).toEqual([b.id, a.id]);
    expect(await found({ to: '5511987654321' })).toEqual([b.id, a.id]);
    expect(await found({ to: '5511987654321', connectionId: connection.id })).toEqual([a.id]);
    expect(await found({ recipient: 'BR.1' })).toEqual([a.id]);
    expect(await found({ recipient: 'BR.1', to: '551187654321' })).toEqual([a.id]);
    expect(await found({ recipient: 'BR.2', to: '551187654321' })).toEqual([]);
    expect(await found({ to: '551187654320' })).toEqual([]);
  });
});

describe('one conversation', () => {
  it('has the contact, the last message in either direction, and what is unread', async () => {
    const connection = await newConnection();
    const { id } = await factories.conversation({ connection, phone: '1', waId: '2', userId: 'U', name: 'Ana' });
    const inbound: string[] = [];
    for (let n = 0; n < 4; n++) {
      inbound.push((await factories.message({ connection, conversationId: id, status: 'received' })).id);
    }
    const find = () => pages.find(connection.organizationId, id);
    expect(await find()).toMatchObject({
      id,
      contact: { phone: '2', user_id: 'U', name: 'Ana' },
      last_message: { id: inbound[3], direction: 'inbound' },
      unread_count: 4,
    });
    const markRead = (messageId: string | undefined) =>
      test.database.execute('insert into message_read (organization_id, message_id) values ($1, $2)', [
        connection.organizationId,
        messageId,
      ]);
    await markRead(inbound[1]);
    expect(await find()).toMatchObject({ unread_count: 2 });
    const { id: answer } = await factories.message({ connection, conversationId: id, status: 'sent' });
    expect(await find()).toMatchObject({ last_message: { id: answer, direction: 'outbound' }, unread_count: 2 });
    await markRead(inbound[3]);
    expect(await find()).toMatchObject({ unread_count: 0 });
    for (const type of ['reaction', 'system', 'edit', 'revoke']) {
      await factories.message({ connection, conversationId: id, status: 'received', type });
    }
    expect(await find()).toMatchObject({ unread_count: 0, last_message: { type: 'revoke' } });
    await factories.message({ connection, conversationId: id, status: 'received', type: 'sticker' });
    expect(await find()).toMatchObject({ unread_count: 1 });
  });

  it('counts unread messages to the limit', async () => {
    const connection = await newConnection();
    await fill(connection, 1, 600, '0');
    const { found } = await walk(connection.organizationId, {});
    expect(found.map(({ unread_count }) => unread_count)).toEqual([UNREAD_LIMIT]);
  });

  it('is the surviving one where it was merged, with the messages of both', async () => {
    const connection = await newConnection();
    const [stays, goes] = [
      await factories.conversation({ connection, phone: testPhone() }),
      await factories.conversation({ connection, phone: testPhone() }),
    ];
    await factories.message({ connection, conversationId: stays.id, status: 'received' });
    const { id: last } = await factories.message({ connection, conversationId: goes.id, status: 'received' });
    await test.database.execute('update conversation set merged_into = $2, phone = null where id = $1', [
      goes.id,
      stays.id,
    ]);
    for (const id of [stays.id, goes.id]) {
      expect(await pages.find(connection.organizationId, id)).toMatchObject({
        id: stays.id,
        unread_count: 2,
        last_message: { id: last, conversation_id: stays.id },
      });
    }
  });

  it('is there without a message; not for another workspace, nor when its contact was erased', async () => {
    const connection = await newConnection();
    const { organizationId } = connection;
    const { id } = await factories.conversation({ connection });
    expect(await pages.find(organizationId, id)).toMatchObject({ id, last_message: null, unread_count: 0 });
    expect((await walk(organizationId, {})).found).toEqual([]);
    expect(await pages.find((await factories.workspace()).id, id)).toBeNull();
    expect(await pages.find(organizationId, newId())).toBeNull();
    await test.database.execute('update conversation set phone = null, last_inbound_at = null where id = $1', [id]);
    expect(await pages.find(organizationId, id)).toBeNull();
  });
});
