import { insertWebhookEvents } from '../../src/modules/webhook/webhook.types.js';
import { WebhookService } from '../../src/modules/webhook/webhook.service.js';
import { newId } from '../../src/common/ids.js';
import type { Database } from '../../src/infrastructure/database/database.js';
import type { ApiClient } from '../support/api-client.js';
import { startTestApp, type TestApp, type TestAppOptions } from '../support/test-app.js';

export const OPEN_TARGETS = { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' };

/** The application with webhooks that may point to this machine. */
export function startWebhookApp(options: TestAppOptions = {}): Promise<TestApp> {
  return startTestApp({ roles: ['api', 'worker'], ...options, env: { ...OPEN_TARGETS, ...options.env } });
}

export interface Subscriber {
  organizationId: string;
  api: ApiClient;
  /** PUT /webhook, which must succeed; returns its data. */
  configure: (settings: Record<string, unknown>) => Promise<Record<string, unknown> & { secret: string }>;
  /** Writes events as a change of messages does, and wakes; returns their ids. */
  emit: (count?: number, type?: string) => Promise<string[]>;
}

export async function subscriber(test: TestApp): Promise<Subscriber> {
  const { id: organizationId } = await test.factories.workspace();
  const { text } = await test.factories.apiKey({ organizationId });
  const api = test.api.as(text);
  return {
    organizationId,
    api,
    configure: async (settings) => {
      const response = await api.request({ method: 'PUT', path: '/webhook', body: settings });
      if (response.status !== 200) throw new Error(`PUT /webhook: ${response.status} ${JSON.stringify(response.body)}`);
      return response.body.data as Record<string, unknown> & { secret: string };
    },
    emit: async (count = 1, type = 'message.status.updated') => {
      const ids = await insertEvents(test.database, [{ organizationId, count, type }]);
      test.app.get(WebhookService).wake([organizationId]);
      return ids;
    },
  };
}

export interface EventBatch {
  organizationId: string;
  count: number;
  type?: string;
  connectionId?: string;
}

/** Writes events in one statement, as a change of messages does. */
export async function insertEvents(database: Database, batches: readonly EventBatch[]): Promise<string[]> {
  const source = `(select b."organizationId" as organization_id, coalesce(b.type, 'message.status.updated') as event_type,
      jsonb_build_object('message_id', $2::uuid, 'status', 'sent', 'sequence', n, 'note', 'größe ✓') as event_data,
      clock_timestamp() as occurred_at, case when b."connectionId" is not null then array[b."connectionId"] end as connection_ids, null::bytea as trace_context
    from json_to_recordset($1) as b ("organizationId" uuid, count integer, type text, "connectionId" uuid), generate_series(1, b.count) n)`;
  const rows = await database.query<{ id: string }>(`with ${insertWebhookEvents(source)} select id from announced`, [
    JSON.stringify(batches),
    newId(),
  ]);
  return rows.map((row) => row.id);
}

/** Makes events that wait for their next attempt due now; the database's clock is the only one. */
export async function makeDue(test: TestApp, organizationId: string): Promise<void> {
  await test.database.execute(
    `update webhook_queue set due_at = clock_timestamp() where organization_id = $1 and attempt_id is null`,
    [organizationId],
  );
  test.app.get(WebhookService).wake([organizationId]);
}

export interface EventState {
  id: string;
  status: string;
  /** Null where it waits no more. */
  tries: number | null;
  /** Attempts that were begun. */
  attempt_count: number;
  due_at: Date | null;
  /** From the end of the last attempt to the next one, to 10 ms; how late a test looks plays no part. */
  wait_ms: number | null;
}

export async function eventState(database: Database, id: string): Promise<EventState> {
  const [row] = await database.query<EventState & { id: string }>(
    `select v.id, v.status, v.tries, coalesce(v.attempt_count, last.attempt, 0) as attempt_count, v.due_at,
       (trunc(extract(epoch from v.due_at - last.created_at) * 100 - last.duration_ms / 10.0) * 10)::double precision
         as wait_ms
     from webhook_event_view v left join lateral (
       select created_at, duration_ms, attempt from webhook_delivery where event_id = v.id order by attempt desc limit 1
     ) as last on true
     where v.id = $1`,
    [id],
  );
  if (row === undefined) throw new Error(`there is no event ${id}`);
  return row;
}

/** As many as one statement writes within its time limit, on a slow machine too. */
const PAST_AT_ONCE = 10_000;

/** Events that were delivered, or given up, one attempt each, so many seconds ago; returns their ids. */
export async function insertPast(
  database: Database,
  organizationId: string,
  { count, outcome, secondsAgo = 60, type = 'message.status.updated' }: PastEvents,
): Promise<string[]> {
  const made: string[] = [];
  while (made.length < count) {
    const slice = Math.min(PAST_AT_ONCE, count - made.length);
    const ids = await insertEvents(database, [{ organizationId, count: slice, type }]);
    if (ids.length !== slice) throw new Error(`${ids.length} of ${slice} events were stored`);
    await database.execute(
      `with v as (
         select * from webhook_event where id = any($1::uuid[])
       ), ended as (
         delete from webhook_queue where event_id = any($1::uuid[])
       )
       insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event_type, attempt, status, http_status,
         duration_ms, created_at)
       select uuid_v7(), organization_id, endpoint_id, id, type, 1, case $2 when 'delivered' then 'succeeded' else 'failed' end,
         case $2 when 'delivered' then 204 else 500 end, 5, clock_timestamp() - make_interval(secs => $3)
       from v`,
      [ids, outcome, secondsAgo],
    );
    made.push(...ids);
  }
  return made;
}

interface PastEvents {
  count: number;
  outcome: 'delivered' | 'exhausted';
  secondsAgo?: number;
  type?: string;
}
