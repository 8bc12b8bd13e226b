import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';
import { MOST_IN_FLIGHT } from './delivery-window.js';

/** An event that this process may deliver now, and where to. */
export interface ClaimedEvent {
  id: string;
  organizationId: string;
  endpointId: string;
  type: string;
  /** JSON text, the same at each claim. */
  data: string;
  occurredAt: Date;
  attemptId: string;
  /** 1 for the first. */
  attemptNumber: number;
  /** Failed attempts so far. */
  tries: number;
  url: string;
  /** Of the endpoint's settings. */
  revision: number;
  /** Those that sign now, newest first; base64 of the sealed bytes. */
  secrets: { id: string; sealed: string }[];
}

interface ClaimRow {
  id: string;
  organization_id: string;
  endpoint_id: string;
  type: string;
  data: string;
  occurred_at: Date;
  attempt_id: string;
  attempt_number: number;
  tries: number;
  url: string;
  revision: number;
  secrets: { id: string; sealed: string }[];
}

/** Longer than a delivery may take (10 s) with the time around it; an attempt without an outcome is due again then. */
export const LEASE_MS = 20_000;

/** Days that events wait for an endpoint that is paused or disabled (contract: webhook deliveries). */
export const HELD_DAYS = 3;

// Any number that no other program on the server uses for this purpose.
const CLAIM_LOCK = 720_411;

/** The dispatcher's statements on `webhook_event`: what is due, claims, what is dropped in time. */
@Injectable()
export class DispatchRepository {
  constructor(private readonly database: Database) {}

  /**
   * Looks at up to `limit` endpoints with waiting events behind the endpoint `after` (null: from the first), and returns
   * those that have due events and take them now. Skips from endpoint to endpoint, never reads a backlog.
   *
   * @returns `next`: the last endpoint that was looked at where more may follow, else null.
   */
  async dueEndpoints(limit: number, after: string | null): Promise<{ endpoints: string[]; next: string | null }> {
    const rows = await this.database.query<{ id: string; due: boolean }>(DUE, [limit, after ?? FIRST]);
    const next = rows.length === limit ? (rows.at(-1)?.id ?? null) : null;
    return { endpoints: rows.flatMap(({ id, due }) => (due ? [id] : [])), next };
  }

  /**
   * Claims due events of many endpoints, each one's oldest due first; every event gets an attempt and a lease. An
   * endpoint that is paused, disabled or at rest gives none, nor one with ten deliveries in flight in all processes, nor
   * one that another process claims from at this moment. The secrets are those of this moment.
   *
   * @param wanted how many events at the most, by endpoint.
   */
  async claim(wanted: ReadonlyMap<string, number>): Promise<ClaimedEvent[]> {
    const capacities = [...wanted.values()];
    const most = capacities.reduce((sum, capacity) => sum + capacity, 0);
    const params = [[...wanted.keys()], capacities, most, LEASE_MS / 1_000, MOST_IN_FLIGHT, CLAIM_LOCK];
    const rows = await this.database.query<ClaimRow>(CLAIM, params);
    return rows.map((row) => ({
      id: row.id,
      organizationId: row.organization_id,
      endpointId: row.endpoint_id,
      type: row.type,
      data: row.data,
      occurredAt: row.occurred_at,
      attemptId: row.attempt_id,
      attemptNumber: row.attempt_number,
      tries: row.tries,
      url: row.url,
      revision: row.revision,
      secrets: row.secrets,
    }));
  }

  /** Drops events that have waited for three days for an endpoint which has rested for as long; returns how many. */
  dropHeld(limit: number): Promise<number> {
    return this.database.execute(DROP_HELD, [HELD_DAYS, limit]);
  }

  /** Drops what waits beyond `most` events for an endpoint that fails or rests; returns how many. */
  dropExcess(most: number, limit: number): Promise<number> {
    return this.database.execute(DROP_EXCESS, [most, limit]);
  }

  /** Removes waiting events of deleted endpoints, and endpoints that have none left; returns how many events. */
  async purgeDeleted(limit: number): Promise<number> {
    const events = await this.database.execute(PURGE_EVENTS, [limit]);
    const log = await this.database.execute(PURGE_LOG, [limit]);
    if (events === 0 && log === 0) await this.database.execute(PURGE_ENDPOINTS);
    return events + log;
  }

  /** Removes events whose ids, which begin with their time, are below this one; returns how many. */
  removeOld(below: string, limit: number): Promise<number> {
    return this.database.execute(
      'delete from webhook_event where id = any(array(select id from webhook_event where id < $1 order by id limit $2))',
      [below, limit],
    );
  }

  /** Removes replaced secrets that no longer sign. */
  purgeSecrets(): Promise<number> {
    return this.database.execute('delete from webhook_secret where expires_at < clock_timestamp()');
  }
}

const FIRST = '00000000-0000-0000-0000-000000000000';

const TAKES_EVENTS = `e.active and e.disabled_reason is null and e.deleted_at is null
  and (e.rests_until is null or e.rests_until <= clock_timestamp())`;

const headBehind = (endpoint: string, n: string): string => `
  select endpoint_id, next_attempt_at, ${n} as n from webhook_event
  where status = 'pending' and endpoint_id > ${endpoint} order by endpoint_id, next_attempt_at limit 1`;

const DUE = `
with recursive head as (
  (${headBehind('$2::uuid', '1')})
  union all
  select next.* from head cross join lateral (${headBehind('head.endpoint_id', 'head.n + 1')}) as next where head.n < $1
)
select head.endpoint_id as id, head.next_attempt_at <= clock_timestamp()
  and exists (select 1 from webhook_endpoint e where e.id = head.endpoint_id and ${TAKES_EVENTS}) as due
from head order by n`;

// $1 endpoints, $2 how many events of each, $3 how many events in all, $4 lease seconds, $5 most in
// flight in all processes, $6 class of the locks, by which two claims at once do not both fill an endpoint's places.
// "numbered" repeats the limit for the planner alone: of one that must be computed it expects a tenth of the backlog,
// and would read the whole table to update ten rows. statement_timestamp() and not clock_timestamp(), by which no index
// is searched: the claim would walk on through all events that are not due yet.
// An event that still bears an attempt fell due because that attempt's process died: it is written down as such, in the
// partition of the attempt's day, which is certain to exist for the least days that the log is kept.
const CLAIM = `
with wanted as materialized (
  select w.endpoint_id, e.url, e.revision, w.capacity, (
    select count(*) from webhook_event f where f.endpoint_id = w.endpoint_id
      and f.current_attempt_id is not null and f.next_attempt_at > clock_timestamp()) as in_flight
  from unnest($1::uuid[], $2::integer[]) as w (endpoint_id, capacity)
  join webhook_endpoint e on e.id = w.endpoint_id and ${TAKES_EVENTS}
  where pg_try_advisory_xact_lock($6, hashtext(w.endpoint_id::text))
), due as (
  select found.* from wanted cross join lateral (
    select v.id, v.current_attempt_id, v.next_attempt_at from webhook_event v
    where v.endpoint_id = wanted.endpoint_id and v.status = 'pending' and v.next_attempt_at <= statement_timestamp()
    order by v.next_attempt_at limit least(wanted.capacity, greatest(0, $5 - wanted.in_flight))
    for update of v skip locked) as found
), numbered as (
  select due.*, uuid_v7() as attempt_id from due limit $3::integer
), claimed as (
  update webhook_event v set attempt_count = v.attempt_count + 1, current_attempt_id = numbered.attempt_id,
    next_attempt_at = clock_timestamp() + make_interval(secs => $4)
  from numbered where v.id = numbered.id
  returning v.id, v.organization_id, v.endpoint_id, v.type, v.data, v.occurred_at, v.tries, v.attempt_count,
    v.current_attempt_id, numbered.current_attempt_id as lost_attempt_id, numbered.next_attempt_at as lost_at
), interrupted as (
  insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event_type, attempt, status, error,
    next_attempt_at, created_at)
  select lost_attempt_id, organization_id, endpoint_id, id, type, attempt_count - 1, 'failed', 'interrupted',
    clock_timestamp(), date_trunc('milliseconds', lost_at - make_interval(secs => $4))
  from claimed where lost_attempt_id is not null and lost_at > clock_timestamp() - interval '4 days'
  on conflict (id) do nothing
), target as materialized (
  select wanted.endpoint_id, wanted.url, wanted.revision, (
    select json_agg(json_build_object('id', s.id, 'sealed', encode(s.ciphertext, 'base64')) order by s.created_at desc)
    from webhook_secret s
    where s.endpoint_id = wanted.endpoint_id and (s.expires_at is null or s.expires_at > clock_timestamp())) as secrets
  from wanted where endpoint_id in (select endpoint_id from claimed)
)
select claimed.id, claimed.organization_id, endpoint_id, claimed.type, claimed.data::text as data, claimed.occurred_at,
  claimed.tries, claimed.attempt_count as attempt_number, claimed.current_attempt_id as attempt_id,
  target.url, target.revision, target.secrets
from claimed join target using (endpoint_id)`;

const DROP_HELD = `
delete from webhook_event where id = any(array(
  select held.id from webhook_endpoint e cross join lateral (
    select v.id from webhook_event v
    where v.endpoint_id = e.id and v.status = 'pending'
      and v.next_attempt_at < statement_timestamp() - make_interval(days => $1)
    order by v.next_attempt_at limit $2) held
  where e.inactive_since < clock_timestamp() - make_interval(days => $1) and e.deleted_at is null
  limit $2))`;

// A single failure under load is no failing endpoint: it has to last for an hour.
// Last in the order of their turns: what has failed most often, and the youngest that wait for the first time.
const DROP_EXCESS = `
delete from webhook_event where id = any(array(
  select excess.id from webhook_endpoint e cross join lateral (
    select v.id from webhook_event v where v.endpoint_id = e.id and v.status = 'pending'
    order by v.next_attempt_at offset $1 limit $2) excess
  where (e.inactive_since is not null or e.failing_since < statement_timestamp() - interval '1 hour') and e.deleted_at is null
  limit $2)) and current_attempt_id is null`;

const PURGE_EVENTS = `
delete from webhook_event where id = any(array(
  select gone.id from webhook_endpoint e cross join lateral (
    select v.id from webhook_event v where v.endpoint_id = e.id and v.status = 'pending'
    order by v.next_attempt_at limit $1) gone
  where e.inactive_since is not null and e.deleted_at is not null
  limit $1))`;

const PURGE_LOG = `
delete from webhook_delivery where id = any(array(
  select gone.id from webhook_endpoint e cross join lateral (
    select d.id from webhook_delivery d where d.endpoint_id = e.id limit $1) gone
  where e.inactive_since is not null and e.deleted_at is not null
  limit $1))`;

// Outcomes of attempts that were under way at the deletion, and events of statements that began before it, come later.
const PURGE_ENDPOINTS = `
delete from webhook_endpoint where inactive_since is not null and deleted_at < clock_timestamp() - interval '1 hour'`;
