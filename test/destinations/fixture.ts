import { newId } from '../../src/common/ids.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { insertWebhookEvents } from '../../src/modules/webhook/webhook.types.js';
import type { Database } from '../../src/infrastructure/database/database.js';
import type { ApiClient } from '../support/api-client.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

export interface Destination {
  id: string;
  name: string;
  kind: string;
  status: string;
  secrets: string[];
  last_error: string | null;
  last_error_at: string | null;
  failing_since: string | null;
  retry_at: string | null;
  waiting: number;
  written: number;
  lost: number;
}

/** A workspace with destinations. */
export class DestinationOwner {
  private constructor(
    readonly test: TestApp,
    readonly organizationId: string,
    readonly api: ApiClient,
  ) {}

  static async of(test: TestApp): Promise<DestinationOwner> {
    const { id } = await test.factories.workspace();
    const { text } = await test.factories.apiKey({ organizationId: id });
    return new DestinationOwner(test, id, test.api.as(text));
  }

  async create(body: Record<string, unknown>): Promise<Destination> {
    const answer = await this.api.post('/destinations', { name: 'orders', ...body });
    if (answer.status !== 201) throw new Error(`POST /destinations: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.data as Destination;
  }

  async read(id: string): Promise<Destination> {
    const answer = await this.api.get(`/destinations/${id}`);
    if (answer.status !== 200) throw new Error(`GET /destinations/${id}: ${answer.status}`);
    return answer.body.data as Destination;
  }

  /** Waits until the destination is as asked for. */
  until(id: string, isSo: (destination: Destination) => boolean, what: string): Promise<Destination> {
    return waitFor(
      async () => {
        const found = await this.read(id);
        if (!isSo(found)) throw new Error(JSON.stringify(found));
        return found;
      },
      { what, everyMs: 100 },
    );
  }

  /** Until nothing waits for it. */
  untilWritten(id: string): Promise<Destination> {
    return this.until(id, ({ waiting, status }) => waiting === 0 && status === 'active', 'all events to be written');
  }

  /** Writes events in their order, `each` of every conversation by turns; returns their ids. */
  async emit(conversations: readonly string[], each: number, from = 0): Promise<string[]> {
    const { test, organizationId } = this;
    const ids = await insertConversationEvents(test.database, organizationId, conversations, each, from);
    // A transaction of any database that began before hides them from readers.
    const hidden = `select count(*)::integer as count from webhook_event
      where organization_id = $1 and transaction_id >= pg_snapshot_xmin(pg_current_snapshot())`;
    await waitFor(async () => (await test.database.count(hidden, [organizationId])) === 0, {
      what: 'readers to see the events',
    });
    return ids;
  }

  /** A failing destination is tried at once, without its wait. */
  async retryNow(id: string): Promise<void> {
    await this.test.database.execute(
      'update event_destination set due_at = clock_timestamp() where id = $1 and attempt_id is null',
      [id],
    );
    await this.test.app.get(Sweeps).runNow('destinations_due');
  }
}

export const conversations = (count: number): string[] => Array.from({ length: count }, () => newId());

export async function insertConversationEvents(
  database: Database,
  organizationId: string,
  of: readonly string[],
  each: number,
  from = 0,
): Promise<string[]> {
  const source = `(select $1::uuid as organization_id, 'message.status.updated' as event_type,
      jsonb_build_object('conversation_id', c.id, 'n', n, 'sequence', n * 100000 + c.at, 'note', 'größe ✓') as event_data,
      clock_timestamp() as occurred_at, null::uuid[] as connection_ids, null::bytea as trace_context
    from generate_series($3::integer + 1, $3::integer + $4::integer) n cross join unnest($2::uuid[]) with ordinality as c (id, at))`;
  const rows = await database.query<{ id: string }>(`with ${insertWebhookEvents(source)} select id from announced`, [
    organizationId,
    of,
    from,
    each,
  ]);
  return rows.map(({ id }) => id);
}

/** What a reader of the broker got. */
export interface Got {
  id: string;
  body: { id: string; type: string; data: { conversation_id: string; n: number } };
}

/**
 * What was received against what was written: nothing is missing, nothing is foreign, and the first time that each event came is in the
 * order of its conversation.
 *
 * @returns how often an event came that had come before.
 */
export function expectComplete(got: readonly Got[], written: readonly string[]): number {
  const first = new Map<string, Got>();
  for (const each of got) if (!first.has(each.id)) first.set(each.id, each);
  expect([...first.keys()].sort()).toEqual([...written].sort());
  const last = new Map<string, number>();
  for (const { body } of first.values()) {
    const { conversation_id: conversation, n } = body.data;
    expect(n).toBeGreaterThan(last.get(conversation) ?? 0);
    last.set(conversation, n);
  }
  return got.length - first.size;
}
