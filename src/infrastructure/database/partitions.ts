import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { lowestIdSince } from '../../common/ids.js';
import { isWithoutPartition } from './database-faults.js';
import { Database } from './database.js';

/** The time of which one partition has the rows; by UTC. */
export type Period = 'day' | 'month';

export interface Partition {
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

/** Inserts fail where no partition takes them, so many of them may pass before an operator must act. */
const AHEAD: Readonly<Record<Period, number>> = { day: 7, month: 2 };
const DAY_MS = 86_400_000;
// Any number that no other program on the server uses for this purpose.
const LOCK = 7_204_118_303;
const LOCK_RETRY_MS = 50;
/** A statement that waits for a table's lock blocks all others behind it: fail instead, and retry in the next round. */
const LOCK_TIMEOUT_MS = 2_000;

/**
 * Tables partitioned by range of their id, a UUIDv7, whose first 48 bits are its milliseconds: one partition a day or a
 * month, made ahead and dropped whole, which costs the same however many rows it has. There is no default partition, for
 * with one none could be detached beside running statements.
 *
 * Every method may run in several processes at once: one works, the others wait or leave it to that one.
 */
@Injectable()
export class Partitions {
  constructor(private readonly database: Database) {}

  /**
   * Makes the partitions of the present and the next seven days, or two months, that do not exist yet; returns how many. Call
   * it at the start, before anything is inserted, and at least once a day.
   */
  async makeAhead(table: string, period: Period): Promise<number> {
    if ((await missing(rowsOf(this.database.pool), table, period)).length === 0) return 0;
    return this.locked((client) => makePartitionsAhead(rowsOf(client), table, period));
  }

  /**
   * Drops the partitions whose rows are all older than `before`, and than the database's clock; returns how many. Waits for
   * the transactions that use the table, and blocks none. What was detached when the process died is dropped by the next
   * call that finds some.
   *
   * @param isNeeded of a partition that is old: it stays.
   */
  async dropBefore(
    table: string,
    before: Date,
    isNeeded: (partition: Partition) => Promise<boolean> = () => Promise.resolve(false),
  ): Promise<number> {
    const now = await clockOf(rowsOf(this.database.pool));
    const limit = lowestIdSince(before < now ? before : now);
    const isOld = ({ below, detaching }: Partition): boolean => detaching || below <= limit;
    if (!(await this.list(table)).some(isOld)) return 0;
    return this.locked(async (client) => {
      const old = (await list(rowsOf(client), table)).filter(isOld);
      for (const partition of old) {
        const { name, detaching } = partition;
        if (!detaching && (await isNeeded(partition))) continue;
        await client.query(`alter table ${table} detach partition ${name} ${detaching ? 'finalize' : 'concurrently'}`);
      }
      const detached = await client.query<{ name: string }>(DETACHED, [table]);
      for (const { name } of detached.rows) await client.query(`drop table ${name}`);
      return detached.rows.length;
    });
  }

  /** The table's partitions, oldest first. */
  list(table: string): Promise<Partition[]> {
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
 * Makes the partitions of the time `at` (default: now, by the database's clock) and ahead of it that do not exist yet;
 * returns how many.
 */
export async function makePartitionsAhead(
  run: RunStatement,
  table: string,
  period: Period,
  at?: Date,
): Promise<number> {
  const statements = await missing(run, table, period, at);
  for (const statement of statements) await run(statement);
  return statements.length;
}

/**
 * Runs work that inserts into the table and leaves nothing behind where it fails. Where no partition takes a row, as the
 * clock has stepped by months since the last were made, or the machine was suspended, they are made and it runs again.
 */
export async function withPartitions<T>(
  database: Database,
  table: string,
  period: Period,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isWithoutPartition(error)) throw error;
    await new Partitions(database).makeAhead(table, period);
    return work();
  }
}

function rowsOf(client: Pick<ClientBase, 'query'> | Database['pool']): RunStatement {
  return async (sql, params) => (await client.query(sql, params)).rows as unknown;
}

async function list(run: RunStatement, table: string): Promise<Partition[]> {
  return (await run(PARTITIONS, [table])) as Partition[];
}

async function missing(run: RunStatement, table: string, period: Period, at?: Date): Promise<string[]> {
  return aheadOf(table, period, await list(run, table), at ?? (await clockOf(run)));
}

/** The database's, which alone decides: a host's may be months wrong. */
async function clockOf(run: RunStatement): Promise<Date> {
  const [row] = (await run('select clock_timestamp() as now')) as { now: Date }[];
  if (row === undefined) throw new Error('the database has no clock');
  return row.now;
}

/**
 * The statements that make the missing partitions, each all or nothing: of all that is before the oldest one where that
 * is of a later time than now, and from the end of the newest on.
 */
function aheadOf(table: string, period: Period, existing: readonly Partition[], now: Date): string[] {
  const statements: string[] = [];
  const [oldest] = existing;
  const present = startOf(period, now, 0);
  let end = existing.at(-1)?.below;
  if (oldest === undefined || (oldest.from !== null && oldest.from > lowestIdSince(present))) {
    const below = oldest?.from ?? lowestIdSince(startOf(period, now, 1));
    statements.push(makeOne(table, nameOf(table, period, present), null, below));
    end ??= below;
  }
  for (let ahead = 0; ahead <= AHEAD[period] && end !== undefined; ahead++) {
    const below = lowestIdSince(startOf(period, now, ahead + 1));
    if (below <= end) continue;
    // Times in which no process made any are part of the first one that is made.
    statements.push(makeOne(table, nameOf(table, period, startOf(period, now, ahead)), end, below));
    end = below;
  }
  return statements;
}

/** Created separately and then attached, because `create table ... partition of` would lock the whole table. */
function makeOne(table: string, name: string, from: string | null, below: string): string {
  return `do $$ begin
    create table ${name} (like ${table} including all) with (${STORAGE});
    alter table ${table} attach partition ${name} for values from (${from === null ? 'minvalue' : `'${from}'`}) to ('${below}');
  end $$`;
}

/** A partitioned table has no storage parameters of its own. */
const STORAGE = 'autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05';

/** `webhook_delivery_20261129`, `message_content_202611`. */
function nameOf(table: string, period: Period, start: Date): string {
  const digits = start.toISOString().replaceAll('-', '');
  return `${table}_${digits.slice(0, period === 'day' ? 8 : 6)}`;
}

/** The beginning of a day or month by UTC, so many of them after this time. */
function startOf(period: Period, time: Date, after: number): Date {
  if (period === 'day') return new Date((Math.floor(time.getTime() / DAY_MS) + after) * DAY_MS);
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + after, 1));
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
  and old.relname ~ ('^' || parent.relname || '_[0-9]{6,8}$')`;
