import { Injectable } from '@nestjs/common';
import { lowestIdSince } from '../../../common/ids.js';
import { Database, hasRow } from '../../../infrastructure/database/database.js';
import type { EventCursor } from '../../../infrastructure/events/event-cursor.js';
import type { EventPage, ReadingState } from '../../../infrastructure/events/read-events.js';
import type { Look } from '../../../infrastructure/events/waiting-readers.js';
import type { AuditAction } from '../audit.types.js';

/** A row of the audit trail that is an operator's event. */
export interface OperatorEventRow {
  id: string;
  action: AuditAction;
  occurredAt: Date;
  workspaceId: string | null;
  /** The operator's own id of the workspace, at present; null: none, or the workspace was deleted. */
  externalId: string | null;
  target: string | null;
  /** Null: the change was not made with an operator key. */
  operatorKeyId: string | null;
  details: Record<string, unknown> | null;
  transaction: string;
}

/** A reader's place, which is the change after which the reader continues, and the events that the reader selects. */
export interface OperatorEventPlace {
  after: EventCursor;
  actions: readonly AuditAction[];
  /** Null: events of all workspaces, and of none. */
  workspaceIds: readonly string[] | null;
}

type PageRow = (OperatorEventRow | { id: null }) & {
  scanned: number;
  held: boolean;
  lastTransaction: string;
  lastId: string | null;
  lastAt: Date | null;
};

/** Limit of changes that one page reads, selected or not: it bounds the cost of the page. */
export const MAX_SCANNED = 2_000;
/** Limit of changes that one look reads after the place of a waiting reader, selected or not. */
const MAX_LOOKED_AT = 100;
const MAX_ID = 2n ** 48n - 1n;

/** The audit trail in the order of its transactions. */
@Injectable()
export class OperatorEventsRepository {
  constructor(private readonly database: Database) {}

  /** Changes are always recorded, so no reading must be noted. */
  state(): Promise<ReadingState> {
    return this.database.row<ReadingState>(
      `select identity_of_database() as identity, '0' as since, false as stale,
         pg_snapshot_xmax(pg_current_snapshot())::text as "nextTransaction"`,
    );
  }

  /**
   * The place at the end of the audit trail. It is taken with a committed write, so that the server never assigns the
   * transaction ids in it again, even after a crash.
   */
  async note(): Promise<EventCursor> {
    const { transaction, now } = await this.database.row<{ transaction: string; now: Date }>(
      `insert into heartbeat (name, beat_at) values ('operator_events', clock_timestamp())
       on conflict (name) do update set beat_at = clock_timestamp()
       returning pg_snapshot_xmin(pg_current_snapshot())::text as transaction, clock_timestamp() as now`,
    );
    return { kind: 'transaction', transaction, id: lowestIdSince(now) };
  }

  async has(cursor: EventCursor): Promise<boolean> {
    if (cursor.kind !== 'event') return false;
    const sql = 'select from audit_event where transaction_id = $1::xid8 and id = $2';
    return (await this.database.find(sql, [cursor.transaction, numberIn(cursor)])) !== null;
  }

  async page(
    { after, actions, workspaceIds }: OperatorEventPlace,
    limit: number,
  ): Promise<EventPage<OperatorEventRow>> {
    const rows = await this.database.query<PageRow>(PAGE, [
      after.transaction,
      numberIn(after),
      workspaceIds,
      MAX_SCANNED,
      actions,
      limit + 1,
    ]);
    const [first] = rows;
    if (first === undefined) throw new Error('the page has no summary');
    const { scanned, held, lastTransaction, lastId, lastAt } = first;
    return {
      events: rows.flatMap((row) => (row.id === null ? [] : [row])),
      last: lastId === null || lastAt === null ? null : cursorAt(lastTransaction, lastId, lastAt),
      full: scanned >= MAX_SCANNED,
      held,
    };
  }

  /**
   * Returns, for each place with changes after it, how far this look has read, and whether a selected event was found.
   */
  async look(places: readonly OperatorEventPlace[]): Promise<Look[]> {
    const asked = places.map(({ after, actions, workspaceIds }, index) => ({
      index,
      transaction: after.transaction,
      id: numberIn(after),
      workspaces: workspaceIds,
      actions,
    }));
    const found = await this.database.query<{
      index: number;
      matched: boolean;
      transaction: string;
      id: string;
      at: Date;
    }>(LOOK, [JSON.stringify(asked), MAX_LOOKED_AT]);
    return found.map(({ index, matched, transaction, id, at }) => ({
      index,
      matched,
      last: cursorAt(transaction, id, at),
    }));
  }

  /**
   * Gives the rows of a dump from another server, whose transaction ids may be ahead of this server's, the id of the
   * ambient transaction. Their own ids then order them.
   */
  async renumber(): Promise<number> {
    let renumbered = 0;
    for (let moved = Infinity; moved > 0; renumbered += moved) moved = await this.database.execute(RENUMBER);
    return renumbered;
  }
}

/** The place after a change. The id in the cursor begins with the time of the change. */
export function cursorAt(transaction: string, id: string, occurredAt: Date): EventCursor {
  const number = BigInt(id);
  if (number > MAX_ID) throw new RangeError(`the audit event ${id} does not fit into a cursor`);
  return {
    kind: 'event',
    transaction,
    id: lowestIdSince(occurredAt).slice(0, 24) + number.toString(16).padStart(12, '0'),
  };
}

/** The id of the change that is just before the place; 0: the place is before all changes of its transaction. */
function numberIn({ kind, id }: EventCursor): string {
  return kind === 'event' ? BigInt(`0x${id.slice(24)}`).toString() : '0';
}

/**
 * SQL: the changes after a place, of all workspaces or of some. For each workspace its own range of an index is read.
 */
function behind({ transaction, id, workspaces }: Record<'transaction' | 'id' | 'workspaces', string>, limit: string) {
  const columns = 'id, action, occurred_at, organization_id, target, actor_kind, actor, details, transaction_id';
  const next = `(transaction_id, id) > (${transaction}, ${id}) and transaction_id < (select xmin from ended)
      order by transaction_id, id limit ${limit}`;
  return `select * from (
    (select ${columns} from audit_event where ${workspaces} is null and ${next})
    union all
    select own.* from unnest(${workspaces}) as workspace (id) cross join lateral (
      select ${columns} from audit_event where organization_id = workspace.id and ${next}
    ) own
  ) either order by transaction_id, id limit ${limit}`;
}

// Every transaction below the snapshot's xmin has ended, so nothing can appear in between later.
const ENDED = 'ended as materialized (select pg_snapshot_xmin(pg_current_snapshot()) as xmin)';

const PAGE = `
with ${ENDED}, scanned as materialized (
  ${behind({ transaction: '$1::xid8', id: '$2::bigint', workspaces: '$3::uuid[]' }, '$4')}
), page as (
  select * from scanned where action = any($5::text[]) order by transaction_id, id limit $6
), summary as (
  select (select count(*)::integer from scanned) as scanned,
    case when $3::uuid[] is null then ${hasRow('from audit_event where transaction_id >= (select xmin from ended)', 'transaction_id, id')}
    else exists (select from unnest($3::uuid[]) as workspace (id) where ${hasRow(
      'from audit_event where organization_id = workspace.id and transaction_id >= (select xmin from ended)',
      'transaction_id, id',
    )}) end as held
)
select summary.scanned, summary.held, last.transaction_id::text as "lastTransaction", last.id::text as "lastId",
  last.occurred_at as "lastAt", page.id::text as id, page.action, page.occurred_at as "occurredAt",
  page.organization_id as "workspaceId", o.external_id as "externalId", page.target,
  case when page.actor_kind = 'operator_key' then page.actor end as "operatorKeyId", page.details,
  page.transaction_id::text as transaction
from summary
left join (select * from scanned order by transaction_id desc, id desc limit 1) last on true
left join page on true
left join organization o on o.id = page.organization_id
order by page.transaction_id, page.id`;

const LOOK = `
with ${ENDED}
select asked.index, found.matched or found.scanned >= $2 as matched, found.transaction, found.id, found.at
from json_to_recordset($1) as asked (index integer, transaction xid8, id bigint, workspaces uuid[], actions text[])
cross join lateral (
  select count(*)::integer as scanned, coalesce(bool_or(v.action = any(asked.actions)), false) as matched,
    (array_agg(v.transaction_id::text order by v.transaction_id desc, v.id desc))[1] as transaction,
    (array_agg(v.id::text order by v.transaction_id desc, v.id desc))[1] as id,
    (array_agg(v.occurred_at order by v.transaction_id desc, v.id desc))[1] as at
  from (
    ${behind({ transaction: 'asked.transaction', id: 'asked.id', workspaces: 'asked.workspaces' }, '$2')}
  ) v
) found
where found.scanned > 0`;

const RENUMBER = `
update audit_event set transaction_id = pg_current_xact_id() where id = any(array(
  select id from audit_event where transaction_id >= pg_snapshot_xmax(pg_current_snapshot())
  order by transaction_id, id limit 10000))`;
