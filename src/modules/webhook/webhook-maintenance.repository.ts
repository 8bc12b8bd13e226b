import { Injectable } from '@nestjs/common';
import { FIRST_ID } from '../../common/ids.js';
import { BatchPlace } from '../../infrastructure/database/batch-place.js';
import { Database } from '../../infrastructure/database/database.js';
import { boundedCount, secondsSince, type Backlog } from '../../infrastructure/operations/backlogs.js';
import { isIdle, LEASE_MS, TAKES_EVENTS } from './dispatch/dispatch.repository.js';
import { QUIET_STARTS_ANEW_AFTER_MS } from './dispatch/endpoint-health.js';
import { eventSubject, WEBHOOK_LANE } from './webhook.types.js';

/** Limit of endpoints whose events one statement drops. The endpoints are chosen at random, so each gets its turn. */
const ENDPOINTS = 5;

/** Days that events wait for a paused or disabled endpoint (specification: webhook deliveries). */
export const HELD_DAYS = 3;

/** Deletion of events in time, and figures for operators, over all workspaces. */
@Injectable()
export class WebhookMaintenanceRepository {
  private readonly old = new BatchPlace(FIRST_ID);

  constructor(private readonly database: Database) {}

  /**
   * Drops events that have waited three days for an endpoint that has been paused or disabled for three days, up to
   * `limit` for each endpoint. Returns how many.
   */
  dropHeld(limit: number): Promise<number> {
    return this.changeQueue(DROP_HELD, [HELD_DAYS, limit]);
  }

  /**
   * If more than `most` events wait for a failing, paused or disabled endpoint, drops the others, up to `limit` for
   * each endpoint. Returns how many.
   */
  dropExcess(most: number, limit: number): Promise<number> {
    return this.changeQueue(DROP_EXCESS, [most, limit]);
  }

  /**
   * Drops events that wait for deleted endpoints, and deletes the rows of deleted endpoints without waiting events.
   * Returns how many events were dropped.
   */
  async purgeDeleted(limit: number): Promise<number> {
    const events = await this.changeQueue(PURGE_QUEUE, [limit]);
    if (events === 0) await this.database.execute(PURGE_ENDPOINTS);
    return events;
  }

  /** Deletes events with ids below this one; ids begin with their time. Returns how many. */
  removeOld(below: string, limit: number): Promise<number> {
    const remove = `delete from webhook_event where id = any(array(
        select id from webhook_event where id > $1 and id < $3 order by id limit $2))
      returning id::text as place`;
    return this.old.run(this.database, remove, limit, [below]);
  }

  /** Drops waiting events with ids below this one, which are deleted or about to be; returns how many. */
  dropOld(below: string, limit: number): Promise<number> {
    return this.changeQueue(DROP_OLD, [below, limit]);
  }

  /** Deletes replaced secrets that no longer sign. */
  purgeSecrets(): Promise<number> {
    return this.database.execute('delete from webhook_secret where expires_at < clock_timestamp()');
  }

  /**
   * Counts events of the workspace that are about these messages, files or contacts, delivered or not.
   */
  countAbout(organizationId: string, subjects: readonly string[]): Promise<number> {
    return this.database.byIndex(() =>
      this.database.count(`select count(*)::integer as count ${ABOUT}`, [organizationId, subjects]),
    );
  }

  /**
   * Removes the events that `countAbout` counts. Returns how many. The log of deliveries stays, since it names no
   * person.
   */
  removeAbout(organizationId: string, subjects: readonly string[]): Promise<number> {
    const sql = `with gone as (delete ${ABOUT} returning id), unqueued as (
        delete from webhook_queue q using gone where q.event_id = gone.id
      )
      select count(*)::integer as count from gone`;
    return this.database.byIndex(() => this.database.count(sql, [organizationId, subjects]));
  }

  /** The waiting events of active endpoints. Events for a paused endpoint are left out: they are not overdue. */
  backlog(): Promise<Backlog> {
    return this.database.byIndex(() => this.database.row<Backlog>(BACKLOG));
  }

  /**
   * Counts active endpoints at which all attempts have failed for at least a minute. Leaves out endpoints whose last
   * failure is so long ago that the time of failing would start anew.
   */
  endpointsFailing(): Promise<number> {
    return this.database.count(
      `select count(*)::integer as count from webhook_endpoint
       where active and deleted_at is null and failing_since < clock_timestamp() - interval '1 minute'
         and last_failure_at > clock_timestamp() - $1 * interval '1 millisecond'`,
      [QUIET_STARTS_ANEW_AFTER_MS],
    );
  }

  endpointsByState(): Promise<{ state: string; endpoints: number }[]> {
    return this.database.query(
      `select state, coalesce(found.endpoints, 0) as endpoints
       from unnest(array['active', 'paused', 'gone', 'failing']) as state left join (
         select coalesce(disabled_reason, case when active then 'active' else 'paused' end) as state,
           count(*)::integer as endpoints
         from webhook_endpoint where deleted_at is null group by 1) as found using (state)`,
    );
  }

  private changeQueue(sql: string, params: readonly unknown[]): Promise<number> {
    return this.database.byIndex(() => this.database.execute(sql, params));
  }
}

// Dropped events stay in the log, for GET /events, until their retention ends. A row that is being delivered is left.
const DROP_HELD = `
delete from webhook_queue dropped where event_id = any(array(
  select held.event_id from (
    select id from webhook_endpoint
    where inactive_since < clock_timestamp() - make_interval(days => $1) and deleted_at is null order by random()
  ) e cross join lateral (
    select q.event_id from webhook_queue q
    where q.endpoint_id = e.id and q.due_at < statement_timestamp() - make_interval(days => $1)
    order by q.endpoint_id, q.due_at limit $2) held
  limit $2 * ${ENDPOINTS})) and ${isIdle('dropped')}`;

// A single failure under load does not make a failing endpoint: it must fail for an hour. Deletes the events last in
// turn by `due_at`: those that failed most often, and the newest of those that wait for their first attempt.
const DROP_EXCESS = `
delete from webhook_queue dropped where event_id = any(array(
  select excess.event_id from (
    select id from webhook_endpoint
    where (inactive_since is not null or failing_since < statement_timestamp() - interval '1 hour') and deleted_at is null
    order by random()
  ) e cross join lateral (
    select q.event_id from webhook_queue q where q.endpoint_id = e.id
    order by q.endpoint_id, q.due_at offset $1 limit $2) excess
  limit $2 * ${ENDPOINTS})) and ${isIdle('dropped')}`;

const DROP_OLD = `
delete from webhook_queue dropped where event_id = any(array(
  select q.event_id from webhook_queue q where q.event_id < $1 and ${isIdle('q')} order by q.event_id limit $2))
  and ${isIdle('dropped')}`;

const PURGE_QUEUE = `
delete from webhook_queue where event_id = any(array(
  select gone.event_id from webhook_endpoint e cross join lateral (
    select q.event_id from webhook_queue q where q.endpoint_id = e.id order by q.endpoint_id, q.due_at limit $1) gone
  where e.inactive_since is not null and e.deleted_at is not null
  limit $1))`;

// Outcomes of attempts that were in flight at the deletion, and events of statements that began before the deletion,
// arrive later.
const PURGE_ENDPOINTS = `
with gone as (
  delete from webhook_endpoint
  where inactive_since is not null and deleted_at < clock_timestamp() - interval '1 hour' returning id
)
delete from lane using gone where lane.key = '${WEBHOOK_LANE}' || gone.id`;

const ABOUT = `from webhook_event v where v.organization_id = $1 and ${eventSubject('v')} = any($2::text[])`;

// The lease of a row in flight ends within LEASE_MS, which limits the rows to read.
const BACKLOG = `
select ${boundedCount('from webhook_queue')} as waiting,
  ${boundedCount(`from webhook_endpoint e join webhook_queue q on q.endpoint_id = e.id
    and q.due_at > statement_timestamp() and q.due_at <= statement_timestamp() + interval '${LEASE_MS} milliseconds'
    where e.inactive_since is null and q.attempt_id is not null`)} as "inFlight",
  ${secondsSince(`(
    select min(head.due_at)
    from webhook_endpoint e left join lane l on l.key = '${WEBHOOK_LANE}' || e.id cross join lateral (
      select q.due_at from webhook_queue q
      where q.endpoint_id = e.id and q.due_at >= coalesce(l.low_at, '-infinity')
      order by q.endpoint_id, q.due_at limit 1) as head
    where ${TAKES_EVENTS})`)} as "oldestDueSeconds"`;
