import type { PoolClient } from 'pg';
import { newId } from '../../../common/ids.js';
import { secondsAgo } from '../../../../test/messages/platform-reports.js';
import { Factories, testPhone, type ConnectionRow } from '../../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { eventsOf, listenFor } from '../../../../test/support/webhook-events.js';
import { MediaRepository } from '../../media/media.repository.js';
import { storable, type MediaService } from '../../media/media.service.js';
import { ConversationsRepository } from '../../conversations/conversations.repository.js';
import { InboundBatches } from '../../../../test/messages/report-batches.js';
import type { InboundReport } from '../../message-state/message.types.js';

let opened: OpenTestDatabase;
let media: MediaService;
let inbound: InboundBatches;
let conversations: ConversationsRepository;
let factories: Factories;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(8);
  const files = new MediaRepository(opened.database);
  // All that storing a message asks of the files.
  media = {
    createPending: (items, statements) => files.insertPending(items.map(storable), statements),
  } as Pick<MediaService, 'createPending'> as MediaService;
  inbound = new InboundBatches(opened.database, media);
  conversations = new ConversationsRepository(opened.database);
  factories = new Factories(opened.database);
});

afterAll(() => opened.close());

beforeEach(async () => {
  const workspace = await factories.workspace();
  connection = await factories.connection({ organizationId: workspace.id });
});

function report(change: Partial<InboundReport> = {}): InboundReport {
  return {
    connectionId: connection.id,
    organizationId: connection.organizationId,
    metaMessageId: `wamid.${newId()}`,
    from: '5511988887777',
    userId: null,
    profileName: 'Ana',
    type: 'text',
    content: { body: 'oi' },
    body: 'oi',
    occurredAt: secondsAgo(30),
    context: {},
    contextMessageId: null,
    opensWindow: true,
    businessNumber: connection.phoneNumber,
    ...change,
  };
}

async function stored(): Promise<Record<string, unknown>[]> {
  return opened.database.query('select * from message_view where connection_id = $1 order by created_at, id', [
    connection.id,
  ]);
}

async function windowOf(phone: string): Promise<Date | null | undefined> {
  return (await conversations.findByRecipient(connection.id, phone))?.lastInboundAt;
}

describe('an inbound message', () => {
  it('is stored as received, with its contact', async () => {
    const occurredAt = secondsAgo(30);
    const { messageId, created } = await inbound.receive(report({ userId: 'BR.1', occurredAt }));
    expect(created).toBe(true);
    const conversation = await conversations.findByRecipient(connection.id, '5511988887777');
    expect(conversation).toMatchObject({ waId: '5511988887777', userId: 'BR.1', profileName: 'Ana' });
    const [message] = await stored();
    expect(message).toMatchObject({
      id: messageId,
      organization_id: connection.organizationId,
      conversation_id: conversation?.id,
      direction: 'inbound',
      status: 'received',
      type: 'text',
      content: { body: 'oi' },
      body: 'oi',
      sender: '5511988887777',
      recipient: connection.phoneNumber,
      sent_at: occurredAt,
      reply_to_message_id: null,
    });
    expect(message?.created_at).toBeInstanceOf(Date);
  });

  it('of a contact without a number is stored without one', async () => {
    await inbound.receive(report({ from: null, userId: 'BR.9' }));
    const [message] = await stored();
    expect(message).toMatchObject({ sender: null, conversation_id: expect.any(String) });
  });

  it('without a sender is stored without a conversation', async () => {
    await inbound.receive(report({ from: null, userId: null, type: 'system' }));
    expect(await stored()).toEqual([expect.objectContaining({ conversation_id: null, type: 'system' })]);
  });

  it('is stored once, however often and however parallel it comes; repeats find the first one’s id', async () => {
    const repositories = Array.from({ length: 4 }, () => new InboundBatches(opened.database, media));
    const reports = Array.from({ length: 25 }, () => report({ from: testPhone() }));
    const results = await Promise.all(
      repositories.flatMap((repository, n) => {
        const turned = n % 2 === 0 ? reports : reports.toReversed();
        return [...turned, ...turned].map(async (each) => ({
          key: each.metaMessageId,
          ...(await repository.receive(each)),
        }));
      }),
    );
    expect(await stored()).toHaveLength(25);
    expect(results.filter((result) => result.created)).toHaveLength(25);
    expect(new Set(results.map((result) => `${result.key} ${result.messageId}`)).size).toBe(25);
  });

  it('with the same id on another connection is another message', async () => {
    const first = report();
    await inbound.receive(first);
    const other = await factories.connection({ organizationId: connection.organizationId });
    expect(await inbound.receive({ ...first, connectionId: other.id })).toMatchObject({ created: true });
  });

  it('affects no other item where it can’t be stored', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => inbound.receive(report({ body: n === 7 ? 'bad \u0000' : 'good' }))),
    );
    expect(results.flatMap((result, n) => (result.status === 'rejected' ? n : []))).toEqual([7]);
    expect(await stored()).toHaveLength(19);
  });
});

describe('the window', () => {
  it('opens at the platform’s time, and never moves back', async () => {
    await inbound.receive(report({ occurredAt: secondsAgo(30) }));
    await inbound.receive(report({ occurredAt: secondsAgo(90) }));
    expect(await windowOf('5511988887777')).toEqual(secondsAgo(30));
    await inbound.receive(report({ occurredAt: secondsAgo(10) }));
    expect(await windowOf('5511988887777')).toEqual(secondsAgo(10));
  });

  it('opens at the present where the platform’s time lies ahead or is missing', async () => {
    for (const occurredAt of [new Date(Date.now() + 3_600_000), null]) {
      const from = testPhone();
      const before = Date.now();
      await inbound.receive(report({ from, occurredAt }));
      const opensAt = (await windowOf(from))?.getTime() ?? 0;
      expect(opensAt).toBeGreaterThanOrEqual(before - 1_000);
      expect(opensAt).toBeLessThanOrEqual(Date.now() + 1_000);
    }
  });

  it('is left as it is by what opens none, and by a repeat', async () => {
    const first = report({ opensWindow: false, type: 'system' });
    await inbound.receive(first);
    expect(await windowOf('5511988887777')).toBeNull();
    await inbound.receive({ ...first, opensWindow: true });
    expect(await windowOf('5511988887777')).toBeNull();
  });

  it('opens for the surviving conversation where the contact’s row is merged meanwhile', async () => {
    const from = testPhone();
    const older = await factories.conversation({ connection, userId: 'U', phone: null, lastInboundAt: null });
    const younger = await factories.conversation({
      connection,
      waId: from,
      phone: null,
      lastInboundAt: null,
      name: 'Ana',
    });
    const client = await opened.database.pool.connect();
    try {
      await client.query('begin');
      await client.query('update conversation set wa_id = null, merged_into = $2 where id = $1', [
        younger.id,
        older.id,
      ]);
      await client.query('update conversation set wa_id = $2 where id = $1', [older.id, from]);
      const receiving = inbound.receive(report({ from, occurredAt: secondsAgo(5) }));
      await waitFor(() => isBlocked(client), { what: 'the message to wait for its conversation' });
      await client.query('commit');
      await receiving;
    } finally {
      client.release();
    }
    expect(await windowOf(from)).toEqual(secondsAgo(5));
    expect(await stored()).toEqual([expect.objectContaining({ conversation_id: older.id })]);
  });
});

describe('a reply', () => {
  it('names the message of ours that it answers, by the id of any of its attempts', async () => {
    const ours = await factories.message({ connection, status: 'read' });
    await inbound.receive(report({ contextMessageId: ours.metaMessageId }));
    expect(await stored()).toContainEqual(
      expect.objectContaining({ direction: 'inbound', reply_to_message_id: ours.id }),
    );
  });

  it('names the customer’s own message, stored before or in the same batch', async () => {
    const first = report();
    const second = report({ contextMessageId: first.metaMessageId });
    const third = report({ contextMessageId: first.metaMessageId });
    const [one, two] = await Promise.all([inbound.receive(first), inbound.receive(second)]);
    await inbound.receive(third);
    const replies = new Map((await stored()).map((row) => [row.meta_message_id, row.reply_to_message_id]));
    expect(two.created).toBe(true);
    expect(replies.get(second.metaMessageId)).toBe(one.messageId);
    expect(replies.get(third.metaMessageId)).toBe(one.messageId);
  });

  it('names nothing of another connection, and nothing unknown', async () => {
    const other = await factories.connection({ organizationId: connection.organizationId });
    const theirs = await factories.message({ connection: other, status: 'read' });
    await inbound.receive(report({ contextMessageId: theirs.metaMessageId }));
    await inbound.receive(report({ contextMessageId: 'wamid.nowhere' }));
    expect((await stored()).map((row) => row.reply_to_message_id)).toEqual([null, null]);
  });
});

describe('a file', () => {
  const image = { id: '1003', mime_type: 'image/jpeg', sha256: 'SfInY0gGKTsJlUWbwxC1k+FAD0FZHvzwfpvO0zX0GUI=' };
  const files = () =>
    opened.database.query('select * from media_object where connection_id = $1 order by id', [connection.id]);

  it('of a message waits to be fetched, made with it', async () => {
    const received = await inbound.receive(report({ type: 'image', content: image, body: null }));
    expect(received).toMatchObject({ created: true, hasFile: true });
    const [file, ...others] = await files();
    expect(others).toEqual([]);
    expect(file).toMatchObject({
      status: 'pending',
      direction: 'inbound',
      type: 'image',
      mime_type: 'image/jpeg',
      platform_media_id: '1003',
      organization_id: connection.organizationId,
      voice: false,
    });
    expect(await stored()).toEqual([expect.objectContaining({ media_object_id: file?.id })]);
  });

  it.each([
    ['audio', { id: '7', voice: true }, { type: 'audio', voice: true }],
    ['document', { id: 8, filename: 'bill.pdf' }, { type: 'document', filename: 'bill.pdf', platform_media_id: '8' }],
    ['sticker', { id: '9', animated: true }, { type: 'sticker' }],
    ['video', { id: '10' }, { type: 'video' }],
  ])('of the type %s is recognized: %j', async (type, content, expected) => {
    await inbound.receive(report({ type, content, body: null }));
    expect(await files()).toEqual([expect.objectContaining(expected)]);
  });

  it.each([
    ['text', { id: '1' }],
    ['image', {}],
    ['image', { id: '' }],
    ['image', { id: { a: 1 } }],
    ['contacts', { contacts: [] }],
  ])('is there for files only: %s %j', async (type, content) => {
    expect(await inbound.receive(report({ type, content }))).toMatchObject({ created: true, hasFile: false });
    expect(await files()).toEqual([]);
    expect(await stored()).toEqual([expect.objectContaining({ media_object_id: null })]);
  });

  it('is made once, however often and however parallel its message comes', async () => {
    const repositories = Array.from({ length: 4 }, () => new InboundBatches(opened.database, media));
    const reports = Array.from({ length: 10 }, (_, n) => report({ type: 'image', content: { id: String(n) } }));
    await Promise.all(
      repositories.flatMap((repository) => [...reports, ...reports].map((each) => repository.receive(each))),
    );
    const ids = (await files()).map((file) => file.id);
    expect(ids).toHaveLength(10);
    expect(new Set((await stored()).map((row) => row.media_object_id))).toEqual(new Set(ids));
  });
});

describe('an event', () => {
  beforeEach(() => listenFor(opened.database, connection.organizationId));

  it('reports a message as the contract describes it, once', async () => {
    const ours = await factories.message({ connection, status: 'read' });
    const given = report({
      type: 'image',
      content: { id: '5', caption: 'see' },
      body: 'see',
      userId: 'BR.7',
      contextMessageId: ours.metaMessageId,
    });
    const [{ messageId }] = await Promise.all([inbound.receive(given), inbound.receive(given)]);
    await inbound.receive(given);
    const row = (await stored()).find(({ id }) => id === messageId) as Record<string, unknown> & { created_at: Date };
    const [event, ...others] = await eventsOf(opened.database, messageId);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ type: 'message.received', occurred_at: row.created_at });
    expect(event?.data).toEqual({
      message: {
        id: messageId,
        connection_id: connection.id,
        conversation_id: row.conversation_id,
        direction: 'inbound',
        from: '5511988887777',
        to: connection.phoneNumber,
        type: 'image',
        body: 'see',
        status: 'received',
        failure_category: null,
        client_message_id: null,
        tag: null,
        metadata: null,
        meta_message_id: given.metaMessageId,
        reply_to_message_id: ours.id,
        media_object_id: row.media_object_id,
        created_at: row.created_at.toISOString(),
        sent_at: given.occurredAt?.toISOString(),
        standby: false,
        source: 'customer',
      },
      conversation_id: row.conversation_id,
      owner: 'you',
      owner_role: null,
      contact: { phone: '5511988887777', user_id: 'BR.7', name: 'Ana' },
      content: { id: '5', caption: 'see' },
      sequence: 1,
    });
  });

  it('without a sender has an empty contact', async () => {
    const { messageId } = await inbound.receive(report({ from: null, userId: null, type: 'system' }));
    const [event] = await eventsOf(opened.database, messageId);
    expect(event?.data).toMatchObject({ contact: { phone: null, user_id: null, name: null } });
  });
});

async function isBlocked(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query(
    'select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))',
  );
  return rows.length > 0;
}
