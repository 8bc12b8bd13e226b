import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** A row of `message` as it was before its state was elsewhere, as JSON. */
export type OldRow = Record<string, unknown> & { id: string; status: string };

/** So that the move has most of the machine. */
const PAUSE_MS = 10;

/**
 * Does what the release before 1766000000000 did to messages: accepts, claims, records outcomes, puts back, applies
 * reports, retries, each in a statement that changes the same columns. It stops at the first statement that fails.
 */
export class OldProgram {
  /** What it knows to be committed. */
  readonly rows = new Map<string, OldRow>();
  failure: unknown = null;
  private stopped = false;
  private readonly ended: Promise<void>;

  constructor(
    private readonly pool: pg.Pool,
    private readonly ids: { organizationId: string; connectionId: string },
    /** Messages that it found when it began, to send and report on. */
    private readonly found: OldRow[],
    workers: number,
  ) {
    this.ended = Promise.all(Array.from({ length: workers }, (_, n) => this.work(n, workers))).then(() => undefined);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.ended;
  }

  private async work(worker: number, workers: number): Promise<void> {
    const mine = this.found.filter((_, index) => index % workers === worker);
    try {
      for (let round = 0; !this.stopped; round++) {
        const row =
          mine[round] ?? (await this.run(ACCEPT, [randomUUID(), this.ids.organizationId, this.ids.connectionId]));
        if (row !== null) await this.advance(row, round);
        await pause(PAUSE_MS);
      }
    } catch (error) {
      this.failure ??= error;
    }
  }

  /** Each message has another history: to the end, back to the queue, into an unknown outcome and out of it again. */
  private async advance(row: OldRow, round: number): Promise<void> {
    const attempt = randomUUID();
    if (row.status === 'queued') {
      if ((await this.run(CLAIM, [row.id, attempt])) === null || round % 7 === 0) return;
      const status = ['accepted', 'queued', 'failed', 'outcome_unknown'][round % 4];
      const closed = { accepted: 'accepted', queued: 'deferred', failed: 'rejected' }[status ?? ''] ?? 'unknown';
      await this.run(OUTCOME, [row.id, attempt, status, closed, status === 'accepted' ? `wamid.${row.id}` : null]);
      if (status !== 'accepted') return;
    }
    const reports = row.status === 'sent' ? ['delivered', 'read'] : ['sent', 'delivered', 'read'];
    for (const status of reports.slice(0, round % 4)) await this.run(REPORT, [row.id, status]);
    if (row.status === 'failed') await this.run(RETRY, [row.id]);
  }

  private async run(sql: string, params: unknown[]): Promise<OldRow | null> {
    const { rows } = await this.pool.query<{ row: OldRow }>(sql, params);
    const row = rows[0]?.row ?? null;
    if (row !== null) this.rows.set(row.id, row);
    return row;
  }
}

const ACCEPT = `
insert into message as m (id, organization_id, connection_id, direction, type, recipient, sender, body, content,
  idempotency_key, fingerprint, status, created_at, queued_at, next_attempt_at)
select $1, $2, $3, 'outbound', 'text', '1555' || floor(random() * 10000000), '16505550134', 'Hi', '{"body": "Hi"}',
  gen_random_uuid(), '\\x01', 'queued', date_trunc('milliseconds', clock_timestamp()), clock_timestamp(), clock_timestamp()
returning to_jsonb(m) as row`;

const CLAIM = `
with claimed as (
  update message m set status = 'processing', processing_at = greatest(clock_timestamp(), m.queued_at),
    lease_until = clock_timestamp() + interval '20 seconds', attempt_count = m.attempt_count + 1,
    current_attempt_id = $2, next_attempt_at = null
  where id = $1 and status = 'queued' returning m.*
), attempts as (
  insert into message_attempt (id, organization_id, message_id, number, status, started_at)
  select current_attempt_id, organization_id, id, attempt_count, 'started', processing_at from claimed
)
select to_jsonb(claimed) as row from claimed`;

const OUTCOME = `
with moved as (
  update message m set status = $3, meta_message_id = coalesce($5, m.meta_message_id), lease_until = null,
    event_count = m.event_count + case when $3 = 'queued' then 0 else 1 end,
    tries = m.tries + case when $3 = 'queued' then 1 else 0 end,
    next_attempt_at = case when $3 = 'queued' then clock_timestamp() + interval '1 hour' end,
    accepted_at = case when $3 = 'accepted' then clock_timestamp() end,
    failed_at = case when $3 = 'failed' then clock_timestamp() end,
    failure_category = case when $3 = 'failed' then 'invalid_content' end,
    error_code = case when $3 = 'failed' then '131000' end
  where id = $1 and current_attempt_id = $2 and status in ('processing', 'outcome_unknown') returning m.*
), closed as (
  update message_attempt set status = $4, finished_at = clock_timestamp(), http_status = 200, meta_message_id = $5
  where id = $2
)
select to_jsonb(moved) as row from moved`;

const REPORT = `
update message m set status = $2, event_count = m.event_count + 1,
  sent_at = case when $2 = 'sent' then clock_timestamp() else m.sent_at end,
  delivered_at = case when $2 = 'delivered' then clock_timestamp() else m.delivered_at end,
  read_at = case when $2 = 'read' then clock_timestamp() else m.read_at end
where id = $1 and status in ('accepted', 'sent', 'delivered') returning to_jsonb(m) as row`;

const RETRY = `
update message m set status = 'queued', seq = default, queued_at = clock_timestamp(), next_attempt_at = clock_timestamp(),
  tries = 0, processing_at = null, failed_at = null, failure_category = null, error_code = null, error_message = null
where id = $1 and status = 'failed' returning to_jsonb(m) as row`;
