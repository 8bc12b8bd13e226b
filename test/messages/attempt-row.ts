import type { Database } from '../../src/infrastructure/database/database.js';

/** An attempt by its id, as callers see it; empty where there is none. */
export async function attemptRow(database: Pick<Database, 'query'>, id: string): Promise<Record<string, unknown>> {
  const rows = await database.query<Record<string, unknown>>('select * from message_attempt_view where id = $1', [id]);
  return rows[0] ?? {};
}

/** All attempts of a message, the first one first. */
export function attemptRows(database: Pick<Database, 'query'>, messageId: string): Promise<Record<string, unknown>[]> {
  const all = 'select * from message_attempt_view where message_id = $1 order by number';
  return database.query<Record<string, unknown>>(all, [messageId]);
}
