import type { Database } from '../../src/infrastructure/database/database.js';

/**
 * Rows of a table, of all its partitions, and entries of their indexes that PostgreSQL looks at in `work`: what a statement costs, whatever else
 * the machine does meanwhile.
 */
export function rowsRead(database: Database, table: string, work: () => Promise<unknown>): Promise<number> {
  const soFar = async (): Promise<number> => {
    const [row] = await database.query<{ read: string }>(
      `with part as (select $1::regclass::oid as oid union select relid from pg_partition_tree($1))
       select sum(pg_stat_get_xact_tuples_returned(oid)) as read from (
         select oid from part union all select indexrelid from pg_index where indrelid in (select oid from part)) relations`,
      [table],
    );
    return Number(row?.read);
  };
  return database.transaction(async () => {
    // What an earlier transaction of this connection read may be in the count still.
    const before = await soFar();
    await work();
    return (await soFar()) - before;
  });
}
