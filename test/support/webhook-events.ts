import { newId } from '../../src/common/ids.js';

interface Rows {
  execute(sql: string, params?: readonly unknown[]): Promise<number>;
  query<R extends Record<string, unknown>>(sql: string, params?: readonly unknown[]): Promise<R[]>;
}

/** An event as it waits for its delivery. */
export type WaitingEvent = Record<string, unknown> & { type: string; occurred_at: Date; data: Record<string, unknown> };

/** Lets a workspace have an endpoint that takes these events; nothing is delivered to it. */
export async function listenFor(
  rows: Rows,
  organizationId: string,
  events: readonly string[] = ['message.received', 'message.status.updated'],
): Promise<void> {
  await rows.execute(
    `insert into webhook_endpoint (id, organization_id, url, events, active, inactive_since)
     values ($1, $2, 'https://hooks.example.com/', $3, false, now())`,
    [newId(), organizationId, events],
  );
}

/** The events of one message, in the order in which they count themselves. */
export async function eventsOf(rows: Rows, messageId: string): Promise<WaitingEvent[]> {
  return rows.query<WaitingEvent>(
    `select * from webhook_event_view where data ->> 'message_id' = $1 or data #>> '{message,id}' = $1
     order by (data ->> 'sequence')::integer`,
    [messageId],
  );
}
