import { Injectable } from '@nestjs/common';
import { newId } from '../../../common/ids.js';
import { Database } from '../../../platform/database/database.js';
import type { ClaimRequest } from '../../../platform/lanes/lane-handler.js';
import { findDueLanes, type DueLanes } from '../../../platform/lanes/due-lanes.js';
import { endpointOfLane, WEBHOOK_LANE } from '../webhook-lane-key.js';
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

const TAKES_EVENTS = `exists (select 1 from webhook_endpoint e
  where e.id = head.lane_id and e.active and e.disabled_reason is null and e.deleted_at is null)
  and not exists (select 1 from lane where key = '${WEBHOOK_LANE}' || head.lane_id and paused_until > clock_timestamp())`;

/** The lane's statements on `webhook_event`: claim, due lanes, what is dropped in time. */
@Injectable()
export class DispatchRepository {
  /** Endpoints with due events that may be delivered now. */
  readonly dueLanes: DueLanes;

  constructor(private readonly database: Database) {
    this.dueLanes = findDueLanes(database, {
      table: 'webhook_event',
      lane: 'endpoint_id',
      status: 'pending',
      usable: TAKES_EVENTS,
      prefix: WEBHOOK_LANE,
    });
  }

  /**
   * Claims up to `limit` due events, oldest due first; each gets an attempt and a lease. An endpoint that is paused or
   * disabled gives none, nor one with ten deliveries in flight. The secrets are those of this moment.
   */
  async claim(request: ClaimRequest): Promise<ClaimedEvent[]> {
    const endpointId = endpointOfLane(request.laneKey);
    const attemptIds = Array.from({ length: request.limit }, () => newId());
    const rows = await this.database.query<ClaimRow>(CLAIM, [
      endpointId,
      request.laneKey,
      request.owner,
      attemptIds,
      LEASE_MS / 1_000,
      MOST_IN_FLIGHT,
    ]);
    return rows.map((row) => ({
      id: row.id,
      organizationId: row.organization_id,
      endpointId,
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

  /** Removes events or attempts whose ids, which begin with their time, are below this one; returns how many. */
  removeOld(table: 'webhook_event' | 'webhook_delivery', below: string, limit: number): Promise<number> {
    return this.database.execute(
      `delete from ${table} where id = any(array(select id from ${table} where id < $1 order by id limit $2))`,
      [below, limit],
    );
  }

  /** Removes replaced secrets that no longer sign. */
  purgeSecrets(): Promise<number> {
    return this.database.execute('delete from webhook_secret where expires_at < clock_timestamp()');
  }
}

// $1 endpoint, $2 lane key, $3 owner, $4 attempt ids, as many as events are wanted, $5 lease seconds, $6 most in flight
// in all processes: a lane may go to another process while deliveries of the one before are under way.
// "numbered" repeats the limit for the planner alone: of one that must be computed it expects a tenth of the backlog,
// and would read the whole table to update ten rows. statement_timestamp() and not clock_timestamp(), by which no index
// is searched: the claim would walk on through all events that are not due yet.
// An event that still bears an attempt fell due because that attempt's process died: it is written down as such.
const CLAIM = `
with endpoint as materialized (
  select e.url, e.revision,
    (select json_agg(json_build_object('id', s.id, 'sealed', encode(s.ciphertext, 'base64')) order by s.created_at desc)
     from webhook_secret s
     where s.endpoint_id = e.id and (s.expires_at is null or s.expires_at > clock_timestamp())) as secrets
  from webhook_endpoint e
  where e.id = $1 and e.active and e.disabled_reason is null and e.deleted_at is null
    and exists (select 1 from lane where key = $2 and owner = $3 and owner_until > clock_timestamp()
      and (paused_until is null or paused_until <= clock_timestamp()))
), due as (
  select v.id, v.current_attempt_id, v.attempt_count, v.next_attempt_at from webhook_event v
  where v.endpoint_id = $1 and v.status = 'pending' and v.next_attempt_at <= statement_timestamp()
    and exists (select 1 from endpoint)
  order by v.next_attempt_at limit (
    select least(cardinality($4::uuid[]), greatest(0, $6 - count(*))) from webhook_event f
    where f.endpoint_id = $1 and f.current_attempt_id is not null and f.next_attempt_at > clock_timestamp())
  for update of v skip locked
), numbered as (
  select due.*, ($4::uuid[])[row_number() over ()] as attempt_id from due limit $6
), claimed as (
  update webhook_event v set attempt_count = v.attempt_count + 1, current_attempt_id = numbered.attempt_id,
    next_attempt_at = clock_timestamp() + make_interval(secs => $5)
  from numbered where v.id = numbered.id
  returning v.id, v.organization_id, v.type, v.data, v.occurred_at, v.tries, v.attempt_count, v.current_attempt_id,
    numbered.current_attempt_id as lost_attempt_id, numbered.next_attempt_at as lost_at
), interrupted as (
  insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event_type, attempt, status, error,
    next_attempt_at, created_at)
  select lost_attempt_id, organization_id, $1, id, type, attempt_count - 1, 'failed', 'interrupted', clock_timestamp(),
    date_trunc('milliseconds', lost_at - make_interval(secs => $5))
  from claimed where lost_attempt_id is not null
  on conflict (id) do nothing
)
select claimed.id, claimed.organization_id, claimed.type, claimed.data::text as data, claimed.occurred_at, claimed.tries,
  claimed.attempt_count as attempt_number, claimed.current_attempt_id as attempt_id,
  endpoint.url, endpoint.revision, endpoint.secrets
from claimed cross join endpoint`;

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
with gone as (
  delete from webhook_endpoint where inactive_since is not null and deleted_at < clock_timestamp() - interval '1 hour'
  returning id
)
delete from lane where key in (select 'webhook:' || id from gone)`;
