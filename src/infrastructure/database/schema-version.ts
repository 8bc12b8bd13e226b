import type pg from 'pg';
import { startClient } from './pooler.js';
import { migrations } from '../../../migrations/all.js';

/** What distinguishes the schema of a database from the one that this build knows. */
export interface SchemaDifference {
  /** Nothing ever ran there. */
  empty: boolean;
  /** Migrations of this build that did not run. */
  missing: string[];
  /** Those that ran and that this build does not know. */
  foreign: string[];
}

export async function compareSchema(client: pg.ClientBase): Promise<SchemaDifference> {
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('schema_migration') is not null as there`,
  );
  const ran =
    rows[0]?.there === true ? await client.query<{ name: string }>('select name from schema_migration') : null;
  const names = new Set(ran?.rows.map((row) => row.name));
  const known = migrations.map((migration) => migration.name);
  return {
    empty: names.size === 0,
    missing: known.filter((name) => !names.has(name)),
    foreign: [...names].filter((name) => !known.includes(name)),
  };
}

/**
 * For what must not change the schema of a running service.
 *
 * @param mayBeEmpty whether a database without any schema passes.
 * @returns true where it has none.
 * @throws Error on any other schema than this build's; says what to do.
 */
export async function requireSchema(url: string, mayBeEmpty: boolean): Promise<boolean> {
  const client = startClient(url);
  await client.connect();
  try {
    const { empty, missing, foreign } = await compareSchema(client);
    if (empty && mayBeEmpty) return true;
    if (foreign.length > 0) {
      throw new Error(`the database's schema is newer than this herald: run the command of the release that made it`);
    }
    if (missing.length > 0) {
      throw new Error(
        `the database's schema is older than this herald, ${missing.length} migrations did not run: run \`herald migrate\``,
      );
    }
    return false;
  } finally {
    await client.end();
  }
}
