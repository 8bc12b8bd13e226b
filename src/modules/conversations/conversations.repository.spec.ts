import type { PoolClient, QueryResultRow } from 'pg';
import { newId } from '../../common/ids.js';
import type { Database } from '../../infrastructure/database/database.js';
import { Factories, testPhone, type ConnectionRow } from '../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { ContactBook } from '../../../test/support/contact-book.js';
import { ContactsService } from './contacts/contacts.service.js';
import { ConversationsRepository } from './conversations.repository.js';
import type { Adoption } from './conversations.types.js';

interface Row {
  id: string;
  phone: string | null;
  wa_id: string | null;
  user_id: string | null;
  merged_into: string | null;
  last_inbound_at: Date | null;
}

interface Process {
  contacts: ContactBook;
  repository: ContactsService;
}

let opened: OpenTestDatabase;
let conversations: ContactsService;
let book: ContactBook;
let factories: Factories;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(8);
  conversations = new ContactsService(new ConversationsRepository(opened.database), opened.database);
  book = new ContactBook(opened.database);
  factories = new Factories(opened.database);
});

afterAll(() => opened.close());

beforeEach(async () => {
  const workspace = await factories.workspace();
  connection = await factories.connection({ organizationId: workspace.id });
});

type Identity = Parameters<ContactBook['resolve']>[1];

function resolve(identity: Identity, contacts = book) {
  return contacts.resolve(connection, identity);
}

function adopt(conversationId: string, names: Partial<Adoption>, repository = conversations) {
  return repository.adopt({ conversationId, waId: null, userId: null, ...names });
}

async function rows(): Promise<Row[]> {
  return opened.database.query<Row>(
    `select id, phone, wa_id, user_id, merged_into, last_inbound_at from conversation where connection_id = $1
     order by created_at, id`,
    [connection.id],
  );
}

async function survivors(): Promise<Row[]> {
  return (await rows()).filter((row) => row.merged_into === null);
}

/** What the server answers with an error from now on; a deadlock would be tried again and stay unseen. */
function watchErrors(database: Database): unknown[] {
  const errors: unknown[] = [];
  const query = database.query.bind(database);
  database.query = <R extends QueryResultRow>(sql: string, params?: readonly unknown[]) =>
    query<R>(sql, params).catch((error: unknown) => {
      errors.push(error);
      throw error;
    });
  return errors;
}

describe('resolve', () => {
  it('makes one row for a contact, however many ask at once', async () => {
    const books = Array.from({ length: 6 }, () => new ContactBook(opened.database));
    const errors = watchErrors(opened.database);
    for (let round = 1; round <= 3; round++) {
      const identity = { phone: testPhone() };
      const found = await Promise.all([...books, ...books].map((each) => resolve(identity, each)));
      expect(new Set(found.map((conversation) => conversation.id)).size).toBe(1);
      expect(await rows()).toHaveLength(round);
    }
    expect(errors).toEqual([]);
  });

  it('returns what is known of the contact', async () => {
    const known = await factories.conversation({ connection, phone: '1', waId: '2', userId: 'U', name: 'Ana' });
    expect(await resolve({ phone: '1' })).toMatchObject({
      id: known.id,
      organizationId: connection.organizationId,
      connectionId: connection.id,
      phone: '1',
      waId: '2',
      userId: 'U',
      profileName: 'Ana',
      lastInboundAt: expect.any(Date),
    });
  });

  it('refuses an empty identity and affects no other item of its batch', async () => {
    const [empty, good] = await Promise.allSettled([resolve({}), resolve({ phone: '15550001111' })]);
    expect(empty.status).toBe('rejected');
    expect(good.status).toBe('fulfilled');
    expect(await rows()).toHaveLength(1);
  });

  it('keeps connections apart', async () => {
    const first = await resolve({ phone: '15550001111' });
    const other = await factories.connection({ organizationId: connection.organizationId });
    const second = await book.resolve(other, { phone: '15550001111' });
    expect(second.id).not.toBe(first.id);
  });
});

describe('findByRecipient', () => {
  it('finds by the caller’s spelling first, then by the platform’s', async () => {
    const byPhone = await factories.conversation({ connection, phone: '5511988887777', waId: '551188887777' });
    expect((await conversations.find(connection.id, '551188887777'))?.id).toBe(byPhone.id);
    const other = await factories.conversation({ connection, phone: '551188887777' });
    expect((await conversations.find(connection.id, '551188887777'))?.id).toBe(other.id);
    expect(await conversations.find(connection.id, '1')).toBeNull();
    expect(await conversations.find(newId(), '5511988887777')).toBeNull();
  });
});

describe('adopt', () => {
  it('notes the platform’s names of a contact', async () => {
    const { id } = await resolve({ phone: '5511988887777' });
    await adopt(id, { waId: '551188887777', userId: 'BR.1' });
    expect(await rows()).toEqual([
      expect.objectContaining({ id, phone: '5511988887777', wa_id: '551188887777', user_id: 'BR.1' }),
    ]);
  });

  it('merges with the conversation that the platform’s name had, into the older row', async () => {
    const inbound = await resolve({ waId: '551188887777' });
    await opened.database.execute('update conversation set last_inbound_at = $2 where id = $1', [
      inbound.id,
      new Date(1_700_000_000_000),
    ]);
    const outbound = await resolve({ phone: '5511988887777' });
    await adopt(outbound.id, { waId: '551188887777' });
    expect(await rows()).toEqual([
      expect.objectContaining({ id: inbound.id, phone: '5511988887777', wa_id: '551188887777', merged_into: null }),
      expect.objectContaining({ id: outbound.id, phone: null, wa_id: null, merged_into: inbound.id }),
    ]);
    const found = await conversations.find(connection.id, '5511988887777');
    expect(found).toMatchObject({ id: inbound.id, lastInboundAt: new Date(1_700_000_000_000) });
  });

  it('moves on what was merged into the younger row before', async () => {
    const oldest = await resolve({ userId: 'BR.1' });
    const middle = await resolve({ waId: '551188887777' });
    const youngest = await resolve({ phone: '5511988887777' });
    await adopt(youngest.id, { waId: '551188887777' });
    await adopt(youngest.id, { userId: 'BR.1' });
    const into = Object.fromEntries((await rows()).map((row) => [row.id, row.merged_into]));
    expect(into).toEqual({ [oldest.id]: null, [middle.id]: oldest.id, [youngest.id]: oldest.id });
    expect(await survivors()).toEqual([
      expect.objectContaining({ phone: '5511988887777', wa_id: '551188887777', user_id: 'BR.1' }),
    ]);
  });

  it('gives an identity that a contact lost to another one in the same batch', async () => {
    const first = await resolve({ waId: '1', userId: 'A' });
    const second = await resolve({ phone: '2', userId: 'B' });
    await Promise.all([adopt(first.id, { waId: '3' }), adopt(second.id, { waId: '1', userId: 'B' })]);
    const byUser = new Map((await survivors()).map((row) => [row.user_id, row.wa_id]));
    expect(byUser).toEqual(
      new Map([
        ['A', '3'],
        ['B', '1'],
      ]),
    );
  });

  it('does nothing for an unknown conversation', async () => {
    await adopt(newId(), { waId: '1', userId: 'A' });
    expect(await rows()).toEqual([]);
  });
});

describe('many at once', () => {
  it('merge crosswise without a deadlock, into one row a contact', async () => {
    const processes = Array.from({ length: 4 }, () => ({
      contacts: new ContactBook(opened.database),
      repository: new ContactsService(new ConversationsRepository(opened.database), opened.database),
    }));
    const contacts = Array.from({ length: 40 }, (_, n) => ({ phone: testPhone(), waId: `49${n}`, userId: `U.${n}` }));
    const links = await Promise.all(
      contacts.map(async ({ phone, waId, userId }) => {
        const [byPhone] = await Promise.all([resolve({ phone }), resolve({ waId }), resolve({ userId })]);
        return [
          ({ repository }: Process) => adopt(byPhone.id, { userId }, repository),
          ({ repository }: Process) => adopt(byPhone.id, { waId }, repository),
          ({ contacts: own }: Process) => resolve({ waId, userId }, own),
        ];
      }),
    );
    expect(await survivors()).toHaveLength(120);
    const errors = watchErrors(opened.database);
    // Every process enters every link, each process from another place on.
    await Promise.all(
      processes.flatMap((each, n) => {
        const all = links.flat();
        const from = Math.floor((all.length * n) / processes.length);
        return [...all.slice(from), ...all.slice(0, from)].map((link) => link(each));
      }),
    );
    expect(errors).toEqual([]);
    const alive = await survivors();
    expect(alive.map((row) => `${row.phone} ${row.wa_id} ${row.user_id}`).sort()).toEqual(
      contacts.map(({ phone, waId, userId }) => `${phone} ${waId} ${userId}`).sort(),
    );
    const ids = new Set(alive.map((row) => row.id));
    for (const row of await rows()) expect(ids).toContain(row.merged_into ?? row.id);
  });

  it('loses no window that moves while rows are merged', async () => {
    const [waId, userId] = [testPhone(), 'U'];
    await factories.conversation({ connection, phone: null, waId, lastInboundAt: null });
    const younger = await factories.conversation({ connection, phone: null, userId, lastInboundAt: null });
    const at = new Date(1_700_000_000_000);
    const client = await opened.database.pool.connect();
    try {
      await client.query('begin');
      await client.query('update conversation set last_inbound_at = $2 where id = $1', [younger.id, at]);
      const merging = resolve({ waId, userId });
      await waitFor(() => isBlocked(client), { what: 'the merge to wait for the row' });
      await client.query('commit');
      expect(await merging).toMatchObject({ waId, userId, lastInboundAt: at });
    } finally {
      client.release();
    }
    expect(await survivors()).toEqual([expect.objectContaining({ last_inbound_at: at })]);
  });
});

/** Another client waits for a lock that this client holds. */
async function isBlocked(client: PoolClient): Promise<boolean> {
  const { rows: blocked } = await client.query(
    'select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))',
  );
  return blocked.length > 0;
}
