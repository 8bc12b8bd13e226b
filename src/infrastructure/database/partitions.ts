import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { lowestIdSince } from '../../common/ids.js';
import { isWithoutPartition } from './database-faults.js';
import { Database } from './database.js';

/** The period of time that one partition covers, in UTC. */
export type Period = 'day' | 'month';

export interface Partition {
  name: string;
  /** The lowest id of the partition; null: no lower bound. */
  from: string | null;
  /** The upper bound of its ids, exclusive. */
  below: string;
  /** Its detachment began and was never finished. */
  detaching: boolean;
}

/** Runs one statement and returns its rows, like a migration's query runner. */
export type RunStatement = (sql: string, params?: unknown[]) => Promise<unknown>;

/**
 * How many partitions are made ahead: inserts fail where none accepts them, so this is the time an operator has to act.
 */
const AHEAD: Readonly<Record<Period, number>> = { day: 7, month: 2 };
const DAY_MS = 86_400_000;
// An arbitrary number that no other program on the server uses.
const LOCK = 7_204_118_303;
const LOCK_RETRY_MS = 50;
/** A statement that waits for a table's lock blocks all others behind it: fail instead, and retry in the next round. */
const LOCK_TIMEOUT_MS = 2_000;

/**
 * Tables partitioned by range of their id, a UUIDv7, whose first 48 bits are its time in milliseconds: one partition
 * per day or month, made ahead and dropped whole, at the same cost for any number of rows. There is no default
 * partition, because with one no partition could be detached concurrently. Every method may run in several processes at
 * the same time: one does the work, the others wait or skip it.
 */
@Injectable()
export class Partitions {
  constructor(private readonly database: Database) {}

  /**
   * Makes missing partitions for the present period and the next seven days, or two months; returns how many. Call it
   * at the start, before any insert, and at least once a day.
   */
  async makeAhead(table: string, period: Period): Promise<number> {
    if ((await missing(rowsOf(this.database.pool), table, period)).length === 0) return 0;
    return this.locked((client) => makePartitionsAhead(rowsOf(client), table, period));
  }

  /**
   * Drops partitions whose rows are all older than `before`, and older than the database's clock; returns how many.
   * Waits for transactions that use the table, and blocks none. A partition that was detached when a process died is
   * dropped by the next call that finds an old one.
   *
   * @param isNeeded true for an old partition that must stay.
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
      // Polls instead of waiting: a waiting statement has a snapshot, and a detachment waits for it to end.
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
 * Makes missing partitions for the time `at` (default: now, by the database's clock) and ahead of it; returns how many.
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
 * Runs work that inserts into the table, and that leaves nothing behind if it fails. If no partition accepts a row,
 * missing ones are made and the work runs again. This happens when the clock has jumped by months, or after the machine
 * was suspended.
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

/** The time by the database's clock: a host's may be months wrong. */
async function clockOf(run: RunStatement): Promise<Date> {
  const [row] = (await run('select clock_timestamp() as now')) as { now: Date }[];
  if (row === undefined) throw new Error('the database has no clock');
  return row.now;
}

/**
 * The statements that make missing partitions, each all or nothing: one below the oldest partition if that begins after
 * now, and then from the end of the newest on.
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
    // A period in which no process made partitions becomes part of the first new one.
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

/** Set on each partition, because a partitioned table has no storage parameters. */
const STORAGE = 'autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05';

/** `webhook_delivery_20261129`, `message_content_202611`. */
function nameOf(table: string, period: Period, start: Date): string {
  const digits = start.toISOString().replaceAll('-', '');
  return `${table}_${digits.slice(0, period === 'day' ? 8 : 6)}`;
}

/** The beginning of a day or month in UTC, `after` periods after this time. */
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

// Detached partitions keep their names, and the schema of the table.
const DETACHED = `
select old.oid::regclass::text as name from pg_class old join pg_class parent on parent.oid = $1::regclass
where old.relnamespace = parent.relnamespace and old.relkind = 'r' and not old.relispartition
  and old.relname ~ ('^' || parent.relname || '_[0-9]{6,8}$')`;
