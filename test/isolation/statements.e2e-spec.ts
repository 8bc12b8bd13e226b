import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTestDatabase, type OpenTestDatabase } from '../support/test-database.js';
import { MAPPED, TABLES_WITHOUT_WORKSPACE, WITHOUT_WORKSPACE } from './exceptions.js';
import { mappedSources, statementsOf } from './statements.js';

const ROOT = process.cwd();

describe('every table and every statement', () => {
  let database: OpenTestDatabase;
  let owned: string[];

  beforeAll(async () => {
    database = await openTestDatabase(1);
    const rows = await database.database.query<{ name: string }>(
      `select table_name::text as name from information_schema.columns
       where table_schema = 'public' and column_name = 'organization_id' order by 1`,
    );
    owned = rows.map(({ name }) => name);
  });
  afterAll(() => database?.close());

  it('a table has a workspace, or a reason to have none', async () => {
    const rows = await database.database.query<{ name: string; nullable: string | null }>(
      `select t.table_name::text as name, c.is_nullable::text as nullable
       from information_schema.tables t
       left join information_schema.columns c on c.table_schema = t.table_schema and c.table_name = t.table_name
         and c.column_name = 'organization_id'
       where t.table_schema = 'public' and t.table_type = 'BASE TABLE' order by 1`,
    );
    const without = rows.filter(({ nullable }) => nullable === null).map(({ name }) => name);
    expect(without).toEqual(Object.keys(TABLES_WITHOUT_WORKSPACE).sort());
    // Of the service's own settings; no caller reads it.
    expect(rows.filter(({ nullable }) => nullable === 'YES')).toEqual([{ name: 'audit_event', nullable: 'YES' }]);
    expect(owned.length).toBeGreaterThan(15);
  });

  it('a statement names the workspace, or a reason not to', () => {
    const statements = statementsOf(ROOT, owned);
    // So that a scan that finds nothing does not pass.
    expect(statements.length).toBeGreaterThan(150);
    const counts = new Map<string, number>();
    for (const { place, namesWorkspace } of statements) {
      if (!namesWorkspace) counts.set(place, (counts.get(place) ?? 0) + 1);
    }
    const found = [...counts].map(([place, count]) => (count === 1 ? place : `${place} ×${count}`)).sort();
    expect(found).toEqual(Object.values(WITHOUT_WORKSPACE).flat().sort());
  });

  it('no other file lets the object mapper write statements', () => {
    expect(mappedSources(ROOT)).toEqual(MAPPED);
  });

  it('the scan finds what it is for', () => {
    const root = mkdtempSync(join(tmpdir(), 'herald-scan-'));
    try {
      mkdirSync(join(root, 'src'));
      writeFileSync(
        join(root, 'src/a.repository.ts'),
        `const BARE = 'select * from message where id = $1';
         const OWN = \`update message set status = $1 where organization_id = $2 and id = $3\`;
         class A {
           find(id: string) { return query(\`select \${COLUMNS} from MESSAGE m where m.id = $1\`); }
           shown() { return 'select organization_id from message where id = $1'; }
           add() { return 'insert into message (id, organization_id) values ($1, $2)'; }
           gone() { return ['delete from', 'message'].join(' '); }
           other() { return 'select 1 from messages_of_another_table'; }
         }`,
      );
      const found = statementsOf(root, ['message']);
      expect(found.map(({ place, namesWorkspace }) => [place.split('#')[1], namesWorkspace])).toEqual([
        ['BARE', false],
        ['OWN', true],
        ['find', false],
        ['shown', false],
        ['add', true],
      ]);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
