import { Injectable } from '@nestjs/common';
import { Database, type Statements } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import type { DisabledReason } from '../webhook.types.js';
import { healthAfter, restAfter, type Health, type Rest } from './endpoint-health.js';

/** What came of one attempt, as it is written down. */
export interface DeliveryOutcome {
  attemptId: string;
  eventId: string;
  organizationId: string;
  endpointId: string;
  /** Of the endpoint's settings that the attempt was made under. */
  revision: number;
  eventType: string;
  attempt: number;
  /** `released`: given up for a reason of our own; nothing is logged and no try is counted. */
  kind: 'succeeded' | 'failed' | 'released';
  /** Against the event's tries and the endpoint's health; false for what the receiver has no part in. */
  counted: boolean;
  httpStatus: number | null;
  error: string | null;
  durationMs: number;
  /** Milliseconds until the next attempt; with `failed` null: it was the last. */
  delayMs: number | null;
  /** Milliseconds for which the endpoint is to rest at least; null: it need not. */
  restMs: number | null;
  /** Monotonic milliseconds before the claim. */
  claimedAt: number;
}

export interface Recorded {
  /** Why this outcome, or one of its batch, ended the endpoint's deliveries just now. */
  disabled: DisabledReason | null;
}

interface EndpointRow {
  id: string;
  revision: number;
  failing_since: Date | null;
  last_failure_at: Date | null;
  disabled_reason: DisabledReason | null;
  rests_until: Date | null;
  rests: number;
  now: Date;
}

interface HealthChange {
  id: string;
  revision: number;
  known: Health;
  health: Health;
  rest: Rest;
}

/** For so long an outcome is tried to be recorded; after that its event is delivered again. */
export const RECORD_FOR_MS = 60_000;

/** Writes down what came of attempts, many in one statement, and what that means for their endpoints. */
@Injectable()
export class OutcomesRepository {
  private readonly batches: GroupCommit<DeliveryOutcome, Recorded>;

  constructor(database: Database) {
    this.batches = new GroupCommit(database, {
      name: 'webhook_outcome',
      maxBatch: 250,
      // Outcomes are bounded by the deliveries in flight; none may be refused.
      maxWaiting: 100_000,
      transactional: false,
      lockedForMs: RECORD_FOR_MS,
      commit: (outcomes, statements) => this.commit(outcomes, statements),
    });
  }

  /**
   * Records an outcome. It moves its event only while no later attempt has begun; the attempt is logged in any case.
   * Recording the same outcome twice does no harm.
   */
  record(outcome: DeliveryOutcome): Promise<Recorded> {
    return this.batches.submit(outcome);
  }

  private async commit(outcomes: DeliveryOutcome[], statements: Statements): Promise<Recorded[]> {
    const endpoints = await statements.query<EndpointRow>(RECORD, [JSON.stringify(outcomes)]);
    const changes = healthChanges(outcomes, endpoints);
    if (changes.length > 0) await statements.execute(CHANGE_HEALTH, [JSON.stringify(changes.map(changeRow))]);
    const disabled = new Map(changes.map(({ id, health }) => [id, health.disabledReason]));
    return outcomes.map(({ endpointId }) => ({ disabled: disabled.get(endpointId) ?? null }));
  }
}

/**
 * Which endpoints' health or rest changes by these outcomes; what was met under earlier settings counts for nothing.
 *
 * @param monotonicNow the time of `row.now` by the clock of `claimedAt`.
 */
export function healthChanges(
  outcomes: readonly DeliveryOutcome[],
  endpoints: readonly EndpointRow[],
  monotonicNow = performance.now(),
): HealthChange[] {
  const byEndpoint = new Map(endpoints.map((row) => [row.id, row]));
  const changes = new Map<string, HealthChange>();
  for (const outcome of outcomes) {
    const row = byEndpoint.get(outcome.endpointId);
    if (row === undefined || row.revision !== outcome.revision || !outcome.counted) continue;
    const { id, revision } = row;
    const known = healthOf(row);
    const before = changes.get(id) ?? { health: known, rest: { until: timeIn(row.rests_until), count: row.rests } };
    const now = row.now.getTime();
    const succeeded = outcome.kind === 'succeeded';
    const health = healthAfter(before.health, { succeeded, httpStatus: outcome.httpStatus }, now);
    const claimedAt = now - (monotonicNow - outcome.claimedAt);
    const rest = restAfter(before.rest, { succeeded, restMs: outcome.restMs, claimedAt }, now);
    if (health !== before.health || rest !== before.rest) changes.set(id, { id, revision, known, health, rest });
  }
  return [...changes.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function healthOf(row: EndpointRow): Health {
  return {
    failingSince: timeIn(row.failing_since),
    lastFailureAt: timeIn(row.last_failure_at),
    disabledReason: row.disabled_reason,
  };
}

function changeRow({ id, revision, known, health, rest }: HealthChange) {
  return {
    id,
    revision,
    knownSince: timeOf(known.failingSince),
    failingSince: timeOf(health.failingSince),
    lastFailureAt: timeOf(health.lastFailureAt),
    disabledReason: health.disabledReason,
    restsUntil: timeOf(rest.until),
    rests: rest.count,
  };
}

function timeIn(column: Date | null): number | null {
  return column?.getTime() ?? null;
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

const RECORD = `
with outcome as (
  select * from json_to_recordset($1) as o ("attemptId" uuid, "eventId" uuid, "organizationId" uuid, "endpointId" uuid,
    "eventType" text, attempt integer, kind text, counted boolean, "httpStatus" integer, error text,
    "durationMs" double precision, "delayMs" double precision)
), locked as (
  select v.id from webhook_event v join outcome o on o."eventId" = v.id order by v.id for update of v
), moved as (
  update webhook_event v set
    status = case when o.kind = 'succeeded' then 'delivered'
      when o.kind = 'failed' and o."delayMs" is null then 'exhausted' else 'pending' end,
    tries = v.tries + (o.kind = 'failed' and o.counted)::integer,
    attempt_count = v.attempt_count - (o.kind = 'released')::integer,
    current_attempt_id = null,
    next_attempt_at = case when o.kind <> 'succeeded' then clock_timestamp() + make_interval(secs => o."delayMs" / 1000) end
  from outcome o join locked on locked.id = o."eventId"
  where v.id = o."eventId" and v.current_attempt_id = o."attemptId" and v.status = 'pending'
  returning v.current_attempt_id, o."attemptId" as attempt_id, v.next_attempt_at
), logged as (
  insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event_type, attempt, status, http_status,
    error, duration_ms, next_attempt_at, created_at)
  select o."attemptId", o."organizationId", o."endpointId", o."eventId", o."eventType", o.attempt, o.kind,
    o."httpStatus", o.error, round(o."durationMs"), moved.next_attempt_at,
    date_trunc('milliseconds', clock_timestamp() - make_interval(secs => o."durationMs" / 1000))
  from outcome o left join moved on moved.attempt_id = o."attemptId"
  where o.kind <> 'released'
  on conflict (id) do update set status = excluded.status, http_status = excluded.http_status, error = excluded.error,
    duration_ms = excluded.duration_ms,
    next_attempt_at = coalesce(excluded.next_attempt_at, webhook_delivery.next_attempt_at)
)
select e.id, e.revision, e.failing_since, e.last_failure_at, e.disabled_reason, e.rests_until, e.rests,
  clock_timestamp() as now
from webhook_endpoint e where e.id in (select "endpointId" from outcome) and e.deleted_at is null`;

// Another process may have written its own outcomes meanwhile: what was decided from another beginning is left out,
// and the next outcome decides anew. Only 410 stands whatever came before.
const CHANGE_HEALTH = `
update webhook_endpoint e set failing_since = c."failingSince", last_failure_at = c."lastFailureAt",
  disabled_reason = c."disabledReason", rests_until = c."restsUntil", rests = c.rests,
  inactive_since = case when c."disabledReason" is null then e.inactive_since
    else coalesce(e.inactive_since, clock_timestamp()) end
from json_to_recordset($1) as c (id uuid, revision integer, "knownSince" timestamptz, "failingSince" timestamptz,
  "lastFailureAt" timestamptz, "disabledReason" text, "restsUntil" timestamptz, rests integer)
where e.id = c.id and e.revision = c.revision and e.disabled_reason is null
  and (e.failing_since is not distinct from c."knownSince" or c."disabledReason" = 'gone')`;
