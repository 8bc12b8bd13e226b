import { heraldVersion } from '../../common/version.js';
import { migrations } from '../../../migrations/all.js';
import type { SqlMigration } from './sql-migration.js';

export type Migrations = readonly (new () => SqlMigration)[];

/** A row of `schema_migration`. */
export interface RanMigration {
  name: string;
  /** Null where a build before 0.2.0 ran it. */
  checksum: string | null;
  /** How many of its steps are done. */
  steps: number;
  ranAt: Date | null;
}

/** The differences between the schema of a database and that of this build. */
export interface SchemaState {
  /** No migration ever ran there. */
  empty: boolean;
  /** Another build made it with other tables: it can neither be migrated nor used. */
  foreign: boolean;
  /** Migrations of this build that did not run, or were interrupted. */
  missing: string[];
  /** Migrations after the last one of this build: a later release ran here, and this build works with its schema. */
  newer: string[];
}

/** The message for a database of another build. */
export const FOREIGN_SCHEMA =
  `the database was made by another build of Herald, and ${heraldVersion()} cannot use it or bring it up to date: ` +
  'one of its migrations is another one there, as in builds before release 0.2.0 and between releases. ' +
  'Use a new database, or the build that made this one; for a local run delete the folder DATA_DIR (.data)';

type Query = <T extends object>(sql: string) => Promise<T[]>;

/** The migrations that ran in a database, in no order. */
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

/** A name ends with the creation time of its migration in milliseconds. */
export function timeOf(name: string): number {
  return Number(/\d{13}$/.exec(name)?.[0] ?? 0);
}
