import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { migrations } from '../../../migrations/all.js';
import { describeError } from '../../common/describe-error.js';
import { isLocked, isOfOlderSchema, isOutOfTime, isTransientConflict } from './database-faults.js';
import { KEEP_ALIVE } from './lost-server.js';
import { droppedBy, planTo } from './migration-plan.js';
import type { RunStatement } from './partitions.js';
import { type DatabaseLink, sessionPool, startClient } from './pooler.js';
import { processesWith } from './running-processes.js';
import {
  FOREIGN_SCHEMA,
  type Migrations,
  type RanMigration,
  ranMigrations,
  readSchemaState,
  schemaStateOf,
} from './schema-state.js';
import type { SqlMigration } from './sql-migration.js';

export interface MigrateOptions {
  /** Default: all migrations of this build. */
  list?: Migrations;
  /** Called for slow work: a step that begins (`log`), a lock that cannot be taken yet (`warn`). */
  say?: Say;
  patience?: Patience;
}

type Say = (line: string, level: 'log' | 'warn') => void;

/**
 * How long to wait for locks. A statement that waits for a table's lock blocks all others behind it, so it waits only a
 * moment, and the step is repeated, for about five minutes.
 */
interface Patience {
  lockTimeoutMs: number;
  tries: number;
  pauseMs: number;
}

const PATIENCE: Patience = { lockTimeoutMs: 500, tries: 60, pauseMs: 4_500 };

// An arbitrary number that no other program on the server uses.
const MIGRATION_LOCK = 7_204_118_301;
const LOCK_RETRY_MS = 100;
const CONNECT_MS = 5_000;
/** Ends a transaction that holds locks after its client has disappeared. */
const IDLE_MS = 30_000;

/**
 * Brings the schema up to date, or up to `to`. Of several processes that start together one migrates and the others
 * wait. An interrupted migration continues with the step that failed.
 *
 * @param database a link that keeps sessions, or an address of PostgreSQL itself.
 * @returns the names of the migrations that ran.
 * @throws Error where another build made the database; says what to do.
 */
export async function migrate(
  database: string | DatabaseLink,
  { to, ...options }: MigrateOptions & { to?: string } = {},
): Promise<string[]> {
  const list = options.list ?? migrations;
  return withMigrator(database, options, async (migrator) => {
    const ran = await migrator.ran();
    if (schemaStateOf(ran, list).foreign) throw new Error(FOREIGN_SCHEMA);
    const { up } = planTo(to ?? list.at(-1)?.name ?? null, ran, list);
    for (const migration of up) {
      const done = ran.find(({ name }) => name === migration.name)?.steps ?? 0;
      await migrator.up(migration, done, ran.length === 0);
    }
    return up.map(({ name }) => name);
  });
}

/**
 * Reverts the migrations after `to`, the newest first.
 *
 * @param to null: everything.
 * @returns the names of the migrations that were reverted.
 * @throws Error where a connected process may use what they made, or where a migration is known only to a later
 * release.
 */
export async function goBack(
  database: string | DatabaseLink,
  to: string | null,
  options: MigrateOptions = {},
): Promise<string[]> {
  const list = options.list ?? migrations;
  return withMigrator(database, options, async (migrator) => {
    const ran = await migrator.ran();
    requireKnown(ran, list);
    const { down } = planTo(to, ran, list);
    for (const migration of down) {
      await migrator.requireUnused(migration);
      await migrator.down(migration);
    }
    return down.map(({ name }) => name);
  });
}

/**
 * Checks before reverting that this release knows all migrations of the database.
 *
 * @throws Error on a database of another build, or of a later release.
 */
export function requireKnown(ran: readonly RanMigration[], list: Migrations): void {
  const { foreign, newer } = schemaStateOf(ran, list);
  if (foreign) throw new Error(FOREIGN_SCHEMA);
  if (newer.length === 0) return;
  throw new Error(
    `${newer.join(', ')} ran there, of a release after this one: revert them with \`herald migrate --to\` of that release`,
  );
}

/** The migrations that ran in a database. */
export async function readRan(url: string): Promise<RanMigration[]> {
  return withClient(url, (client) => ranMigrations(async (sql) => (await client.query(sql)).rows));
}

/** How many processes of the service are connected, by release. */
export async function connectedTo(url: string): Promise<Record<string, number>> {
  return withClient(url, async (client) =>
    Object.fromEntries(await processesWith(async (sql) => (await client.query<{ name: string }>(sql)).rows, '')),
  );
}

const COUNTED = 100_000;
const COUNT_MS = 5_000;

/** What reverting a migration deletes for good, one line each; only what the database has. */
export async function lossesOf(url: string, migration: SqlMigration): Promise<string[]> {
  return withClient(url, async (client) => {
    await client.query(`set statement_timeout = ${COUNT_MS}`);
    const lines: string[] = [];
    for (const { table, column } of droppedBy(migration)) {
      const rows = await countOf(client, table, column);
      if (rows === null) continue;
      lines.push(
        column === null ? `table ${table} with ${rows}` : `column ${table}.${column}, which has a value in ${rows}`,
      );
    }
    return lines;
  });
}

async function countOf(client: pg.Client, table: string, column: string | null): Promise<string | null> {
  const filled = column === null ? '' : `where ${column} is not null`;
  try {
    const { rows } = await client.query<{ n: number }>(
      `select count(*)::integer as n from (select from ${table} ${filled} limit ${COUNTED + 1}) as counted`,
    );
    const n = rows[0]?.n ?? 0;
    return n > COUNTED ? `more than ${COUNTED.toLocaleString('en')} rows` : `${n.toLocaleString('en')} rows`;
  } catch (error) {
    if (isOfOlderSchema(error)) return null;
    if (isOutOfTime(error)) return 'an unknown number of rows (counting takes too long)';
    throw error;
  }
}

/**
 * For commands that must not change the schema of a running service.
 *
 * @param mayBeEmpty whether a database without a schema is accepted.
 * @returns true where there is no schema.
 * @throws Error on any other schema than this build's; says what to do.
 */
export async function requireSchema(url: string, mayBeEmpty: boolean): Promise<boolean> {
  return withClient(url, async (client) => {
    const { empty, foreign, missing, newer } = await readSchemaState(async (sql) => (await client.query(sql)).rows);
    if (foreign) throw new Error(FOREIGN_SCHEMA);
    if (empty && mayBeEmpty) return true;
    if (newer.length > 0) {
      throw new Error(`the database's schema is newer than this herald: run the command of the release that made it`);
    }
    if (missing.length > 0) {
      throw new Error(
        `the database's schema is older than this herald, ${missing.length} migrations did not run: run \`herald migrate\``,
      );
    }
    return false;
  });
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = startClient(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Provides one connection that holds the lock of migrations. If it breaks, the lock and the open transaction end with
 * it.
 */
async function withMigrator<T>(
  database: string | DatabaseLink,
  options: MigrateOptions,
  work: (migrator: Migrator) => Promise<T>,
): Promise<T> {
  const link = typeof database === 'string' ? { url: database, pooling: 'none' as const } : database;
  const pool = new pg.Pool({
    application_name: 'herald-migrate',
    max: 1,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: 0, // an index may take long, and the role may have a limit
    ...KEEP_ALIVE,
    ...sessionPool(link, {
      statement_timeout: 0,
      lock_timeout: 0,
      idle_in_transaction_session_timeout: IDLE_MS,
    }),
  });
  pool.on('error', () => undefined);
  try {
    const client = await pool.connect();
    client.on('error', () => undefined); // its statement reports the error
    try {
      // Polls instead of waiting: a waiting statement has a snapshot, and an index that another process creates
      // concurrently waits for every older snapshot to end.
      while (!(await takes(client))) await pause(LOCK_RETRY_MS);
      await client.query(
        `create table if not exists schema_migration (name text primary key, checksum text not null,
           steps integer not null, ran_at timestamptz not null default clock_timestamp())`,
      );
      return await work(new Migrator(client, options.say ?? (() => undefined), options.patience ?? PATIENCE));
    } finally {
      client.release(true);
    }
  } finally {
    await pool.end();
  }
}

async function takes(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [MIGRATION_LOCK]);
  return rows[0]?.taken === true;
}

class Migrator {
  constructor(
    private readonly client: pg.ClientBase,
    private readonly say: Say,
    private readonly patience: Patience,
  ) {}

  private readonly run: RunStatement = async (sql, params) => (await this.client.query(sql, params)).rows as unknown;

  ran(): Promise<RanMigration[]> {
    return ranMigrations(async (sql) => (await this.client.query(sql)).rows);
  }

  /**
   * @param done the number of steps done by an earlier run.
   * @param isNew the tables are empty, so no step is slow.
   */
  async up(migration: SqlMigration, done: number, isNew: boolean): Promise<void> {
    const { name, steps } = migration;
    for (const [at, step] of steps.entries()) {
      if (at < done) continue;
      if (!('work' in step)) {
        await this.transaction(name, async () => {
          for (const statement of step) await this.client.query(statement);
          if (at === 0) await migration.afterFirstStep(this.run);
          await this.note(migration, at + 1);
        });
        continue;
      }
      if (!isNew) this.say(`${name}, step ${at + 1} of ${steps.length}: ${step.text}`, 'log');
      await step.work(this.run, (sql, params) => this.transaction(name, () => this.run(sql, params)));
      await this.note(migration, at + 1);
    }
  }

  async down({ name, down }: SqlMigration): Promise<void> {
    await this.transaction(name, async () => {
      for (const statement of down) await this.client.query(statement);
      await this.client.query('delete from schema_migration where name = $1', [name]);
    });
  }

  /** @throws Error where a connected process knows the migration. */
  async requireUnused({ name }: SqlMigration): Promise<void> {
    const found = await processesWith(async (sql) => (await this.client.query<{ name: string }>(sql)).rows, name);
    if (found.size === 0) return;
    const list = [...found].map(([version, many]) => `${many} of ${version}`).join(', ');
    throw new Error(
      `${name} is in use by processes that are connected (${list}): replace them with those of the release before, then run this again. Nothing was changed`,
    );
  }

  private async note({ name, checksum }: SqlMigration, steps: number): Promise<void> {
    await this.client.query(
      `insert into schema_migration (name, checksum, steps) values ($1, $2, $3)
       on conflict (name) do update set checksum = excluded.checksum, steps = excluded.steps, ran_at = clock_timestamp()`,
      [name, checksum, steps],
    );
  }

  /**
   * Runs `work` in a transaction that waits only a moment for each lock, and repeats it if a lock was not available.
   */
  private async transaction<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { tries, lockTimeoutMs, pauseMs } = this.patience;
    for (let tried = 1; ; tried++) {
      try {
        await this.client.query(`begin; set local lock_timeout = ${lockTimeoutMs}`);
        const result = await work();
        await this.client.query('commit');
        return result;
      } catch (error) {
        await this.client.query('rollback').catch(() => undefined);
        if (!isLocked(error) && !isTransientConflict(error)) throw error;
        const why = `${name} waits for a lock (${describeError(error)}). ${await this.oldestTransaction()}`;
        if (tried >= tries) {
          throw new Error(`${why}. Given up after ${tried} tries; what is noted as done stays, run it again later`, {
            cause: error,
          });
        }
        this.say(`${why}. Try ${tried} of ${tries}`, 'warn');
        await pause(pauseMs);
      }
    }
  }

  private async oldestTransaction(): Promise<string> {
    const { rows } = await this.client.query<{ pid: number; name: string; seconds: number }>(
      `select pid, application_name as name, extract(epoch from clock_timestamp() - xact_start)::integer as seconds
       from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
       order by xact_start limit 1`,
    );
    const [oldest] = rows;
    if (oldest === undefined) return 'No transaction is open now';
    return `The oldest open transaction is that of process ${oldest.pid} (${oldest.name}), for ${oldest.seconds} s`;
  }
}
