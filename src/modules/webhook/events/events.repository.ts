import { Injectable } from '@nestjs/common';
import { FIRST_ID, lowestIdSince } from '../../../common/ids.js';
import { Database, hasRow } from '../../../infrastructure/database/database.js';
import type { EventType } from '../webhook.types.js';
import type { EventCursor } from '../../../infrastructure/events/event-cursor.js';
import type { EventPage, ReadingState } from '../../../infrastructure/events/read-events.js';
import type { Look } from '../../../infrastructure/events/waiting-readers.js';

export interface RecordedEvent {
  id: string;
  type: EventType;
  data: Record<string, unknown>;
  occurredAt: Date;
  transaction: string;
}

/** A row of a page: an event and the facts about the page. The only row of an empty page has no event. */
type PageRow = (RecordedEvent | { id: null }) & {
  scanned: number;
  held: boolean;
  lastTransaction: string;
  lastId: string | null;
};

/**
 * A reader's place, which is the event after which the reader continues, and the selected types of events; null: all.
 */
export interface EventPlace {
  organizationId: string;
  after: EventCursor;
  types: readonly EventType[] | null;
}

/** Limit of events that one page reads, selected or not: it bounds the cost of the page. */
export const MAX_SCANNED = 2_000;

/** Limit of events that one look reads after the place of a waiting reader, selected or not. */
const MAX_LOOKED_AT = 100;

/** That a workspace reads its events is recorded at most once in this many hours. */
const NOTE_HOURS = 1;

/** Events of a workspace in the order of their transactions. */
@Injectable()
export class EventsRepository {
  constructor(private readonly database: Database) {}

  state(organizationId: string): Promise<ReadingState> {
    return this.database.row<ReadingState>(STATE, [organizationId, NOTE_HOURS]);
  }

  /** Whether this database has exactly this event. If so, its log goes at least as far as the event. */
  async has(organizationId: string, { kind, transaction, id }: EventCursor): Promise<boolean> {
    if (kind !== 'event') return false;
    const sql = 'select from webhook_event where organization_id = $1 and transaction_id = $2::xid8 and id = $3';
    return (await this.database.find(sql, [organizationId, transaction, id])) !== null;
  }

  /**
   * Records that the workspace reads its events. From then on the workspace's events are recorded.
   *
   * @returns the place before every transaction that may still write events. The server never assigns the
   * transaction ids in it again, even after a crash, because this call has committed an id that is not lower.
   */
  async note(organizationId: string): Promise<EventCursor> {
    const { transaction, now } = await this.database.row<{ transaction: string; now: Date }>(NOTE, [organizationId]);
    return { kind: 'transaction', transaction, id: lowestIdSince(now) };
  }

  /**
   * Stops recording the events of workspaces that have neither endpoint nor destination, and have not read events for
   * this many days. Their cursors expire.
   */
  stopUnread(days: number): Promise<number> {
    return this.database.execute(STOP_UNREAD, [days]);
  }

  /**
   * One page of the events after a place. Only events of transactions before the oldest open one are returned, so the
   * order of the events never changes.
   */
  async page(
    organizationId: string,
    { after, types, limit }: { after: EventCursor; types: readonly EventType[] | null; limit: number },
  ): Promise<EventPage<RecordedEvent>> {
    const scan = types === null ? limit + 1 : MAX_SCANNED;
    const rows = await this.database.query<PageRow>(PAGE, [
      organizationId,
      after.transaction,
      after.kind === 'event' ? after.id : FIRST_ID,
      scan,
      types,
      limit + 1,
    ]);
    const [first] = rows;
    if (first === undefined) throw new Error('the page has no summary');
    const { scanned, held, lastTransaction, lastId } = first;
    return {
      events: rows.flatMap((row) => (row.id === null ? [] : [row])),
      last: lastId === null ? null : { kind: 'event', transaction: lastTransaction, id: lastId },
      full: scanned >= scan,
      held,
    };
  }

  /**
   * Returns, for each place with events after it, how far this look has read, and whether a selected event was found.
   */
  async look(places: readonly EventPlace[]): Promise<Look[]> {
    const asked = places.map(({ organizationId, after, types }, index) => ({
      index,
      organization: organizationId,
      transaction: after.transaction,
      id: after.kind === 'event' ? after.id : FIRST_ID,
      types,
    }));
    const rows = await this.database.query<{ index: number; matched: boolean; transaction: string; id: string }>(LOOK, [
      JSON.stringify(asked),
      MAX_LOOKED_AT,
    ]);
    return rows.map(({ index, matched, transaction, id }) => ({
      index,
      matched,
      last: { kind: 'event', transaction, id },
    }));
  }

  /**
   * Gives the events of a dump from another server, whose transaction ids may be ahead of this server's, the id of the
   * ambient transaction. The events' own ids then order them.
   */
  async renumber(): Promise<number> {
    await this.database.execute(RENUMBER_RECORDING);
    let renumbered = 0;
    for (let after: string | null = FIRST_ID; after !== null;) {
      const [part]: { moved: number; last: string | null }[] = await this.database.query(RENUMBER, [after]);
      renumbered += part?.moved ?? 0;
      after = part?.last ?? null;
    }
    return renumbered;
  }
}

const STATE = `
select identity_of_database() as identity, r.since::text as since,
  coalesce(r.read_at < clock_timestamp() - make_interval(hours => $2::integer), true) as stale,
  pg_snapshot_xmax(pg_current_snapshot())::text as "nextTransaction"
from (select $1::uuid as organization_id) caller
left join event_recording r on r.organization_id = caller.organization_id`;

const NOTE = `
insert into event_recording (organization_id) values ($1)
on conflict (organization_id) do update set read_at = clock_timestamp()
returning pg_snapshot_xmin(pg_current_snapshot())::text as transaction, clock_timestamp() as now`;

const STOP_UNREAD = `
delete from event_recording r where r.read_at < clock_timestamp() - make_interval(days => $1::integer)
  and not exists (
    select from webhook_endpoint e where e.organization_id = r.organization_id and e.deleted_at is null)
  and not exists (select from event_destination d where d.organization_id = r.organization_id)`;

// Every transaction below the snapshot's xmin has ended, so nothing can appear in between later. Each event is found
// after the previous one, by the index "webhook_event_order". With a single limit for the page, a planner without
// statistics of the workspace expects few rows, and reads and sorts everything that follows.
const PAGE = `
with recursive ended as materialized (
  select pg_snapshot_xmin(pg_current_snapshot()) as xmin
), scanned as (
  (${behind('$2::xid8, $3::uuid', '1')})
  union all
  select next.* from scanned previous cross join lateral (
    ${behind('previous.transaction_id, previous.id', 'previous.nth + 1')}
  ) next where previous.nth < $4
), page as (
  select * from scanned where $5::text[] is null or type = any($5) order by nth limit $6
), summary as (
  select (select count(*)::integer from scanned) as scanned,
    ${hasRow(
      'from webhook_event where organization_id = $1 and transaction_id >= (select xmin from ended)',
      'transaction_id, id',
    )} as held
)
select summary.scanned, summary.held, last.transaction_id::text as "lastTransaction", last.id as "lastId",
  page.id, page.type, page.data, page.occurred_at as "occurredAt", page.transaction_id::text as transaction
from summary
left join (select transaction_id, id from scanned order by nth desc limit 1) last on true
left join page on true
order by page.nth`;

// A waiting reader is nearly always at the end: the index answers without reading a row.
const LOOK = `
with ended as materialized (
  select pg_snapshot_xmin(pg_current_snapshot()) as xmin
)
select asked.index, found.matched or found.scanned >= $2 as matched, found.transaction, found.id
from json_to_recordset($1) as asked (index integer, organization uuid, transaction xid8, id uuid, types text[])
cross join lateral (
  select count(*)::integer as scanned, coalesce(bool_or(asked.types is null or v.type = any(asked.types)), false) as matched,
    (array_agg(v.transaction_id::text order by v.transaction_id desc, v.id desc))[1] as transaction,
    (array_agg(v.id order by v.transaction_id desc, v.id desc))[1] as id
  from (
    select transaction_id, id, type from webhook_event
    where organization_id = asked.organization and (transaction_id, id) > (asked.transaction, asked.id)
      and transaction_id < (select xmin from ended)
    order by transaction_id, id limit $2
  ) v
) found
where found.scanned > 0`;

function behind(place: string, nth: string): string {
  return `select v.transaction_id, v.id, v.type, v.data, v.occurred_at, ${nth} as nth from webhook_event v
  where v.organization_id = $1 and (v.transaction_id, v.id) > (${place}) and v.transaction_id < (select xmin from ended)
  order by v.transaction_id, v.id limit 1`;
}

const RENUMBER = `
with part as materialized (
  select id, transaction_id from webhook_event where id > $1 order by id limit 10000
), moved as (
  update webhook_event v set transaction_id = pg_current_xact_id() from part
  where v.id = part.id and part.transaction_id >= pg_snapshot_xmax(pg_current_snapshot())
  returning v.id
)
select (select count(*)::integer from moved) as moved, (select id from part order by id desc limit 1) as last`;

const RENUMBER_RECORDING = `
update event_recording set since = '0' where since > pg_snapshot_xmax(pg_current_snapshot())`;
