import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { dataSourceOptions } from '../../src/infrastructure/database/data-source.js';
import { allEntities, differences } from '../support/entities.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let dataSource: DataSource;

async function open(entities: (new () => object)[]): Promise<DataSource> {
  const options = dataSourceOptions({ url: database.url, poolSize: 1, queryTimeoutMs: 20_000 });
  dataSource = await new DataSource({ ...options, entities }).initialize();
  return dataSource;
}

async function found(): Promise<string[]> {
  const each = await Promise.all(dataSource.entityMetadatas.map((entity) => differences(dataSource, entity)));
  return each.flat();
}

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(() => dataSource?.destroy());
afterAll(() => database?.drop());

it('entities have the names, types and keys of the migrated tables, and all that an insert needs', async () => {
  const { entityMetadatas } = await open(await allEntities());
  expect(entityMetadatas.length).toBeGreaterThanOrEqual(10);
  expect(await found()).toEqual([]);
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
  await open([Wrong, Missing]);
  expect(await found()).toEqual([
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
