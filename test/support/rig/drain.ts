import type { Pool } from 'pg';
import { waitFor } from './wait.js';

/** Resolves when no message is queued or on its way any more. */
export async function untilDrained(pool: Pool, timeoutMs: number): Promise<void> {
  await waitFor(
    'the messages to drain',
    async () => {
      const { rowCount } = await pool.query('select 1 from message_queue limit 1');
      return rowCount === 0 ? true : null;
    },
    { timeoutMs, everyMs: 200 },
  );
}

export interface DrainSpan {
  messages: number;
  perSecond: number;
}

/** How fast messages went from the first claim to the last stored outcome, by the database's clock. */
export async function drainSpan(pool: Pool): Promise<DrainSpan> {
  const { rows } = await pool.query<{ messages: number; seconds: number }>(
    `select count(*)::integer as messages,
       extract(epoch from max(accepted_at) - min(processing_at))::double precision as seconds
     from message_state where status = 'accepted'`,
  );
  const { messages, seconds } = rows[0] ?? { messages: 0, seconds: 0 };
  return { messages, perSecond: messages / seconds };
}
