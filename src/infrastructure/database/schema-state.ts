import { heraldVersion } from '../../common/version.js';
import { migrations } from '../../../migrations/all.js';
import type { SqlMigration } from './sql-migration.js';

export type Migrations = readonly (new () => SqlMigration)[];

/** A row of `schema_migration`. */
export interface RanMigration {
  name: string;
  /** Null where a build before 0.2.0 noted it. */
  checksum: string | null;
  /** How many of its steps were done. */
  steps: number;
  ranAt: Date | null;
}

/** What distinguishes the schema of a database from the one that this build makes. */
export interface SchemaState {
  /** Nothing ever ran there. */
  empty: boolean;
  /** Another build made it, so its tables are others: it can neither be brought up to date nor used. */
  foreign: boolean;
  /** Migrations of this build that did not run, or not to their end. */
  missing: string[];
  /** Those that ran after the last one of this build: a later release was here, and this one works beside it. */
  newer: string[];
}

/** Said wherever a database of another build is met. */
export const FOREIGN_SCHEMA =
  `the database was made by another build of Herald, and ${heraldVersion()} cannot use it or bring it up to date: ` +
  'one of its migrations is another one there, as in builds before release 0.2.0 and between releases. ' +
  'Use a new database, or the build that made this one; for a local run delete the folder DATA_DIR (.data)';

type Query = <T extends object>(sql: string) => Promise<T[]>;

/** What ran in a database, in no order. */
export async function ranMigrations(query: Query): Promise<RanMigration[]> {
  const [table] = await query<{ exists: boolean; notes: boolean }>(
    `select to_regclass('schema_migration') is not null as exists, exists (select from pg_attribute
       where attrelid = to_regclass('schema_migration') and attname = 'steps' and not attisdropped) as notes`,
  );
  if (table?.exists !== true) return [];
  return query<RanMigration>(
    table.notes
      ? 'select name, checksum, steps, ran_at as "ranAt" from schema_migration'
      : 'select name, null as checksum, 1 as steps, null as "ranAt" from schema_migration',
  );
}

export async function readSchemaState(query: Query, list: Migrations = migrations): Promise<SchemaState> {
  return schemaStateOf(await ranMigrations(query), list);
}

export function schemaStateOf(ran: readonly RanMigration[], list: Migrations): SchemaState {
  const own = new Map(list.map((Migration) => [Migration.name, new Migration()]));
  const rows = new Map(ran.map((row) => [row.name, row]));
  const last = Math.max(...[...own.keys()].map(timeOf));
  const unknown = [...rows.keys()].filter((name) => !own.has(name));
  return {
    empty: rows.size === 0,
    foreign:
      unknown.some((name) => timeOf(name) <= last) ||
      [...own].some(([name, { checksum }]) => rows.has(name) && rows.get(name)?.checksum !== checksum),
    missing: [...own].filter(([name, { steps }]) => (rows.get(name)?.steps ?? 0) < steps.length).map(([name]) => name),
    newer: unknown.filter((name) => timeOf(name) > last),
  };
}

/** A name ends with the milliseconds at which its migration was begun. */
export function timeOf(name: string): number {
  return Number(/\d{13}$/.exec(name)?.[0] ?? 0);
}
