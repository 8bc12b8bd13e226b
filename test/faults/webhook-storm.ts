import { setTimeout as pause } from 'node:timers/promises';
import { insertWebhookEvents } from '../../src/modules/webhook/webhook.types.js';
import { Receiver, verifies } from './webhook-receiver.js';

/** Whatever runs a statement on Herald's database. */
export type RunStatement = <R extends Record<string, unknown>>(
  sql: string,
  params?: readonly unknown[],
) => Promise<R[]>;

export interface StormEndpoint {
  organizationId: string;
  /** Its path at the receiver. */
  path: string;
  secret: string;
}

export interface StormVerdict {
  events: number;
  attempts: number;
  /** Answered with 2xx by the receiver. */
  acknowledged: number;
  exhausted: number;
  /** Neither acknowledged nor exhausted. */
  lost: number;
  /** Deliveries that came although an earlier one had been acknowledged ... */
  repeated: number;
  /** ... without a kill in between that could have swallowed the acknowledgement. */
  repeatedWithoutKill: number;
  unverifiable: number;
  /** Marked as delivered though the receiver acknowledged none. */
  untrue: number;
}

const FAILING_SHARE = 0.3;
const HURRY_EVERY_MS = 300;

/** Many endpoints that fail at random, whose every delivery is verified and counted. */
export class WebhookStorm {
  /** performance.now() before and after each kill. */
  private readonly kills: number[] = [];
  private readonly acknowledgedAt = new Map<string, number[]>();
  private readonly ids: string[] = [];
  private readonly secrets = new Map<string, string>();
  private attempts = 0;
  private unverifiable = 0;
  private ended = false;

  constructor(
    private readonly run: RunStatement,
    readonly receiver: Receiver,
  ) {
    receiver.keep = false;
    receiver.answer = (delivery) => {
      this.attempts++;
      const secret = this.secrets.get(delivery.path);
      if (secret === undefined || !verifies(secret, delivery)) this.unverifiable++;
      if (Math.random() < FAILING_SHARE) return { status: Math.random() < 0.5 ? 500 : 503 };
      this.acknowledgedAt.set(delivery.id, [...(this.acknowledgedAt.get(delivery.id) ?? []), delivery.at]);
      return { status: 204 };
    };
  }

  get acknowledged(): number {
    return this.acknowledgedAt.size;
  }

  /** Writes `eachMany` events for every endpoint, as changes of messages do. */
  async emit(endpoints: readonly StormEndpoint[], eachMany: number): Promise<void> {
    for (const { path, secret } of endpoints) this.secrets.set(path, secret);
    const source = `(select o::uuid as organization_id, 'message.status.updated' as event_type,
        jsonb_build_object('status', 'sent', 'sequence', n) as event_data, clock_timestamp() as occurred_at,
        null::uuid[] as connection_ids, null::bytea as trace_context
      from unnest($1::text[]) o, generate_series(1, $2) n)`;
    const rows = await this.run<{ id: string }>(`with ${insertWebhookEvents(source)} select id from announced`, [
      endpoints.map(({ organizationId }) => organizationId),
      eachMany,
    ]);
    this.ids.push(...rows.map(({ id }) => id));
  }

  /** Kills the one process that delivers. What it had sent may be read here only after it is gone, and is its own yet. */
  async kill(process: () => Promise<void>): Promise<void> {
    this.kills.push(performance.now());
    await process();
    await this.receiver.drained();
    this.kills.push(performance.now());
  }

  /** Shortens the waits between attempts, which are hours by the schedule, until the storm is over. */
  async hurry(): Promise<void> {
    while (!this.ended && this.receiver.isListening) {
      await this.run(
        `update webhook_queue set due_at = clock_timestamp() where attempt_id is null and due_at > clock_timestamp()`,
      ).catch(() => undefined);
      await pause(HURRY_EVERY_MS);
    }
  }

  /** Lets the leases of a worker that was killed run out at once. */
  async expireLeases(): Promise<void> {
    await this.run(`update webhook_queue set due_at = clock_timestamp() where attempt_id is not null`);
  }

  async open(): Promise<number> {
    const rows = await this.run<{ count: number }>('select count(*)::integer as count from webhook_queue');
    return rows[0]?.count ?? 0;
  }

  async judge(): Promise<StormVerdict> {
    this.ended = true;
    const states = await this.run<{ id: string; status: string }>('select id, status from webhook_event_view');
    const statusOf = new Map(states.map(({ id, status }) => [id, status]));
    const verdict: StormVerdict = {
      events: this.ids.length,
      attempts: this.attempts,
      acknowledged: this.acknowledgedAt.size,
      exhausted: 0,
      lost: 0,
      repeated: 0,
      repeatedWithoutKill: 0,
      unverifiable: this.unverifiable,
      untrue: 0,
    };
    for (const id of this.ids) {
      const times = this.acknowledgedAt.get(id) ?? [];
      const status = statusOf.get(id);
      if (status === 'exhausted') verdict.exhausted++;
      else if (times.length === 0) verdict.lost++;
      if (status === 'delivered' && times.length === 0) verdict.untrue++;
      verdict.repeated += Math.max(0, times.length - 1);
      for (let i = 1; i < times.length; i++)
        if (!this.killedBetween(times[i - 1], times[i])) verdict.repeatedWithoutKill++;
    }
    return verdict;
  }

  private killedBetween(from = 0, until = 0): boolean {
    return this.kills.some((kill) => kill >= from && kill <= until);
  }
}
