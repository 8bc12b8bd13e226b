import type { Database } from '../../src/infrastructure/database/database.js';

/**
 * Rows of a table, of all its partitions, and entries of their indexes that PostgreSQL looks at in `work`: what a statement costs, whatever else
 * the machine does meanwhile.
 */
export async function rowsRead(database: Database, table: string, work: () => Promise<unknown>): Promise<number> {
  return (await costOf(database, table, work)).entries;
}

/** What PostgreSQL looks at of a table, of all its partitions and of their indexes. */
export interface Cost {
  /** Rows that scans of the whole table return, and entries that indexes return, those of removed rows among them. */
  entries: number;
  pages: number;
  /** Scans of the whole table. They pass over removed rows without a trace in `entries`. */
  scans: number;
}

/** @param before runs in the same transaction and is not counted: settings, for example. */
export function costOf(
  database: Database,
  table: string,
  work: () => Promise<unknown>,
  before: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Cost> {
  const soFar = async (): Promise<Cost> => {
    const { entries, pages, scans } = await database.row<Record<keyof Cost, string>>(
      `with part as (select $1::regclass::oid as oid union select relid from pg_partition_tree($1))
       select sum(pg_stat_get_xact_tuples_returned(oid)) as entries, sum(pg_stat_get_xact_blocks_fetched(oid)) as pages,
         sum(case when is_table then pg_stat_get_xact_numscans(oid) else 0 end) as scans
       from (
         select oid, true as is_table from part
         union all select indexrelid, false from pg_index where indrelid in (select oid from part)) relations`,
      [table],
    );
    return { entries: Number(entries), pages: Number(pages), scans: Number(scans) };
  };
  return database.transaction(async () => {
    await before();
    // What an earlier transaction of this connection read may be in the count still.
    const from = await soFar();
    await work();
    const to = await soFar();
    return { entries: to.entries - from.entries, pages: to.pages - from.pages, scans: to.scans - from.scans };
  });
}

/** The partitions of a table in which `work` looks for rows or inserts some, by their names. */
export function partitionsTouched(
  database: Database,
  table: string,
  work: () => Promise<unknown>,
  settings = '',
): Promise<string[]> {
  const soFar = async (): Promise<Map<string, number>> => {
    const rows = await database.query<{ name: string; count: string }>(
      `select p.relid::regclass::text as name, pg_stat_get_xact_numscans(p.relid) + pg_stat_get_xact_tuples_inserted(p.relid)
         + coalesce((select sum(pg_stat_get_xact_numscans(indexrelid)) from pg_index where indrelid = p.relid), 0) as count
       from pg_partition_tree($1) p where p.isleaf order by 1`,
      [table],
    );
    return new Map(rows.map(({ name, count }) => [name, Number(count)]));
  };
  return database.transaction(async () => {
    const from = await soFar();
    await work();
    return [...(await soFar())].flatMap(([name, count]) => (count > (from.get(name) ?? 0) ? [name] : []));
  }, settings);
}
