import { heraldVersion } from '../../common/version.js';
import { migrations } from '../../../migrations/all.js';
import { timeOf } from './schema-state.js';

/** The prefix of the name of the listening connection, which each process of the service has while it runs. */
export const LISTENER = 'herald-listen';

/**
 * A connection name that tells every role, through pg_stat_activity, the process's release and the newest migration it
 * knows.
 */
export function listenerName(): string {
  return `${LISTENER} ${heraldVersion()} ${timeOf(migrations.at(-1)?.name ?? '')}`;
}

/** How many connected processes know the migration of this name, by release; each may use what it made. */
export async function processesWith(
  query: (sql: string) => Promise<{ name: string }[]>,
  migration: string,
): Promise<Map<string, number>> {
  const rows = await query(
    `select application_name as name from pg_stat_activity
     where datname = current_database() and application_name like '${LISTENER} %'`,
  );
  const found = new Map<string, number>();
  for (const { name } of rows) {
    const [, version = '', newest = ''] = name.split(' ');
    if (Number(newest) >= timeOf(migration)) found.set(version, (found.get(version) ?? 0) + 1);
  }
  return found;
}
