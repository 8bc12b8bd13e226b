import { heraldVersion } from '../../common/version.js';
import { migrations } from '../../../migrations/all.js';

/** What distinguishes the schema of a database from the one that this build makes. */
export interface SchemaState {
  /** Nothing ever ran there. */
  empty: boolean;
  /** Another build made it, so its tables are others: it can neither be brought up to date nor used. */
  foreign: boolean;
  /** Migrations of this build that did not run. */
  missing: string[];
  /** Those that ran after the last one of this build: a later release was here, and this one works beside it. */
  newer: string[];
}

/** Said wherever a database of another build is met. */
export const FOREIGN_SCHEMA =
  `the database was made by another build of Herald, and ${heraldVersion()} cannot use it or bring it up to date: ` +
  'until release 0.2.0 each build needs a database of its own. Use a new database, or the build that made this one; ' +
  'for a local run delete the folder DATA_DIR (.data)';

type Query = <T extends object>(sql: string) => Promise<T[]>;

export async function readSchemaState(query: Query): Promise<SchemaState> {
  const [tables] = await query<{ names: boolean; checksums: boolean }>(
    `select to_regclass('schema_migration') is not null as names,
       to_regclass('schema_migration_checksum') is not null as checksums`,
  );
  const checksums =
    tables?.checksums === true ? 'schema_migration_checksum' : '(select null as name, null as checksum)';
  const ran =
    tables?.names === true
      ? await query<{ name: string; checksum: string | null }>(
          `select m.name, c.checksum from schema_migration m left join ${checksums} c on c.name = m.name`,
        )
      : [];
  return stateOf(new Map(ran.map(({ name, checksum }) => [name, checksum])));
}

function stateOf(ran: ReadonlyMap<string, string | null>): SchemaState {
  const own = new Map(migrations.map((Migration) => [Migration.name, new Migration().checksum]));
  const last = Math.max(...[...own.keys()].map(timeOf));
  const unknown = [...ran.keys()].filter((name) => !own.has(name));
  return {
    empty: ran.size === 0,
    foreign:
      unknown.some((name) => timeOf(name) <= last) ||
      [...own].some(([name, checksum]) => ran.has(name) && ran.get(name) !== checksum),
    missing: [...own.keys()].filter((name) => !ran.has(name)),
    newer: unknown.filter((name) => timeOf(name) > last),
  };
}

/** A name ends with the milliseconds at which its migration was begun. */
function timeOf(name: string): number {
  return Number(/\d{13}$/.exec(name)?.[0] ?? 0);
}
