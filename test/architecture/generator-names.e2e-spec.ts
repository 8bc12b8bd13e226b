import { openTestDatabase, type OpenTestDatabase } from '../support/test-database.js';

interface Names {
  namesOf(given: string): { files: string; table: string };
  RESERVED_IN_SQL: ReadonlySet<string>;
}

let database: OpenTestDatabase;
let names: Names;

beforeAll(async () => {
  database = await openTestDatabase();
  // Plain JavaScript, which Nest's generator loads.
  names = (await import(['..', '..', 'schematics', 'lib', 'names.js'].join('/'))) as Names;
});
afterAll(() => database.close());

describe('the name of a generated resource', () => {
  it.each(['users', 'orders', 'groups', 'references', 'checks', 'news', 'classes'])(
    '%s is refused with a proposal, which is taken',
    (name) => {
      expect(() => names.namesOf(name)).toThrow(`a reserved word of`);
      expect(() => names.namesOf(name)).toThrow(`such as shop-${name}`);
      expect(names.namesOf(`shop-${name}`).files).toBe(`shop-${name}`);
    },
  );

  it.each(['labels', 'notes', 'pens', 'quick-replies'])('%s is taken', (name) => {
    expect(names.namesOf(name).files).toBe(name);
  });

  it('is no reserved word of the running PostgreSQL', async () => {
    const rows = await database.database.query<{ word: string }>(
      `select word from pg_get_keywords() where catcode in ('R', 'T')`,
    );
    for (const { word } of rows) expect(names.RESERVED_IN_SQL).toContain(word);
  });
});
