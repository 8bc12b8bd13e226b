import type { Database } from '../../src/infrastructure/database/database.js';

/**
 * Writes down every counted try from here on, because the count goes with a message's row of the queue.
 *
 * @returns how many tries of a message were counted since.
 */
export async function watchTries(
  database: Pick<Database, 'query' | 'execute'>,
): Promise<(messageId: string) => Promise<number>> {
  await database.execute('create table counted_try (message_id uuid)');
  await database.execute(
    `create function note_try() returns trigger language plpgsql as $$
     begin
       insert into counted_try values (new.message_id);
       return null;
     end $$`,
  );
  await database.execute(
    `create trigger note_try after update on message_queue for each row when (new.tries > old.tries)
     execute function note_try()`,
  );
  return async (messageId) =>
    (await database.query('select 1 from counted_try where message_id = $1', [messageId])).length;
}
