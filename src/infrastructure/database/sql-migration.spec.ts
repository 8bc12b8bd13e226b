import { migrations } from '../../../migrations/all.js';
import { SqlMigration } from './sql-migration.js';

class Things extends SqlMigration {
  readonly name = 'Things1770000000000';
  protected readonly downSql = '';

  constructor(protected readonly upSql: string | readonly string[]) {
    super();
  }
}

const of = (sql: string | readonly string[]): string => new Things(sql).checksum;

describe('the checksum of a migration', () => {
  it('is of what it does, not of how it is written down', () => {
    const plain = of('create table thing (id uuid primary key, name text);');
    expect(
      of('-- Things.\ncreate table thing (id uuid primary key,\n  -- As callers wrote it.\n    name text);\n'),
    ).toBe(plain);
    expect(of('create table thing (id uuid primary key, name text not null);')).not.toBe(plain);
  });

  it('tells statements apart', () => {
    expect(of(['select 1', 'select 2'])).not.toBe(of(['select 1 select 2']));
  });

  it('is another one for each of this build, and the same each time', () => {
    const all = migrations.map((Migration) => new Migration().checksum);
    expect(new Set(all).size).toBe(migrations.length);
    expect(migrations.map((Migration) => new Migration().checksum)).toEqual(all);
  });
});
