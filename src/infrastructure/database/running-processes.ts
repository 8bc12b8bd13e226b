import { heraldVersion } from '../../common/version.js';
import { migrations } from '../../../migrations/all.js';
import { timeOf } from './schema-state.js';

/** Begins the name of the connection with which each process of the service listens as long as it runs. */
export const LISTENER = 'herald-listen';

/** Shows in pg_stat_activity, to every role, which release the process is of, and the newest migration that it knows. */
export function listenerName(): string {
  return `${LISTENER} ${heraldVersion()} ${timeOf(migrations.at(-1)?.name ?? '')}`;
}

/** How many processes are connected that know the migration of this name, by release; each may use what it made. */
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
