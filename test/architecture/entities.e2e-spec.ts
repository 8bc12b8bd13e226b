import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { dataSourceOptions } from '../../src/infrastructure/database/data-source.js';
import { allEntities, differences } from '../support/entities.js';
import { plainTable, quotedTexts } from '../support/plain-statements.js';
import { filesUnder } from '../support/project-files.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;

/** What these entities say that the tables do not. */
async function found(entities: (new () => object)[]): Promise<string[]> {
  const options = dataSourceOptions({ url: database.url, poolSize: 1, queryTimeoutMs: 20_000 });
  const dataSource = await new DataSource({ ...options, entities }).initialize();
  try {
    const each = await Promise.all(dataSource.entityMetadatas.map((entity) => differences(dataSource, entity)));
    return each.flat();
  } finally {
    await dataSource.destroy();
  }
}

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

it('entities have the names, types and keys of the migrated tables, and all that an insert needs', async () => {
  const entities = await allEntities();
  expect(entities.length).toBeGreaterThanOrEqual(14);
  expect(await found(entities)).toEqual([]);
});

it('would notice', async () => {
  @Entity('audit_event')
  class Wrong {
    @PrimaryColumn('uuid')
    action!: string;

    @Column('text', { array: true })
    target!: string[];

    @Column('timestamptz')
    occurredAt!: Date;

    @Column('text')
    reason!: string;
  }
  @Entity('audit_events')
  class Missing {
    @PrimaryColumn('bigint')
    id!: string;
  }
  expect(await found([Wrong, Missing])).toEqual([
    'audit_event.action is text, not uuid',
    'audit_event.action is not a part of the key',
    'audit_event.target is text, not text[]',
    'audit_event.target is nullable',
    'audit_event.occurred_at is timestamp(3) with time zone, not timestamp with time zone',
    'there is no column audit_event.reason',
    'audit_event.actor_kind is missing, and no insert may leave it out',
    'there is no table audit_events',
  ]);
});

/** Statements on one row of one table that are still written by hand, with the reason. */
const BY_HAND: Readonly<Record<string, string>> = {
  'conversations/contacts/contact-book.repository.ts: contact_book_removal': 'the only one on its table',
  'conversations/conversations.repository.ts: conversation': 'with the lock before it, in one transaction',
  'destinations/destinations.repository.ts: lane': 'of the queue, without an entity',
  'keys/keys.repository.ts: otp_project': 'of the module otp, which uses this one',
  'media/media.repository.ts: media_object': 'asked with every message with a file',
  'opt-outs/opt-outs.repository.ts: opt_out': 'the only one on its table: entries are found by names, in joins',
  'otp/otp.repository.ts: otp_challenge': 'runs with every code that is accepted',
  'otp/sending.repository.ts: otp_challenge': 'moves a state, as the statements beside it do',
  'webhook/webhook.repository.ts: event_recording': 'the only one on its table',
};

it('what a module reads or writes by its key alone goes through a repository of TypeORM', () => {
  const folder = 'src/modules/';
  const sources = filesUnder(folder, (path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'));
  const plain = sources.flatMap((path) =>
    quotedTexts(path).flatMap((text) => {
      const table = plainTable(text);
      return table === null ? [] : [`${path.slice(folder.length)}: ${table}`];
    }),
  );
  expect([...new Set(plain)].sort()).toEqual(Object.keys(BY_HAND).sort());
});

it.each([
  ['select id, c.name as "name" from contact c where c.organization_id = $1 and id = $2::uuid', 'contact'],
  ['select 1 from contact where id = $1 for update', null],
  ['select count(*) from contact where id = $1', null],
  ['select a.id from contact a join tag b on b.id = a.id where a.id = $1', null],
  ['insert into contact (id, name) values ($1,\n $2)', 'contact'],
  ['insert into contact (id) values ($1) on conflict (id) do update set id = excluded.id', 'contact'],
  ['insert into contact (id) select $1 where true', null],
  ["update contact set name = null, at = clock_timestamp() where id = $1 and state = 'open'", 'contact'],
  ['update contact set tries = tries + 1 where id = $1', null],
  ['delete from contact where id = $1', 'contact'],
  ['delete from contact where id = any($1)', null],
])('%s: %s', (sql, table) => {
  expect(plainTable(sql)).toBe(table);
});
