import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { insertWebhookEvents, isAboutNumbers, isoTime } from '../webhook/webhook.types.js';
import { DESTINATION_KINDS } from './destinations.types.js';

/** Limits of events of one destination, and of destinations, that one statement moves past. */
const EVENTS = 2_000;
const DESTINATIONS = 20;
/** A destination's losses are reported at most once in this time. */
const REPORT_AFTER = '1 hour';
const REPORTS = 100;

/** Statements on the destinations of all workspaces. */
@Injectable()
export class DestinationsMaintenanceRepository {
  /** SQL: whether a loss must be reported. */
  readonly hasLosses = `exists (select from event_destination d where ${IS_UNREPORTED})`;

  constructor(private readonly database: Database) {}

  /**
   * Moves cursors past a bounded number of events whose ids are below this one. `lost`: how many of them should have
   * been written; `more`: some events are left.
   */
  async pass(below: string): Promise<{ lost: number; more: boolean }> {
    return this.database.byIndex(() => this.database.row(PASS, [below, EVENTS, DESTINATIONS]));
  }

  /**
   * Writes an event for each destination that lost events and has not reported it within the hour; returns how many.
   */
  reportLosses(): Promise<number> {
    return this.database.count(REPORT, [REPORTS]);
  }

  /**
   * Adjusts cursors from another server, whose transaction ids may be ahead of this server's, as
   * `EventsRepository.renumber` adjusts the events.
   */
  renumber(): Promise<number> {
    return this.database.execute(RENUMBER);
  }

  byState(): Promise<{ kind: string; state: string; destinations: number }[]> {
    return this.database.query(BY_STATE, [DESTINATION_KINDS]);
  }

  oldest(): Promise<{ kind: string; seconds: number }[]> {
    return this.database.byIndex(() => this.database.query(OLDEST, [DESTINATION_KINDS]));
  }
}

const IS_UNREPORTED = `d.lost > d.lost_reported
    and (d.lost_reported_at is null or d.lost_reported_at < clock_timestamp() - interval '${REPORT_AFTER}')`;

// Most cursors are newer than $1, so their destinations are skipped. An event that a running turn is writing may count
// as lost although it is written, because the turn's outcome never moves the cursor back.
const PASS = `
with late as materialized (
  select d.id, d.organization_id, d.cursor_transaction, d.cursor_id, d.events, d.connection_ids, d.written_ahead
  from event_destination d where d.cursor_id < $1::uuid and exists (
    select from webhook_event v where v.organization_id = d.organization_id
      and (v.transaction_id, v.id) > (d.cursor_transaction, d.cursor_id) and v.id < $1::uuid)
  order by d.id limit $3 for no key update of d skip locked
), passed as materialized (
  select late.id, found.* from late cross join lateral (
    select count(*)::integer as looked, count(*) filter (where takes)::integer as lost,
      (array_agg(v.transaction_id order by v.transaction_id desc, v.id desc))[1] as transaction_id,
      (array_agg(v.id order by v.transaction_id desc, v.id desc))[1] as event_id
    from (
      select v.transaction_id, v.id, v.type = any(late.events) and ${isAboutNumbers('v', 'late.connection_ids')}
        and v.id <> all(late.written_ahead) as takes
      from webhook_event v where v.organization_id = late.organization_id
        and (v.transaction_id, v.id) > (late.cursor_transaction, late.cursor_id)
      order by v.transaction_id, v.id limit $2
    ) v where v.id < $1::uuid
  ) found where found.looked > 0
), moved as (
  update event_destination d set cursor_transaction = passed.transaction_id, cursor_id = passed.event_id,
    lost = d.lost + passed.lost, lost_at = case when passed.lost > 0 then clock_timestamp() else d.lost_at end
  from passed where d.id = passed.id
)
select coalesce((select sum(lost) from passed), 0)::integer as lost,
  (select count(*) from late) = $3 or exists (select from passed where looked = $2) as more`;

const REPORT = `
with told as (
  update event_destination d set lost_reported = d.lost, lost_reported_at = clock_timestamp()
  from (
    select d.id, d.lost - d.lost_reported as events from event_destination d where ${IS_UNREPORTED}
    order by d.id limit $1 for no key update of d skip locked
  ) due where d.id = due.id
  returning d.id, d.organization_id, d.name, d.kind, due.events, d.lost, d.lost_at
), ${insertWebhookEvents(`(
  select organization_id, 'destination.events_lost' as event_type, lost_at as occurred_at, null::uuid[] as connection_ids,
    null::bytea as trace_context, jsonb_build_object('destination_id', id, 'name', name, 'kind', kind, 'events', events,
      'lost', lost, 'occurred_at', ${isoTime('lost_at')}) as event_data
  from told
)`)}
select count(*)::integer as count from told`;

// The events of the last ten minutes before a cursor are written again: within this time, transactions may have written
// events in another order than that of the events' ids.
const RENUMBER = `
update event_destination set cursor_transaction = pg_current_xact_id(), written_ahead = '{}', attempt_id = null,
  cursor_id = (overlay(cursor_id::text placing
    overlay(lpad(to_hex(greatest(0, ('x' || lpad(translate(left(cursor_id::text, 13), '-', ''), 16, '0'))::bit(64)::bigint - 600000)), 12, '0')
      placing '-' from 9 for 0) from 1 for 13))::uuid
where cursor_transaction >= pg_snapshot_xmax(pg_current_snapshot())`;

const BY_STATE = `
select kind, state, coalesce(found.destinations, 0) as destinations
from unnest($1::text[]) as kind cross join unnest(array['active', 'failing', 'paused']) as state left join (
  select kind, case when not active then 'paused' when failing_since is null then 'active' else 'failing' end as state,
    count(*)::integer as destinations
  from event_destination group by 1, 2) as found using (kind, state)`;

// The event after the cursor may be of a type that the destination does not select: the next turn skips such an event.
const OLDEST = `
select kind, coalesce(max(found.seconds), 0)::double precision as seconds
from unnest($1::text[]) as kind left join (
  select d.kind, extract(epoch from clock_timestamp() - head.occurred_at) as seconds
  from event_destination d cross join lateral (
    select v.occurred_at from webhook_event v
    where v.organization_id = d.organization_id and (v.transaction_id, v.id) > (d.cursor_transaction, d.cursor_id)
    order by v.transaction_id, v.id limit 1) as head
  where d.active) as found using (kind)
group by kind`;
