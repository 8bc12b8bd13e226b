import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';
import { OrganizationEntity } from '../entities/workspace.entity.js';
import type { ErasureBatch } from './erasure.service.js';

/**
 * Number of blocks of a table that one statement handles. It is lower for a table that others refer to, because a
 * delete there also searches the tables that refer to it.
 */
const BLOCKS = { leaf: 1_024, parent: 32 } as const;

/** A table with rows of workspaces. */
export interface OwnedTable {
  /** The table's name, quoted, with its schema. */
  name: string;
  /** Whether other tables refer to this table. */
  isParent: boolean;
  /** The column that refers to another row of the same table; null where there is none. */
  selfReference: string | null;
}

/**
 * Statements on every table with the column `organization_id`, found at run time, so that new tables are included.
 * Tables are walked block by block, so each statement is short and needs no index.
 */
@Injectable()
export class WorkspaceErasureRepository {
  constructor(private readonly database: Database) {}

  /** The tables, in an order in which a table comes before the tables that it refers to. */
  async tables(): Promise<OwnedTable[]> {
    const rows = await this.database.query<{ oid: number; name: string; refers_to: number[]; self: string | null }>(
      OWNED_TABLES,
    );
    const ordered = new Set<(typeof rows)[number]>();
    const visit = (row: (typeof rows)[number]): void => {
      for (const other of rows) if (other !== row && other.refers_to.includes(row.oid)) visit(other);
      ordered.add(row);
    };
    rows.forEach(visit);
    return [...ordered].map((row) => ({
      name: row.name,
      isParent: rows.some((other) => other !== row && other.refers_to.includes(row.oid)),
      selfReference: row.self,
    }));
  }

  /** Counts, or deletes, the workspace's rows in one part of a table: some blocks, from the cursor on. */
  async part(table: OwnedTable, organizationId: string, cursor: string | null, erase: boolean): Promise<ErasureBatch> {
    const from = Number(cursor ?? 0);
    const to = from + (table.isParent ? BLOCKS.parent : BLOCKS.leaf);
    const values = [organizationId, `(${from},0)`, `(${to},0)`];
    const own = 'organization_id = $1 and ctid >= $2::tid and ctid < $3::tid';
    // In a transaction, because that is repeated if another one deletes rows of the queue at the same time.
    const [row] = await this.database.transaction(
      () =>
        this.database.query<{ found: number; blocks: number }>(
          erase
            ? `with gone as (delete from ${table.name} where ${own} returning *)${PARTS[table.name] ?? ''} ${COUNTED('gone', table.name)}`
            : `with here as (select 1 from ${table.name} where ${own}) ${COUNTED('here', table.name)}`,
          values,
        ),
      BY_KEY,
    );
    return { found: { [table.name]: row?.found ?? 0 }, cursor: to < (row?.blocks ?? 0) ? String(to) : null };
  }

  /** Clears references between rows of one table. */
  async loosen(table: OwnedTable, organizationId: string): Promise<void> {
    if (table.selfReference === null) return;
    await this.database.execute(
      `update ${table.name} set ${table.selfReference} = null
       where organization_id = $1 and ${table.selfReference} is not null`,
      [organizationId],
    );
  }

  /** The ids of the workspace in which keys of lanes and token buckets end. */
  async keyEnds(organizationId: string): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(KEY_ENDS, [organizationId]);
    return rows.map(({ id }) => id);
  }

  /** Counts, or deletes, lanes and token buckets whose keys end in one of the ids. Returns how many. */
  async keyed(ids: readonly string[], erase: boolean): Promise<number> {
    let found = 0;
    for (const table of ['lane', 'rate_bucket']) {
      const own = `from ${table} where right(key, 36) = any($1::text[]) or right(key, 12) = any($1::text[])`;
      found += await this.database.execute(erase ? `delete ${own}` : `select 1 ${own}`, [ids]);
    }
    return found;
  }

  /** Deletes the workspace's own row. Returns false where another process has deleted it. */
  async remove(organizationId: string): Promise<boolean> {
    return (await this.database.repository(OrganizationEntity).delete({ id: organizationId })).affected === 1;
  }
}

/**
 * Makes PostgreSQL join row by row: the planner does not know that a look-up in a partitioned table reads only one
 * partition.
 */
const BY_KEY = 'set local enable_hashjoin = off; set local enable_mergejoin = off';

/** Rows without a workspace that belong to a table's rows are deleted with them. */
const PARTS: Readonly<Record<string, string>> = {
  message: `, said as (delete from message_content c using gone where c.message_id = gone.id),
    named as (delete from platform_message p using gone
      where p.connection_id = gone.connection_id and p.meta_message_id = gone.meta_message_id)`,
};

const COUNTED = (rows: string, table: string): string =>
  `select (select count(*)::integer from ${rows}) as found,
     (pg_relation_size('${table}') / current_setting('block_size')::integer)::integer as blocks`;

// The audit trail stays, without anything that may name a person: see `Audit.forget`. Partitions are listed instead of
// their table, because a block belongs to a partition.
const OWNED_TABLES = `
select c.oid::integer as oid, c.oid::regclass::text as name,
  coalesce((select array_agg(f.confrelid::integer) from pg_constraint f where f.contype = 'f' and f.conrelid = c.oid),
    '{}') as refers_to,
  (select a.attname from pg_constraint f join pg_attribute a on a.attrelid = c.oid and a.attnum = f.conkey[1]
   where f.contype = 'f' and f.conrelid = c.oid and f.confrelid = c.oid limit 1) as self
from pg_class c
where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
  and c.relname <> 'audit_event'
  and exists (select from pg_attribute a
    where a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped)
order by 2`;

const KEY_ENDS = `
select id::text as id from connection where organization_id = $1
union all select id::text from webhook_endpoint where organization_id = $1
union all select id::text from otp_project where organization_id = $1
union all select id::text from setup_link where organization_id = $1
union all select id from api_key where organization_id = $1`;
