import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { FIRST_ID, lowestIdSince } from '../../common/ids.js';
import { BatchPlace } from './batch-place.js';
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

/** Runs one statement; a migration's query runner has such a method. */
export type RunStatement = (sql: string) => Promise<unknown>;

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
  private readonly places = new Map<string, BatchPlace>();

  constructor(private readonly database: Database) {}

  /**
   * Makes the partitions of today and the next seven days that do not exist yet, with the storage parameters of the
   * newest one; returns how many. Call it at the start, before anything is inserted, and at least once a day.
   */
  async makeAhead(table: string): Promise<number> {
    if ((await missing(this.database.pool, table)).length === 0) return 0;
    return this.locked(async (client) => {
      const statements = await missing(client, table);
      for (const statement of statements) await client.query(statement);
      return statements.length;
    });
  }

  /**
   * Drops the partitions whose rows are all older than `before`, and of no later day than yesterday by the database's
   * clock; returns how many. Waits for the transactions that use
   * the table, and blocks none. What was detached when the process died is dropped by the next call that finds some.
   */
  async dropBefore(table: string, before: Date): Promise<number> {
    const now = await clockOf(this.database.pool);
    const limit = lowestIdSince(before < now ? before : now);
    const isOld = ({ below, detaching }: DayPartition): boolean => detaching || below <= limit;
    if (!(await this.list(table)).some(isOld)) return 0;
    return this.locked(async (client) => {
      const old = (await list(client, table)).filter(isOld);
      for (const { name, detaching } of old) {
        await client.query(`alter table ${table} detach partition ${name} ${detaching ? 'finalize' : 'concurrently'}`);
      }
      const detached = await client.query<{ name: string }>(DETACHED, [table]);
      for (const { name } of detached.rows) await client.query(`drop table ${name}`);
      return detached.rows.length;
    });
  }

  /**
   * Deletes rows older than `before` of the partition that was a whole table once, and would else keep them until all of
   * its rows are as old; returns how many, `limit` at the most.
   */
  async clearBefore(table: string, before: Date, limit: number): Promise<number> {
    const [oldest] = await this.list(table);
    if (oldest?.name !== `${table}_before`) return 0;
    const place = this.places.get(table) ?? new BatchPlace(FIRST_ID);
    this.places.set(table, place);
    const remove = `delete from ${oldest.name} where id = any(array(
        select id from ${oldest.name} where id > $1 and id < $3 order by id limit $2))
      returning id::text as place`;
    return place.run(this.database, remove, limit, [lowestIdSince(before)]);
  }

  /** The table's partitions, oldest first. */
  list(table: string): Promise<DayPartition[]> {
    return list(this.database.pool, table);
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
 * For a migration without a transaction: makes a table that has rows the first partition of a table by days, while
 * other processes read and write it. No row is rewritten; the check that ATTACH needs reads the table once and blocks
 * no other transaction. The table must have its id as the primary key, no other unique index, no foreign key and no
 * identity column. May be run again after it was interrupted.
 */
export async function partitionByDay(run: RunStatement, table: string, at?: Date): Promise<void> {
  const before = `${table}_before`;
  const check = `${table}_day`;
  const [kind] = (await run(`select relkind from pg_class where oid = '${table}'::regclass`)) as { relkind: string }[];
  if (kind?.relkind === 'p') return;
  const [clock] = (await run(CLOCK)) as { now: Date }[];
  const now = at ?? clock?.now ?? new Date(Number.NaN);
  // Until the day after tomorrow, or after an id that a wrong clock made: later rows of the old program would fail.
  const [last] = (await run(`select id from ${table} order by id desc limit 1`)) as { id: string }[];
  const latest = Math.max(now.getTime(), last === undefined ? 0 : timeOfId(last.id));
  const until = lowestIdSince(startOfDay(new Date(latest), 2));
  await run(`alter table ${table} drop constraint if exists ${check}`);
  await run(`alter table ${table} add constraint ${check} check (id < '${until}') not valid`);
  await run(`alter table ${table} validate constraint ${check}`);
  const indexes = (await run(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = '${table}'::regclass and not indisprimary`,
  )) as { name: string; definition: string }[];
  // One call, which is one transaction: the table is there at any time. Nothing in it takes long.
  const ahead = aheadOf(table, [{ name: before, from: null, below: until, detaching: false }], now);
  await run(
    [
      `alter table ${table} rename to ${before}`,
      ...indexes.map(({ name }) => `alter index ${name} rename to ${before}${name.slice(table.length)}`),
      `alter index ${table}_pkey rename to ${before}_pkey`,
      `create table ${table} (like ${before} including defaults including constraints including generated including storage)
         partition by range (id)`,
      `alter table ${table} drop constraint ${check}`,
      `alter table ${table} add primary key (id)`,
      ...indexes.map(({ definition }) => definition),
      `alter table ${table} attach partition ${before} for values from (minvalue) to ('${until}')`,
      `alter table ${before} drop constraint ${check}`,
      ...ahead,
    ].join(';\n'),
  );
}

/** Undoes `partitionByDay`: copies all rows into one plain table, in the ambient transaction. */
export async function unpartition(run: RunStatement, table: string): Promise<void> {
  const [options] = (await run(
    `select array_to_string(reloptions, ', ') as storage from pg_class join pg_inherits on inhrelid = oid
     where inhparent = '${table}'::regclass and reloptions is not null limit 1`,
  )) as { storage: string }[];
  await run(`alter table ${table} rename to ${table}_days`);
  const indexes = (await run(
    `select pg_get_indexdef(indexrelid) as definition, indexrelid::regclass::text as name from pg_index
     where indrelid = '${table}_days'::regclass`,
  )) as { definition: string; name: string }[];
  await run(
    `create table ${table} (like ${table}_days including defaults including constraints including generated including storage)`,
  );
  if (options !== undefined) await run(`alter table ${table} set (${options.storage})`);
  await run(`insert into ${table} select * from ${table}_days`);
  await run(`drop table ${table}_days`);
  for (const { name, definition } of indexes) {
    if (name === `${table}_pkey`) await run(`alter table ${table} add primary key (id)`);
    else await run(definition.replace(` ON ONLY `, ' ON ').replace(`${table}_days`, table));
  }
}

interface Queryable {
  query<R extends Record<string, unknown>>(sql: string, params: unknown[]): Promise<{ rows: R[] }>;
}

async function list(client: Queryable, table: string): Promise<DayPartition[]> {
  const { rows } = await client.query<DayPartition & Record<string, unknown>>(PARTITIONS, [table]);
  return rows;
}

/** As `aheadOf` for this table at this time, by the database's clock. */
async function missing(client: Queryable, table: string): Promise<string[]> {
  return aheadOf(table, await list(client, table), await clockOf(client));
}

/** The database's, which alone decides: a host's may be months wrong. */
async function clockOf(client: Queryable): Promise<Date> {
  const { rows } = await client.query<{ now: Date }>(CLOCK, []);
  if (rows[0] === undefined) throw new Error('the database has no clock');
  return rows[0].now;
}

const CLOCK = 'select clock_timestamp() as now';

/**
 * The statements that make the missing partitions, each all or nothing: of all that is before the oldest one where that
 * is of a later day than today, and from the end of the newest on.
 */
function aheadOf(table: string, existing: readonly DayPartition[], now: Date): string[] {
  const statements: string[] = [];
  const [oldest] = existing;
  const today = startOfDay(now, 0);
  let newest = existing.at(-1);
  if (oldest === undefined || (oldest.from !== null && oldest.from > lowestIdSince(today))) {
    const below = oldest?.from ?? lowestIdSince(startOfDay(now, 1));
    const first = { name: nameOf(table, today), from: null, below, detaching: false };
    statements.push(makeOne(table, { ...first, newest: newest?.name ?? null, low: null }));
    newest ??= first;
  }
  if (newest === undefined) return statements;
  let isFirst = true;
  for (let day = 0; day <= DAYS_AHEAD; day++) {
    const from = startOfDay(now, day);
    const below = lowestIdSince(startOfDay(now, day + 1));
    if (below <= newest.below) continue;
    // Days in which no process made any are added to the first one that is made.
    const low = isFirst ? newest.below : lowestIdSince(from);
    statements.push(makeOne(table, { name: nameOf(table, from), newest: newest.name, low, below }));
    isFirst = false;
  }
  return statements;
}

/**
 * Created separately and then attached, because `create table ... partition of` would lock the whole table.
 * A table by days has no storage parameters of its own, so they are taken from a partition.
 */
function makeOne(
  table: string,
  partition: { name: string; newest: string | null; low: string | null; below: string },
): string {
  const { name, newest, low, below } = partition;
  return `do $$ begin
    create table ${name} (like ${table} including all);
    execute coalesce((select 'alter table ${name} set (' || array_to_string(reloptions, ', ') || ')'
      from pg_class where oid = ${newest === null ? 'null' : `'${newest}'::regclass`} and reloptions is not null), 'select 1');
    alter table ${table} attach partition ${name} for values from (${low === null ? 'minvalue' : `'${low}'`}) to ('${below}');
  end $$`;
}

function nameOf(table: string, day: Date): string {
  return `${table}_${day.toISOString().slice(0, 10).replaceAll('-', '')}`;
}

function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

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
  and old.relname ~ ('^' || parent.relname || '_(before|[0-9]{8})$')`;
