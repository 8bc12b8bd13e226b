import pg from 'pg';

/** Everything that a migration can make, as one comparable list. */
const SCHEMA = `
  select 'column' as kind, table_name || '.' || column_name as name,
    concat_ws(' ', data_type, udt_name, is_nullable, column_default, is_identity, datetime_precision) as definition
  from information_schema.columns where table_schema = 'public'
  union all select 'index', indexname, indexdef || (select case when indisvalid then '' else ' invalid' end
    from pg_index where indexrelid = to_regclass(indexname)) from pg_indexes where schemaname = 'public'
  union all select 'constraint', conrelid::regclass || '.' || conname,
    pg_get_constraintdef(oid) || case when convalidated then '' else ' unproven' end
  from pg_constraint where connamespace = 'public'::regnamespace
  union all select 'type', typname, typtype::text from pg_type
  where typnamespace = 'public'::regnamespace and typtype in ('e', 'd')
  union all select 'function', proname, pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
  union all select 'trigger', tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
  union all select 'table', relname, coalesce(array_to_string(reloptions, ','), '') || relpersistence::text
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
  order by 1, 2, 3`;

export interface SchemaPart {
  kind: string;
  name: string;
  definition: string;
}

/** The schema of a database without the note of its migrations. */
export async function schemaOf(url: string): Promise<SchemaPart[]> {
  const rows = await rowsOf<SchemaPart>(url, SCHEMA);
  return rows.filter((row) => !`${row.name} ${row.definition}`.includes('schema_migration'));
}

/** How many rows each table has, and what is in them; without the note of the migrations. */
export async function contentsOf(url: string): Promise<Record<string, string>> {
  const tables = await rowsOf<{ name: string }>(
    url,
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
       and not relispartition and relname <> 'schema_migration' order by relname`,
  );
  const each = tables.map(
    ({ name }) =>
      `select '${name}' as name, count(*) || ' rows, ' || md5(string_agg(each::text, ',' order by each::text)) as rows from ${name} as each`,
  );
  const found = await rowsOf<{ name: string; rows: string | null }>(url, each.join(' union all '));
  return Object.fromEntries(found.map(({ name, rows }) => [name, rows ?? '0 rows']));
}

/** The rows of one statement on a connection of its own. */
export async function rowsOf<T extends object>(url: string, sql: string, params: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(sql, params)).rows;
  } finally {
    await client.end();
  }
}
