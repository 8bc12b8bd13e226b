import { Injectable } from '@nestjs/common';
import { newId } from '../../../common/ids.js';
import { Database, type Statements } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import {
  GRANT_COLUMNS,
  grantOf,
  grantParams,
  laneGrants,
  type ClaimRequest,
  type GrantRow,
  type Claim,
} from '../../../infrastructure/queue/lane-grant.js';
import { claimsEnded, runClaim } from '../../../infrastructure/queue/lost-claims.js';
import type { TraceContext } from '../../../infrastructure/operations/tracing.js';
import { dueTableLanes, type MarkedLanes, type TableLanes } from '../../../infrastructure/queue/due-lanes.js';
import { WEBHOOK_LANE, type DisabledReason } from '../webhook.types.js';
import { healthAfter, type Health } from './endpoint-health.js';

/** An event that this process may deliver now, with its destination. */
export interface ClaimedEvent {
  eventId: string;
  organizationId: string;
  endpointId: string;
  eventType: string;
  /** JSON text, the same at each claim. */
  data: string;
  occurredAt: Date;
  /** The id of the transaction that wrote it. */
  transaction: string;
  /** Of the database. */
  identity: string;
  attemptId: string;
  /** 1 for the first. */
  attempt: number;
  /** Failed attempts so far. */
  tries: number;
  url: string;
  /** The revision of the endpoint's settings. */
  revision: number;
  /** The secrets that sign now, newest first; base64 of the sealed bytes. */
  secrets: { id: string; sealed: string }[];
  /** The endpoint's own headers, base64 of the sealed bytes; null: it has none. */
  headers: string | null;
  /** The trace of the reported change, where traces are recorded. */
  traceContext: TraceContext | null;
  /** Monotonic milliseconds before the claim. */
  claimedAt: number;
}

/** The part of an outcome that identifies its attempt. */
export type DeliveryAttempt = Pick<
  ClaimedEvent,
  'attemptId' | 'eventId' | 'organizationId' | 'endpointId' | 'revision' | 'eventType' | 'attempt' | 'claimedAt'
>;

/** The outcome of one attempt, as it is stored. */
export interface DeliveryOutcome extends DeliveryAttempt {
  /** `released`: the attempt ended for a reason of our own; it is not logged, and no try is counted. */
  kind: 'succeeded' | 'failed' | 'released';
  /**
   * Whether it counts against the event's tries and the endpoint's health; false for failures that the receiver did not
   * cause.
   */
  counted: boolean;
  httpStatus: number | null;
  error: string | null;
  durationMs: number;
  /** Milliseconds until the next attempt; with `failed`, null means that it was the last. */
  delayMs: number | null;
  /** Minimum pause of the endpoint's lane in milliseconds; null: none. */
  pauseMs: number | null;
}

/** Longer than a delivery (10 s) with its overhead; an attempt without an outcome is due again after it. */
export const LEASE_MS = 20_000;

/** How long recording an outcome is retried; after that its event is delivered again. */
export const RECORD_FOR_MS = 60_000;

/** The effect of an outcome on its endpoint. */
export interface Recorded {
  /** Why this outcome, or another of its batch, disabled the endpoint just now; otherwise null. */
  disabled: DisabledReason | null;
  /** Whether the attempt was made under the endpoint's present settings. */
  isCurrent: boolean;
}

/** A row of the queue whose event was deleted. */
type Removed = Pick<ClaimedEvent, 'eventId' | 'endpointId' | 'attemptId'> & { eventType: null };

/** The grant of a lane (`eventId` null), or a claimed event; see `CLAIM`. */
type ClaimRow = (GrantRow & { eventId: null; laneKey: string }) | ClaimedEvent | Removed;

/** The lane of an endpoint's deliveries. */
export function webhookLaneOf(endpointId: string): string {
  return `${WEBHOOK_LANE}${endpointId}`;
}

export function endpointOfLane(laneKey: string): string {
  return laneKey.slice(WEBHOOK_LANE.length);
}

/**
 * The statements of the lanes on `webhook_queue`: claims, due endpoints, and outcomes with their effect on endpoints.
 */
@Injectable()
export class DispatchRepository {
  /** Endpoints that have due events and accept them. */
  readonly dueEndpoints: MarkedLanes;
  private readonly batches: GroupCommit<DeliveryOutcome, Recorded>;

  constructor(private readonly database: Database) {
    this.dueEndpoints = dueTableLanes(database, LANES);
    this.batches = new GroupCommit(database, {
      name: 'webhook_outcome',
      maxBatch: 250,
      // The deliveries in flight bound the number of outcomes; none may be refused.
      maxWaiting: 100_000,
      byIndex: true,
      lockedForMs: RECORD_FOR_MS,
      commit: (outcomes, statements) => this.commit(outcomes, statements),
    });
  }

  /**
   * Claims up to `limit` due events per lane, the longest due first, in one statement for all lanes: each event gets an
   * attempt and a lease. A paused or disabled endpoint has no claimable events. The secrets are those valid at the time
   * of the claim. Returns one answer per request, in the same order; a lane may occur once only.
   *
   * @param withinMs the time limit of the statement; default: that of every statement.
   * @throws LostClaimError with the claim's id where the claim may have been committed.
   */
  async claim(requests: readonly ClaimRequest[], withinMs?: number): Promise<Claim<ClaimedEvent>[]> {
    const claimedAt = performance.now();
    const claimId = newId();
    const params = [...grantParams(requests), LEASE_MS / 1_000, claimId];
    const statement = (): Promise<ClaimRow[]> => this.database.query(CLAIM, params);
    const rows = await runClaim(this.database, [claimId], statement, withinMs);
    const removed: Removed[] = [];
    const answers = new Map(
      requests.map(({ laneKey }): [string, Claim<ClaimedEvent>] => [laneKey, { grant: null, items: [] }]),
    );
    for (const row of rows) {
      const answer = answers.get(row.eventId === null ? row.laneKey : webhookLaneOf(row.endpointId));
      if (answer === undefined) continue;
      if (row.eventId === null) answer.grant = grantOf(row);
      else if (row.eventType === null) removed.push(row);
      else answer.items.push({ ...row, claimedAt });
    }
    // If this fails, they are claimed again.
    if (removed.length > 0) await this.remove(removed).catch(() => undefined);
    return [...answers.values()];
  }

  private async remove(rows: readonly Removed[]): Promise<void> {
    const sql = 'delete from webhook_queue where event_id = any($1::uuid[]) and attempt_id = any($2::uuid[])';
    const ids = [rows.map(({ eventId }) => eventId), rows.map(({ attemptId }) => attemptId)];
    await this.database.byIndex(() => this.database.execute(sql, ids));
  }

  /** Attempts of a claim whose leases run, or have just ended; events that were claimed again are left out. */
  async findAttempts(endpointIds: readonly string[], claimId: string): Promise<DeliveryAttempt[]> {
    const claimedAt = performance.now();
    await claimsEnded(this.database, endpointIds.map(webhookLaneOf));
    const rows = await this.database.byIndex(() =>
      this.database.query<Omit<DeliveryAttempt, 'claimedAt'>>(FIND_ATTEMPTS, [endpointIds, claimId, LEASE_MS / 1_000]),
    );
    return rows.map((row) => ({ ...row, claimedAt }));
  }

  /**
   * Records an outcome. It changes its event only while no later attempt has begun; the attempt is logged in any case.
   * Recording the same outcome twice is harmless.
   */
  record(outcome: DeliveryOutcome): Promise<Recorded> {
    return this.batches.submit(outcome);
  }

  private async commit(outcomes: DeliveryOutcome[], statements: Statements): Promise<Recorded[]> {
    const endpoints = await statements.query<EndpointState>(RECORD_DELIVERY, [JSON.stringify(outcomes)]);
    const states = new Map(endpoints.map((state) => [state.id, state]));
    const changes = healthChanges(outcomes, states);
    const changed =
      changes.length === 0 ? [] : await statements.query<{ id: string }>(CHANGE_HEALTH, [JSON.stringify(changes)]);
    const isWritten = new Set(changed.map(({ id }) => id));
    const disabled = new Map(
      changes.filter(({ id }) => isWritten.has(id)).map(({ id, disabledReason }) => [id, disabledReason]),
    );
    return outcomes.map(({ endpointId, revision }) => ({
      disabled: disabled.get(endpointId) ?? null,
      isCurrent: states.get(endpointId)?.revision === revision,
    }));
  }
}

/** The endpoint's state when outcomes are recorded. */
interface EndpointState extends Health {
  id: string;
  /** Of its settings. */
  revision: number;
  /** The time by the database's clock. */
  now: number;
}

/**
 * The changes of health that these outcomes cause, in the order of the endpoints' ids, with the `failingSince` that was
 * read. Outcomes under earlier settings are ignored.
 */
function healthChanges(outcomes: readonly DeliveryOutcome[], states: ReadonlyMap<string, EndpointState>) {
  const changes = new Map<string, EndpointState & { knownSince: number | null }>();
  for (const { endpointId, revision, kind, counted, httpStatus } of outcomes) {
    const state = states.get(endpointId);
    if (state === undefined || state.revision !== revision || !counted) continue;
    const known = changes.get(endpointId) ?? state;
    const health = healthAfter(known, { succeeded: kind === 'succeeded', httpStatus }, state.now);
    if (health === known) continue;
    const { failingSince, lastFailureAt, disabledReason } = health;
    changes.set(endpointId, { ...state, failingSince, lastFailureAt, disabledReason, knownSince: state.failingSince });
  }
  return [...changes.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** SQL, for a row of `webhook_queue`: it is not being delivered now. A row whose process died keeps its attempt. */
export const isIdle = (row: string): string => `(${row}.attempt_id is null or ${row}.due_at < clock_timestamp())`;

/** SQL: an endpoint is neither paused, disabled nor deleted. */
export const TAKES_EVENTS = 'active and disabled_reason is null and deleted_at is null';

const LANES: TableLanes = {
  table: 'webhook_endpoint',
  prefix: WEBHOOK_LANE,
  where: TAKES_EVENTS,
  dueSince: (from) => `(select q.due_at from webhook_queue q
    where q.endpoint_id = lane_of.id and q.due_at >= ${from} and q.due_at <= statement_timestamp()
    order by q.endpoint_id, q.due_at limit 1)`,
  nextWaiting: (after) => `(select q.endpoint_id from webhook_queue q
    where q.endpoint_id > ${after} order by q.endpoint_id, q.due_at limit 1)`,
};

// The id of an attempt. It begins with the time by the database's clock, which selects its partition of
// webhook_delivery. Then come 13 characters of the claim's id, by which a lost claim finds it, and its number in the
// claim.
const claimPartOf = (id: string): string => `substr(${id}::text, 20, 13)`;

// $1 to $6 the lanes, $7 lease seconds, $8 the claim's id. Repeated deliveries are harmless, so they continue while
// claims are blocked.
export const CLAIM = `
with ${laneGrants({ runsWhileBlocked: true })}, asked as materialized (
  select lane_grant.slots, lane_grant.low_at, e.id as endpoint_id, e.url, e.revision, e.headers_ciphertext
  from lane_grant join webhook_endpoint e on e.id = substr(lane_grant.key, ${WEBHOOK_LANE.length + 1})::uuid and ${TAKES_EVENTS}
  where lane_grant.slots > 0
), picked as materialized (
  -- In the order in which they became due, from the lane's low-water mark on: removed rows before it are not read, however many
  -- another transaction keeps from being vacuumed.
  select due.*, overlay(uuid_v7()::text placing ${claimPartOf('$8::uuid')}
    || lpad(to_hex(row_number() over ()), 4, '0') from 20)::uuid as next_attempt_id from asked cross join lateral (
    select q.ctid as row_ctid, q.due_at, q.attempt_id from webhook_queue q
    where q.endpoint_id = asked.endpoint_id and q.due_at >= asked.low_at and q.due_at <= statement_timestamp()
    order by q.endpoint_id, q.due_at limit asked.slots for no key update of q skip locked) as due
), claimed as (
  -- The due time is compared again: the ctid may be that of another row by now, or the row claimed by another.
  update webhook_queue q set attempt_count = q.attempt_count + 1, attempt_id = picked.next_attempt_id,
    due_at = clock_timestamp() + make_interval(secs => $7)
  from picked where q.ctid = picked.row_ctid and q.due_at = picked.due_at
  returning q.event_id, q.endpoint_id, q.tries, q.attempt_count, q.attempt_id, picked.attempt_id as lost_attempt_id,
    picked.due_at
), event as (
  -- "offset 0" has each event looked up by its id. It is null where retention or an erasure has removed it, beside a claim or beside what
  -- queued it again.
  select v.organization_id, v.type, v.data, v.occurred_at, v.transaction_id, v.trace_context, claimed.*
  from claimed left join lateral (select * from webhook_event where id = claimed.event_id offset 0) as v on true
), interrupted as (
  -- A row that still had an attempt became due because that attempt's process died. Recorded in the partition of the attempt's day,
  -- which is certain to exist for the least days that the log is kept.
  insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event_type, attempt, status, error,
    next_attempt_at, created_at)
  select lost_attempt_id, organization_id, endpoint_id, event_id, type, attempt_count - 1, 'failed', 'interrupted',
    clock_timestamp(), date_trunc('milliseconds', due_at - make_interval(secs => $7))
  from event where type is not null and lost_attempt_id is not null and due_at > clock_timestamp() - interval '4 days'
  on conflict (id) do nothing
), target as materialized (
  select endpoint_id, url, revision, encode(headers_ciphertext, 'base64') as headers, (
    select json_agg(json_build_object('id', s.id, 'sealed', encode(s.ciphertext, 'base64')) order by s.created_at desc)
    from webhook_secret s
    where s.endpoint_id = asked.endpoint_id and (s.expires_at is null or s.expires_at > clock_timestamp())) as secrets
  from asked where endpoint_id in (select endpoint_id from claimed)
), event_to_deliver as (
  select event.event_id as "eventId", event.organization_id as "organizationId", endpoint_id as "endpointId",
    event.type as "eventType", event.data::text as data, event.occurred_at as "occurredAt", event.tries,
    event.transaction_id::text as transaction, (select identity_of_database()) as identity,
    event.attempt_count as attempt, event.attempt_id as "attemptId", target.url, target.revision, target.secrets,
    target.headers, encode(event.trace_context, 'hex') as "traceContext"
  from event join target using (endpoint_id)
)
select ${GRANT_COLUMNS}, lane_grant.key as "laneKey", event_to_deliver.* from lane_grant full join event_to_deliver on false`;

// By due_at, which is the end of a lease, so that only recently claimed or deferred rows are read.
const FIND_ATTEMPTS = `
select q.attempt_id as "attemptId", q.event_id as "eventId", q.organization_id as "organizationId",
  q.endpoint_id as "endpointId", q.attempt_count as attempt, e.revision, v.type as "eventType"
from unnest($1::uuid[]) as asked (id) join webhook_endpoint e on e.id = asked.id
cross join lateral (
  select * from webhook_queue w where w.endpoint_id = asked.id and ${claimPartOf('w.attempt_id')} = ${claimPartOf('$2::uuid')}
    and w.due_at between statement_timestamp() - make_interval(secs => $3) and statement_timestamp() + make_interval(secs => $3)
  order by w.endpoint_id, w.due_at) as q
join webhook_event v on v.id = q.event_id`;

const milliseconds = (time: string): string => `trunc(extract(epoch from ${time}) * 1000)::double precision`;

export const RECORD_DELIVERY = `
with outcome as materialized (
  select *, kind = 'succeeded' or (kind = 'failed' and "delayMs" is null) as ends
  from json_to_recordset($1) as o ("attemptId" uuid, "eventId" uuid, "organizationId" uuid, "endpointId" uuid,
    "eventType" text, attempt integer, kind text, counted boolean, "httpStatus" integer, error text,
    "durationMs" double precision, "delayMs" double precision)
), picked as materialized (
  select q.ctid as row_ctid, q.attempt_id from webhook_queue q
  where q.event_id = any(array(select "eventId" from outcome))
    and q.attempt_id = any(array(select "attemptId" from outcome))
  order by q.event_id for update of q
), gone as (
  delete from webhook_queue q using picked p join outcome o on o."attemptId" = p.attempt_id
  where q.ctid = p.row_ctid and q.attempt_id = p.attempt_id and o.ends
), back as (
  update webhook_queue q set attempt_id = null, due_at = clock_timestamp() + make_interval(secs => o."delayMs" / 1000),
    tries = q.tries + (o.kind = 'failed' and o.counted)::integer,
    attempt_count = q.attempt_count - (o.kind = 'released')::integer
  from picked p join outcome o on o."attemptId" = p.attempt_id
  where q.ctid = p.row_ctid and q.attempt_id = p.attempt_id and not o.ends
  returning p.attempt_id, q.due_at
), logged as (
  insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event_type, attempt, status, http_status,
    error, duration_ms, next_attempt_at, created_at)
  select o."attemptId", o."organizationId", o."endpointId", o."eventId", o."eventType", o.attempt, o.kind,
    o."httpStatus", o.error, round(o."durationMs"), back.due_at,
    date_trunc('milliseconds', clock_timestamp() - make_interval(secs => o."durationMs" / 1000))
  from outcome o left join back on back.attempt_id = o."attemptId"
  where o.kind <> 'released'
  on conflict (id) do update set status = excluded.status, http_status = excluded.http_status, error = excluded.error,
    duration_ms = excluded.duration_ms,
    next_attempt_at = coalesce(excluded.next_attempt_at, webhook_delivery.next_attempt_at)
)
select e.id, e.revision, ${milliseconds('e.failing_since')} as "failingSince",
  ${milliseconds('e.last_failure_at')} as "lastFailureAt", e.disabled_reason as "disabledReason",
  ${milliseconds('clock_timestamp()')} as now
from webhook_endpoint e where e.id in (select "endpointId" from outcome) and e.deleted_at is null`;

// Another process may have written outcomes meanwhile. A change computed from an outdated state is dropped, and the
// next outcome decides again. Only 410 always applies.
const CHANGE_HEALTH = `
update webhook_endpoint e set failing_since = to_timestamp(c."failingSince" / 1000),
  last_failure_at = to_timestamp(c."lastFailureAt" / 1000), disabled_reason = c."disabledReason",
  inactive_since = case when c."disabledReason" is null then e.inactive_since
    else coalesce(e.inactive_since, clock_timestamp()) end
from json_to_recordset($1) as c (id uuid, revision integer, "knownSince" double precision,
  "failingSince" double precision, "lastFailureAt" double precision, "disabledReason" text)
where e.id = c.id and e.revision = c.revision and e.disabled_reason is null
  and (e.failing_since is not distinct from to_timestamp(c."knownSince" / 1000) or c."disabledReason" = 'gone')
returning e.id`;
