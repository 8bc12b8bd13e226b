import { LIMITED } from '../../../../test/support/limits.js';
import pg from 'pg';
import { newId } from '../../../common/ids.js';
import { ContactBook } from '../../../../test/support/contact-book.js';
import { Factories, testPhone, type ConnectionRow } from '../../../../test/support/factories.js';
import { beginTransaction } from '../../../../test/support/open-transaction.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { Partitions } from '../../../infrastructure/database/partitions.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import { AcceptRepository, type Accepted, INSERT_MESSAGES, type NewMessage } from './accept.repository.js';
import { WINDOW_MS } from '../../conversations/windows/windows.types.js';
import { newMessage } from '../../../../test/support/new-message.js';

let opened: OpenTestDatabase;
let factories: Factories;
let accepts: AcceptRepository;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(8);
  factories = new Factories(opened.database);
  accepts = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);
});

afterAll(() => opened.close());

beforeEach(async () => {
  const workspace = await factories.workspace();
  connection = await factories.connection({ organizationId: workspace.id });
});

const messageTo = (recipient: string, lookUp: NewMessage['lookUp']): NewMessage =>
  newMessage(connection, recipient, { lookUp, recipientUserId: recipient.includes('.') ? recipient : null });

async function conversationOf({ messageId }: Accepted): Promise<unknown> {
  const rows = await opened.database.query(
    `select m.conversation_id, q.conversation_id as queued, q.recipient from message m
     join message_queue q on q.message_id = m.id where m.id = $1`,
    [messageId],
  );
  expect(rows[0]?.queued).toBe(rows[0]?.conversation_id);
  return rows[0]?.conversation_id;
}

async function contacts(): Promise<unknown[]> {
  return opened.database.query('select id, phone, wa_id, user_id from conversation where connection_id = $1', [
    connection.id,
  ]);
}

describe('a message to a contact', () => {
  it('makes one conversation, however many are accepted at once, in one process and in several', async () => {
    const processes = Array.from({ length: 4 }, () => new AcceptRepository(opened.database, Tracing.OFF, LIMITED));
    for (let round = 1; round <= 4; round++) {
      const phone = testPhone();
      const results = await Promise.all(
        [...processes, ...processes].map((each) => each.accept(messageTo(phone, 'contact'))),
      );
      expect(results.map(({ kind }) => kind)).toEqual(results.map(() => 'inserted'));
      expect(new Set(await Promise.all(results.map(conversationOf))).size).toBe(1);
      expect(await contacts()).toHaveLength(round);
    }
  });

  it('makes one conversation where the contact writes at the same moment', async () => {
    const book = new ContactBook(opened.database);
    for (let round = 1; round <= 8; round++) {
      const waId = testPhone();
      const [written, accepted] = await Promise.all([
        book.resolve(connection, { waId, userId: `DE.${waId}` }),
        accepts.accept(messageTo(waId, 'contact')),
      ]);
      expect(await conversationOf(accepted)).toBe(written.id);
      expect(await contacts()).toHaveLength(round);
    }
  });

  it('finds the conversation by the caller’s spelling, by the platform’s, and by the user id', async () => {
    const known = await factories.conversation({ connection, phone: '1', waId: '2', userId: 'DE.1' });
    for (const recipient of ['1', '2', 'DE.1']) {
      expect(await conversationOf(await accepts.accept(messageTo(recipient, 'contact')))).toBe(known.id);
    }
    const other = await accepts.accept(messageTo('DE.2', 'contact'));
    expect(await contacts()).toEqual(
      expect.arrayContaining([{ id: await conversationOf(other), phone: null, wa_id: null, user_id: 'DE.2' }]),
    );
    expect(await contacts()).toHaveLength(2);
  });
});

describe('a message into a window', () => {
  const ago = (ms: number): Date => new Date(Date.now() - ms);

  it('is accepted while it is open, and says until when', async () => {
    const lastInboundAt = ago(WINDOW_MS - 60_000);
    const { id } = await factories.conversation({ connection, phone: '1', lastInboundAt });
    const accepted = await accepts.accept(messageTo('1', 'window'));
    expect(accepted).toMatchObject({ kind: 'inserted', conversationId: id, lastInboundAt });
    expect(await conversationOf(accepted)).toBe(id);
  });

  it('is refused where it is closed or was never open; nothing is made, and others of its batch are accepted', async () => {
    const lastInboundAt = ago(WINDOW_MS + 60_000);
    await factories.conversation({ connection, phone: '1', lastInboundAt });
    await factories.conversation({ connection, phone: '2', lastInboundAt: null });
    const messages = ['1', '2', '3'].map((recipient) => messageTo(recipient, 'window'));
    const [other, ...results] = await Promise.all(
      [messageTo('4', 'contact'), ...messages].map((message) => accepts.accept(message)),
    );
    expect(other?.kind).toBe('inserted');
    expect(results).toEqual([
      expect.objectContaining({ kind: 'window_closed', lastInboundAt }),
      expect.objectContaining({ kind: 'window_closed', lastInboundAt: null }),
      expect.objectContaining({ kind: 'window_closed', lastInboundAt: null }),
    ]);
    expect(await contacts()).toHaveLength(3);
    for (const { organizationId, idempotencyKey } of messages) {
      expect(await accepts.findByKeys(organizationId, [idempotencyKey])).toEqual(new Map());
    }
  });

  it('is what its key already stands for, though the window has closed since', async () => {
    const { id } = await factories.conversation({ connection, phone: '1', lastInboundAt: ago(60_000) });
    const message = messageTo('1', 'window');
    await accepts.accept(message);
    await opened.database.execute('update conversation set last_inbound_at = null where id = $1', [id]);
    expect(await accepts.accept({ ...message, id: newId() })).toMatchObject({ kind: 'known', messageId: message.id });
  });
});

describe('messages of which some are to go later', () => {
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();

  it('take their keys in one order, so that two batches with the same keys never deadlock', async () => {
    const [first, second] = [newId(), newId()].sort();
    const make = (key: string | undefined, at?: string): NewMessage => ({
      ...messageTo(testPhone(), 'contact'),
      idempotencyKey: key ?? '',
      sendAt: at,
    });
    const other = new pg.Client({ connectionString: opened.url });
    await other.connect();
    try {
      await other.query(`begin`);
      const keep = (message: NewMessage): Promise<unknown> =>
        other.query(INSERT_MESSAGES.text, [JSON.stringify([{ ...message, newConversationId: newId() }]), 24]);
      await keep(make(first));
      const accepted = accepts.acceptTogether([make(first, sendAt), make(second)], false);
      await waitFor(
        async () => {
          const { rowCount } = await other.query(
            `select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))`,
          );
          return (rowCount ?? 0) > 0;
        },
        { what: 'the batch to wait for the first key' },
      );
      // It has not taken the second one yet.
      await other.query(`set local lock_timeout = '500ms'`);
      await keep(make(second));
      await other.query('commit');
      expect((await accepted).map(({ kind }) => kind)).toEqual(['known', 'known']);
    } finally {
      await other.end();
    }
  });

  it('come together, those to one recipient in their order, and what is to go later is held', async () => {
    const phone = testPhone();
    const messages = [undefined, sendAt, undefined, sendAt].map((at) => ({
      ...messageTo(phone, 'contact'),
      sendAt: at,
      ttlSeconds: 60,
    }));
    const results = await accepts.acceptTogether(messages, true);
    expect(results.map(({ kind }) => kind)).toEqual(messages.map(() => 'inserted'));
    expect(await contacts()).toHaveLength(1);
    const rows = await opened.database.query(
      `select message_id as id, due_at is not null as due, held_until = $2 and scheduled_for = $2 as held,
         extract(epoch from expires_at - coalesce(scheduled_for, queued_at))::integer as seconds
       from message_queue where recipient = $1 order by seq`,
      [phone, sendAt],
    );
    const [isDue, isHeld, waits] = [
      { due: true, held: null },
      { due: false, held: true },
      { due: false, held: null },
    ];
    const each = [isDue, isHeld, waits, isHeld];
    expect(rows).toEqual(messages.map(({ id }, n) => ({ id, ...each[n], seconds: 60 })));
  });
});

describe('acceptance', () => {
  it('makes one message of a hundred concurrent requests with one key', async () => {
    const message = newMessage(connection, '111');
    const other = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);
    const results = await Promise.all(
      Array.from({ length: 100 }, (_unused, index) =>
        (index % 2 === 0 ? accepts : other).accept({ ...message, id: newId() }),
      ),
    );
    expect(new Set(results.map((result) => result.messageId)).size).toBe(1);
    expect(results.filter((result) => result.kind === 'inserted')).toHaveLength(1);
  });

  it('returns the same message to callers that share a key', async () => {
    const message = newMessage(connection, '111');
    const [first, second] = await Promise.all([
      accepts.accept(message),
      accepts.accept({ ...message, id: newId(), fingerprint: 'ff'.repeat(32) }),
    ]);
    expect(first).toEqual({ kind: 'inserted', messageId: message.id, fingerprint: message.fingerprint });
    expect(second).toEqual({ kind: 'known', messageId: message.id, fingerprint: message.fingerprint });
    const { idempotencyKey } = message;
    expect(await accepts.findByKeys(connection.organizationId, [idempotencyKey])).toEqual(
      new Map([[idempotencyKey, second]]),
    );
    expect(await accepts.findByKeys(newId(), [idempotencyKey])).toEqual(new Map());
  });

  it('lets a poisoned message fail alone', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_unused, index) =>
        accepts.accept(newMessage(connection, '111', index === 23 ? { body: 'a\u0000b' } : {})),
      ),
    );
    expect(results.map((result) => result.status).filter((status) => status === 'rejected')).toHaveLength(1);
    expect(results[23]?.status).toBe('rejected');
  });

  it('cannot be called inside a transaction', async () => {
    await expect(opened.database.transaction(() => accepts.accept(newMessage(connection, '111')))).rejects.toThrow(
      'cannot take part',
    );
  });
});

describe('workspaces with limits', () => {
  it('accept while another one is locked, one by one and in groups; of that one few connections wait', async () => {
    const [locked, other] = [
      connection,
      await factories.connection({ organizationId: (await factories.workspace()).id }),
    ];
    const { database } = opened;
    await database.execute('update organization set messages_per_day = 1000 where id = any($1)', [
      [locked.organizationId, other.organizationId],
    ]);
    const messageOf = (of: ConnectionRow): NewMessage => newMessage(of, testPhone(), { lookUp: 'contact' });
    const one = (of: ConnectionRow) => accepts.accept(messageOf(of), true);
    const group = (of: ConnectionRow, isLimited = true) => accepts.acceptTogether([messageOf(of)], true, isLimited);
    // So that the one that has to wait shares its batch with the other where both share any.
    await one(locked);
    const holder = await beginTransaction(opened.url);
    const waiting: Promise<unknown>[] = [];
    try {
      await holder.query('select from organization where id = $1 for no key update', [locked.organizationId]);
      for (let n = 0; n < 10; n++) waiting.push(one(locked), group(locked));
      for (let round = 0; round < 3; round++) {
        const kinds = (await Promise.all([one(other), group(other), group(other, false)]))
          .flat()
          .map(({ kind }) => kind);
        expect(kinds).toEqual(['inserted', 'inserted', 'inserted']);
      }
      const blocked = await database.count(
        `select count(*)::integer as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(blocked).toBeLessThanOrEqual(2);
    } finally {
      await holder.end();
    }
    expect(await Promise.all(waiting)).toHaveLength(20);
  });
});

describe('where no partition takes the content', () => {
  const drop = async (): Promise<void> => {
    for (const { name } of await new Partitions(opened.database).list('message_content')) {
      await opened.database.execute(`drop table ${name}`);
    }
  };

  it.each([
    ['one', () => [accepts.accept(newMessage(connection, '111'))]],
    ['many at once', () => Array.from({ length: 30 }, () => accepts.accept(newMessage(connection, '111')))],
    ['a group', () => [accepts.acceptTogether([newMessage(connection, '111'), newMessage(connection, '112')], true)]],
    ['one of a workspace with limits', () => [accepts.accept(newMessage(connection, '111'), true)]],
  ])('%s is accepted: it is made first', async (_name, accept) => {
    await drop();
    const accepted = (await Promise.all<Accepted | Accepted[]>(accept())).flat();
    expect(new Set(accepted.map(({ kind }) => kind))).toEqual(new Set(['inserted']));
    const ids = accepted.map(({ messageId }) => messageId);
    const found = 'select count(*)::integer as count from message_content where message_id = any($1::uuid[])';
    expect(await opened.database.count(found, [ids])).toBe(ids.length);
  });
});
