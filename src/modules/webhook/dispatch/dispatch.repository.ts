import { Injectable } from '@nestjs/common';
import { FIRST_ID } from '../../../common/ids.js';
import { Database, hasRow, type Statements } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import { ALL_EVERY_MS, SweepPlace } from '../../../infrastructure/queue/sweeps.js';
import type { TraceContext } from '../../../infrastructure/operations/tracing.js';
import type { DisabledReason } from '../webhook.types.js';
import { healthAfter, MAX_IN_FLIGHT, restAfter, type Health, type Rest } from './endpoint-health.js';

/** An event that this process may deliver now, and where to. */
export interface ClaimedEvent {
  eventId: string;
  organizationId: string;
  endpointId: string;
  eventType: string;
  /** JSON text, the same at each claim. */
  data: string;
  occurredAt: Date;
  /** Id of the transaction that wrote it. */
  transaction: string;
  /** Of the database. */
  identity: string;
  attemptId: string;
  /** 1 for the first. */
  attempt: number;
  /** Failed attempts so far. */
  tries: number;
  url: string;
  /** Of the endpoint's settings. */
  revision: number;
  /** Those that sign now, newest first; base64 of the sealed bytes. */
  secrets: { id: string; sealed: string }[];
  /** Of the endpoint's own headers: base64 of the sealed bytes; null: it has none. */
  headers: string | null;
  /** Of the reported change, where its trace is recorded. */
  traceContext: TraceContext | null;
  /** Monotonic milliseconds before the claim. */
  claimedAt: number;
}

/** The outcome of one attempt, as it is recorded. */
export interface DeliveryOutcome extends Pick<
  ClaimedEvent,
  'attemptId' | 'eventId' | 'organizationId' | 'endpointId' | 'revision' | 'eventType' | 'attempt' | 'claimedAt'
> {
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
}

/** Longer than a delivery may take (10 s) with the time around it; an attempt without an outcome is due again then. */
export const LEASE_MS = 20_000;

/** For so long an outcome is tried to be recorded; after that its event is delivered again. */
export const RECORD_FOR_MS = 60_000;

// Any number that no other program on the server uses for this purpose.
const CLAIM_LOCK = 720_411;

/**
 * The dispatcher's statements: due events, claims, and outcomes of attempts, many in one statement, with their effect
 * on the endpoints.
 */
@Injectable()
export class DispatchRepository {
  private readonly batches: GroupCommit<DeliveryOutcome, DisabledReason | null>;
  /**
   * When the last event that was claimed of each endpoint became due: see SweepPlace. Claims go by that time, so no event
   * waits that became due before.
   */
  private readonly places = new Map<string, string>();
  private placesSince = -Infinity;

  constructor(private readonly database: Database) {
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

  /** SQL of a condition without which no endpoint has due events. What was claimed a moment ago is seldom the last. */
  get hasWork(): string {
    return this.places.size > 0 ? 'true' : HAS_WAITING;
  }

  /**
   * Looks at up to `limit` endpoints that take events behind the endpoint `after` (null: from the first), and returns
   * those that have due ones. Never reads a backlog.
   *
   * @returns `next`: the last endpoint that was looked at where more may follow, else null.
   */
  async dueEndpoints(limit: number, after: string | null): Promise<{ endpoints: string[]; next: string | null }> {
    const places = this.placesOfMinute();
    const params = [limit, after ?? FIRST_ID, [...places.keys()], [...places.values()]];
    const rows = await this.database.query<{ id: string; due: boolean }>(DUE, params);
    const next = rows.length === limit ? (rows.at(-1)?.id ?? null) : null;
    return { endpoints: rows.flatMap(({ id, due }) => (due ? [id] : [])), next };
  }

  /**
   * Claims due events of many endpoints, each one's oldest due first; every event gets an attempt and a lease. An
   * endpoint that is paused, disabled or at rest gives none, nor one with `mostInFlight` deliveries in flight in all processes, nor
   * one that another process claims from at this moment. The secrets are those of this moment.
   *
   * @param wanted how many events at the most, by endpoint.
   */
  async claim(wanted: ReadonlyMap<string, number>, mostInFlight = MAX_IN_FLIGHT): Promise<ClaimedEvent[]> {
    const capacities = [...wanted.values()];
    const most = capacities.reduce((sum, capacity) => sum + capacity, 0);
    const ids = [...wanted.keys()];
    const known = this.placesOfMinute();
    const places = ids.map((id) => known.get(id) ?? null);
    const params = [ids, capacities, most, LEASE_MS / 1_000, mostInFlight, CLAIM_LOCK, places];
    const claimedAt = performance.now();
    const claimed = await this.database.query<ClaimedEvent & { place: string }>(CLAIM, params);
    for (const event of claimed) {
      event.claimedAt = claimedAt;
      this.places.set(event.endpointId, event.place);
    }
    return claimed;
  }

  /**
   * Records an outcome. It moves its event only while no later attempt has begun; the attempt is logged in any case.
   * Recording the same outcome twice does no harm.
   *
   * @returns why it, or one of its batch, ended the endpoint's deliveries just now; else null.
   */
  record(outcome: DeliveryOutcome): Promise<DisabledReason | null> {
    return this.batches.submit(outcome);
  }

  /** Once a minute all events are looked at, in case that a place hides some. */
  private placesOfMinute(): ReadonlyMap<string, string> {
    const now = performance.now();
    if (now - this.placesSince > ALL_EVERY_MS) {
      this.places.clear();
      this.placesSince = now;
    }
    return this.places;
  }

  private async commit(outcomes: DeliveryOutcome[], statements: Statements): Promise<(DisabledReason | null)[]> {
    const endpoints = await statements.query<EndpointState>(RECORD, [JSON.stringify(outcomes)]);
    const changes = healthChanges(outcomes, endpoints);
    if (changes.length > 0) await statements.execute(CHANGE_HEALTH, [JSON.stringify(changes)]);
    const disabled = new Map(changes.map(({ id, disabledReason }) => [id, disabledReason]));
    return outcomes.map(({ endpointId }) => disabled.get(endpointId) ?? null);
  }
}

/** What is known of an endpoint at the recording of outcomes. */
interface EndpointState extends Health, Rest {
  id: string;
  /** Of its settings. */
  revision: number;
  /** By the database's clock. */
  now: number;
}

/**
 * Which endpoints' health or rest changes by these outcomes, in the order of their ids, with the `failingSince` that was
 * read; what was met under earlier settings counts for nothing.
 */
function healthChanges(outcomes: readonly DeliveryOutcome[], endpoints: readonly EndpointState[]) {
  const monotonicNow = performance.now();
  const states = new Map(endpoints.map((state) => [state.id, state]));
  const changes = new Map<string, EndpointState & { knownSince: number | null }>();
  for (const { endpointId, revision, kind, counted, httpStatus, restMs, claimedAt } of outcomes) {
    const state = states.get(endpointId);
    if (state === undefined || state.revision !== revision || !counted) continue;
    const { now } = state;
    const known = changes.get(endpointId) ?? state;
    const succeeded = kind === 'succeeded';
    const health = healthAfter(known, { succeeded, httpStatus }, now);
    const rest = restAfter(known, { succeeded, restMs, claimedAt: now - (monotonicNow - claimedAt) }, now);
    if (health === known && rest === known) continue;
    const { failingSince, lastFailureAt, disabledReason } = health;
    const settled = { failingSince, lastFailureAt, disabledReason, restsUntil: rest.restsUntil, rests: rest.rests };
    changes.set(endpointId, { ...state, ...settled, knownSince: state.failingSince });
  }
  return [...changes.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** SQL: the endpoint `e` is neither paused, disabled, deleted nor at rest. */
export const TAKES_EVENTS = `e.active and e.disabled_reason is null and e.deleted_at is null
  and (e.rests_until is null or e.rests_until <= clock_timestamp())`;

const HAS_WAITING = hasRow(`from webhook_event where status = 'pending'`, 'endpoint_id, next_attempt_at');

// $1 limit, $2 the endpoint behind which to look, $3 and $4 the places of endpoints. With a limit, so that each endpoint is
// looked up by itself: to join them the planner would read all that waits, with what was removed.
const DUE = `
select e.id, due.due is not null as due
from (select e.id from webhook_endpoint e where e.id > $2 and ${TAKES_EVENTS} order by e.id limit $1) as e
left join unnest($3::uuid[], $4::text[]) as known (id, place) on known.id = e.id
left join lateral (
  select true as due from webhook_event v
  where v.endpoint_id = e.id and v.status = 'pending'
    and v.next_attempt_at between ${SweepPlace.from('known.place')} and statement_timestamp()
  order by v.next_attempt_at limit 1) as due on true
order by e.id`;

// $1 endpoints, $2 how many events of each, $3 how many events in all, $4 lease seconds, $5 most in flight in all
// processes, $6 class of the locks, by which two claims at once do not both fill an endpoint's places, $7 from where on
// the events of each are looked at. "numbered" repeats the limit for the planner alone: of one that must be computed it expects a tenth of the backlog, and would
// read the whole table to update ten rows. statement_timestamp() and not clock_timestamp(), by which no index is
// searched: the claim would walk on through all events that are not due yet. An event that still has an attempt became
// due because that attempt's process died: it is recorded as such, in the partition of the attempt's day, which is
// certain to exist for the least days that the log is kept.
const CLAIM = `
with wanted as materialized (
  select w.endpoint_id, e.url, e.revision, e.headers_ciphertext, w.capacity, ${SweepPlace.from('w.place')} as due_from, (
    select count(*) from webhook_event f where f.endpoint_id = w.endpoint_id
      and f.current_attempt_id is not null and f.next_attempt_at > statement_timestamp()) as in_flight
  from unnest($1::uuid[], $2::integer[], $7::text[]) as w (endpoint_id, capacity, place)
  join webhook_endpoint e on e.id = w.endpoint_id and ${TAKES_EVENTS}
  where pg_try_advisory_xact_lock($6, hashtext(w.endpoint_id::text))
), due as (
  select found.* from wanted cross join lateral (
    select v.id, v.current_attempt_id, v.next_attempt_at from webhook_event v
    where v.endpoint_id = wanted.endpoint_id and v.status = 'pending'
      and v.next_attempt_at between wanted.due_from and statement_timestamp()
    order by v.next_attempt_at limit least(wanted.capacity, greatest(0, $5 - wanted.in_flight))
    for update of v skip locked) as found
), numbered as (
  select due.*, uuid_v7() as attempt_id from due limit $3::integer
), claimed as (
  update webhook_event v set attempt_count = v.attempt_count + 1, current_attempt_id = numbered.attempt_id,
    next_attempt_at = clock_timestamp() + make_interval(secs => $4)
  from numbered where v.id = numbered.id
  returning v.id, v.organization_id, v.endpoint_id, v.type, v.data, v.occurred_at, v.tries, v.attempt_count,
    v.trace_context, v.transaction_id, v.current_attempt_id, numbered.current_attempt_id as lost_attempt_id, numbered.next_attempt_at as due_at
), interrupted as (
  insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event_type, attempt, status, error,
    next_attempt_at, created_at)
  select lost_attempt_id, organization_id, endpoint_id, id, type, attempt_count - 1, 'failed', 'interrupted',
    clock_timestamp(), date_trunc('milliseconds', due_at - make_interval(secs => $4))
  from claimed where lost_attempt_id is not null and due_at > clock_timestamp() - interval '4 days'
  on conflict (id) do nothing
), target as materialized (
  select wanted.endpoint_id, wanted.url, wanted.revision, encode(wanted.headers_ciphertext, 'base64') as headers, (
    select json_agg(json_build_object('id', s.id, 'sealed', encode(s.ciphertext, 'base64')) order by s.created_at desc)
    from webhook_secret s
    where s.endpoint_id = wanted.endpoint_id and (s.expires_at is null or s.expires_at > clock_timestamp())) as secrets
  from wanted where endpoint_id in (select endpoint_id from claimed)
)
select claimed.id as "eventId", claimed.organization_id as "organizationId", endpoint_id as "endpointId",
  claimed.type as "eventType",
  claimed.data::text as data, claimed.occurred_at as "occurredAt", claimed.tries,
  claimed.transaction_id::text as transaction, (select identity_of_database()) as identity,
  claimed.attempt_count as attempt, claimed.current_attempt_id as "attemptId",
  target.url, target.revision, target.secrets, target.headers, encode(claimed.trace_context, 'hex') as "traceContext",
  (max(claimed.due_at) over (partition by endpoint_id))::text as place
from claimed join target using (endpoint_id)`;

const milliseconds = (time: string): string => `trunc(extract(epoch from ${time}) * 1000)::double precision`;

// What is checked of an event is checked as it is locked: in the update's own condition it would let the planner read an
// index of what waits, with all its removed rows, in place of the events by their ids.
export const RECORD = `
with outcome as (
  select * from json_to_recordset($1) as o ("attemptId" uuid, "eventId" uuid, "organizationId" uuid, "endpointId" uuid,
    "eventType" text, attempt integer, kind text, counted boolean, "httpStatus" integer, error text,
    "durationMs" double precision, "delayMs" double precision)
), locked as (
  select v.id, o."attemptId", v.status = 'pending' and v.current_attempt_id = o."attemptId" as is_last
  from webhook_event v join outcome o on o."eventId" = v.id order by v.id for update of v
), moved as (
  update webhook_event v set
    status = case when o.kind = 'succeeded' then 'delivered'
      when o.kind = 'failed' and o."delayMs" is null then 'exhausted' else 'pending' end,
    tries = v.tries + (o.kind = 'failed' and o.counted)::integer,
    attempt_count = v.attempt_count - (o.kind = 'released')::integer,
    current_attempt_id = null,
    next_attempt_at = case when o.kind <> 'succeeded' then clock_timestamp() + make_interval(secs => o."delayMs" / 1000) end
  from outcome o join locked on locked."attemptId" = o."attemptId"
  where v.id = locked.id and locked.is_last
  returning o."attemptId" as attempt_id, v.next_attempt_at
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
select e.id, e.revision, ${milliseconds('e.failing_since')} as "failingSince",
  ${milliseconds('e.last_failure_at')} as "lastFailureAt", e.disabled_reason as "disabledReason",
  ${milliseconds('e.rests_until')} as "restsUntil", e.rests, ${milliseconds('clock_timestamp()')} as now
from webhook_endpoint e where e.id in (select "endpointId" from outcome) and e.deleted_at is null`;

// Another process may have written its own outcomes meanwhile: what was decided from another beginning is left out,
// and the next outcome decides again. Only 410 counts in any case.
const CHANGE_HEALTH = `
update webhook_endpoint e set failing_since = to_timestamp(c."failingSince" / 1000),
  last_failure_at = to_timestamp(c."lastFailureAt" / 1000), disabled_reason = c."disabledReason",
  rests_until = to_timestamp(c."restsUntil" / 1000), rests = c.rests,
  inactive_since = case when c."disabledReason" is null then e.inactive_since
    else coalesce(e.inactive_since, clock_timestamp()) end
from json_to_recordset($1) as c (id uuid, revision integer, "knownSince" double precision,
  "failingSince" double precision, "lastFailureAt" double precision, "disabledReason" text,
  "restsUntil" double precision, rests integer)
where e.id = c.id and e.revision = c.revision and e.disabled_reason is null
  and (e.failing_since is not distinct from to_timestamp(c."knownSince" / 1000) or c."disabledReason" = 'gone')`;
