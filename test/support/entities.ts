import { join } from 'node:path';
import { type DataSource, type EntityMetadata, getMetadataArgsStorage } from 'typeorm';
import { filesUnder, ROOT } from './project-files.js';

/** The classes of all entities, for a data source outside the application. */
export async function allEntities(): Promise<(new () => object)[]> {
  for (const path of filesUnder('src/modules', (file) => file.endsWith('.entity.ts'))) await import(join(ROOT, path));
  return getMetadataArgsStorage().tables.map(({ target }) => target as new () => object);
}

interface StoredColumn {
  name: string;
  /** With its precision, and [] for an array. */
  type: string;
  isRequired: boolean;
  isKey: boolean;
  /** An insert may leave it out. */
  isFilled: boolean;
}

const COLUMNS = `
select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as "isRequired",
  coalesce(a.attnum = any(k.conkey), false) as "isKey",
  not a.attnotnull or a.atthasdef or a.attidentity <> '' or a.attgenerated <> '' as "isFilled"
from pg_attribute a left join pg_constraint k on k.conrelid = a.attrelid and k.contype = 'p'
where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped`;

/** As PostgreSQL writes it: `timestamp(3) with time zone`, `text[]`. */
function typeOf({ type, precision, scale, isArray }: EntityMetadata['columns'][number]): string {
  const size = [precision ?? [], scale ?? []].flat();
  const name = type === 'timestamptz' ? 'timestamp with time zone' : String(type);
  return `${size.length === 0 ? name : name.replace(/^\w+/, `$&(${size.join(',')})`)}${isArray ? '[]' : ''}`;
}

/** What an entity says that the migrated table does not, as sentences. */
export async function differences(dataSource: DataSource, entity: EntityMetadata): Promise<string[]> {
  const stored = await dataSource.query<StoredColumn[]>(COLUMNS, [entity.tableName]);
  if (stored.length === 0) return [`there is no table ${entity.tableName}`];
  const byName = new Map(stored.map((column) => [column.name, column]));
  const found = entity.columns.flatMap((said) => {
    const { databaseName, isNullable, isPrimary } = said;
    const place = `${entity.tableName}.${databaseName}`;
    const column = byName.get(databaseName);
    byName.delete(databaseName);
    if (column === undefined) return [`there is no column ${place}`];
    const full = typeOf(said);
    return [
      ...(full === column.type ? [] : [`${place} is ${column.type}, not ${full}`]),
      ...(isNullable === column.isRequired ? [`${place} is ${column.isRequired ? 'not ' : ''}nullable`] : []),
      ...(isPrimary === column.isKey ? [] : [`${place} is ${column.isKey ? '' : 'not '}a part of the key`]),
    ];
  });
  const unfilled = [...byName.values()].filter(({ isFilled }) => !isFilled);
  return [
    ...found,
    ...unfilled.map(({ name }) => `${entity.tableName}.${name} is missing, and no insert may leave it out`),
  ];
}
