import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { lowestIdSince } from '../../common/ids.js';
import { Database } from './database.js';

export interface DayPartition {
  name: string;
  /** The lowest id that it takes; null: there is none. */
  from: string | null;
  /** Every id in it is below this one. */
  below: string;
  /** A detachment of it was begun and never finished. */
  detaching: boolean;
}

/** Runs one statement and returns its rows; a migration's query runner has such a method. */
export type RunStatement = (sql: string, params?: unknown[]) => Promise<unknown>;

/** Inserts fail where no partition takes them, so many days may pass before an operator must act. */
const DAYS_AHEAD = 7;
const DAY_MS = 86_400_000;
// Any number that no other program on the server uses for this purpose.
const LOCK = 7_204_118_303;
const LOCK_RETRY_MS = 50;
/** A statement that waits for a table's lock blocks all others behind it: fail instead, and retry in the next round. */
const LOCK_TIMEOUT_MS = 2_000;

/**
 * Tables partitioned by range of their id, a UUIDv7, whose first 48 bits are its milliseconds: one partition a day (UTC),
 * made ahead and dropped whole, which costs the same however many rows it has. There is no default partition, for with
 * one none could be detached beside running statements.
 *
 * Every method may run in several processes at once: one works, the others wait or leave it to that one.
 */
@Injectable()
export class DayPartitions {
  constructor(private readonly database: Database) {}

  /**
   * Makes the partitions of today and the next seven days that do not exist yet; returns how many. Call it at the start,
   * before anything is inserted, and at least once a day.
   */
  async makeAhead(table: string): Promise<number> {
    if ((await missing(rowsOf(this.database.pool), table)).length === 0) return 0;
    return this.locked((client) => makeDaysAhead(rowsOf(client), table));
  }

  /**
   * Drops the partitions whose rows are all older than `before`, and of no later day than yesterday by the database's
   * clock; returns how many. Waits for the transactions that use the table, and blocks none. What was detached when the
   * process died is dropped by the next call that finds some.
   */
  async dropBefore(table: string, before: Date): Promise<number> {
    const now = await clockOf(rowsOf(this.database.pool));
    const limit = lowestIdSince(before < now ? before : now);
    const isOld = ({ below, detaching }: DayPartition): boolean => detaching || below <= limit;
    if (!(await this.list(table)).some(isOld)) return 0;
    return this.locked(async (client) => {
      const old = (await list(rowsOf(client), table)).filter(isOld);
      for (const { name, detaching } of old) {
        await client.query(`alter table ${table} detach partition ${name} ${detaching ? 'finalize' : 'concurrently'}`);
      }
      const detached = await client.query<{ name: string }>(DETACHED, [table]);
      for (const { name } of detached.rows) await client.query(`drop table ${name}`);
      return detached.rows.length;
    });
  }

  /** The table's partitions, oldest first. */
  list(table: string): Promise<DayPartition[]> {
    return list(rowsOf(this.database.pool), table);
  }

  private locked<T>(work: (client: ClientBase) => Promise<T>): Promise<T> {
    return this.database.session(async (client) => {
      // Asked for again and again: a statement that waits has a snapshot, for whose end a detachment waits.
      for (;;) {
        const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [LOCK]);
        if (rows[0]?.taken === true) break;
        await pause(LOCK_RETRY_MS);
      }
      await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
      const result = await work(client);
      await client.query('reset lock_timeout');
      await client.query('select pg_advisory_unlock($1)', [LOCK]);
      return result;
    });
  }
}

/**
 * Makes the partitions of the day `at` (default: now, by the database's clock) and the next seven days that do not exist
 * yet; returns how many.
 */
export async function makeDaysAhead(run: RunStatement, table: string, at?: Date): Promise<number> {
  const statements = await missing(run, table, at);
  for (const statement of statements) await run(statement);
  return statements.length;
}

function rowsOf(client: Pick<ClientBase, 'query'> | Database['pool']): RunStatement {
  return async (sql, params) => (await client.query(sql, params)).rows as unknown;
}

async function list(run: RunStatement, table: string): Promise<DayPartition[]> {
  return (await run(PARTITIONS, [table])) as DayPartition[];
}

async function missing(run: RunStatement, table: string, at?: Date): Promise<string[]> {
  return aheadOf(table, await list(run, table), at ?? (await clockOf(run)));
}

/** The database's, which alone decides: a host's may be months wrong. */
async function clockOf(run: RunStatement): Promise<Date> {
  const [row] = (await run('select clock_timestamp() as now')) as { now: Date }[];
  if (row === undefined) throw new Error('the database has no clock');
  return row.now;
}

/**
 * The statements that make the missing partitions, each all or nothing: of all that is before the oldest one where that
 * is of a later day than today, and from the end of the newest on.
 */
function aheadOf(table: string, existing: readonly DayPartition[], now: Date): string[] {
  const statements: string[] = [];
  const [oldest] = existing;
  const today = startOfDay(now, 0);
  let end = existing.at(-1)?.below;
  if (oldest === undefined || (oldest.from !== null && oldest.from > lowestIdSince(today))) {
    const below = oldest?.from ?? lowestIdSince(startOfDay(now, 1));
    statements.push(makeOne(table, today, null, below));
    end ??= below;
  }
  for (let day = 0; day <= DAYS_AHEAD && end !== undefined; day++) {
    const below = lowestIdSince(startOfDay(now, day + 1));
    if (below <= end) continue;
    // Days in which no process made any are part of the first one that is made.
    statements.push(makeOne(table, startOfDay(now, day), end, below));
    end = below;
  }
  return statements;
}

/** Created separately and then attached, because `create table ... partition of` would lock the whole table. */
function makeOne(table: string, day: Date, from: string | null, below: string): string {
  const name = `${table}_${day.toISOString().slice(0, 10).replaceAll('-', '')}`;
  return `do $$ begin
    create table ${name} (like ${table} including all) with (${STORAGE});
    alter table ${table} attach partition ${name} for values from (${from === null ? 'minvalue' : `'${from}'`}) to ('${below}');
  end $$`;
}

/** A table by days has no storage parameters of its own. */
const STORAGE = 'autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05';

/** The beginning of a day by UTC, so many days after this time. */
function startOfDay(time: Date, after: number): Date {
  return new Date((Math.floor(time.getTime() / DAY_MS) + after) * DAY_MS);
}

const PARTITIONS = `
select child.oid::regclass::text as name, inhdetachpending as detaching,
  substring(pg_get_expr(child.relpartbound, child.oid) from $$FROM \\('([0-9a-f-]{36})'\\)$$) as "from",
  substring(pg_get_expr(child.relpartbound, child.oid) from $$ TO \\('([0-9a-f-]{36})'\\)$$) as below
from pg_inherits join pg_class child on child.oid = inhrelid
where inhparent = $1::regclass order by below`;

// Detached ones keep their names, and are in the schema of the table.
const DETACHED = `
select old.oid::regclass::text as name from pg_class old join pg_class parent on parent.oid = $1::regclass
where old.relnamespace = parent.relnamespace and old.relkind = 'r' and not old.relispartition
  and old.relname ~ ('^' || parent.relname || '_[0-9]{8}$')`;
