import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';
import { dueTableLanes, type DueLanes, type TableLanes } from '../../../infrastructure/queue/due-lanes.js';
import {
  type Claim,
  type ClaimRequest,
  GRANT_COLUMNS,
  grantOf,
  grantParams,
  type GrantRow,
  laneGrants,
} from '../../../infrastructure/queue/lane-grant.js';
import { type ClaimedTurn, DESTINATION_LANE, type TurnOutcome } from '../destinations.types.js';

/** The lease of a turn: longer than a turn takes. A turn without an outcome is repeated after this time. */
export const LEASE_MS = 30_000;

type TurnRow = Omit<ClaimedTurn, 'cursor' | 'claimedAt'> & { cursorTransaction: string; cursorId: string };
/** The grant of a lane (`id` null), or a claimed turn. */
type ClaimRow = (GrantRow & { id: null; laneKey: string }) | TurnRow;

/** SQL, for a destination `d`: after its cursor there is an event that readers may see. */
const HAS_EVENTS = `exists (
    select from webhook_event v where v.organization_id = d.organization_id
      and (v.transaction_id, v.id) > (d.cursor_transaction, d.cursor_id)
      and v.transaction_id < pg_snapshot_xmin(pg_current_snapshot()))`;

const LANES: TableLanes = {
  table: 'event_destination',
  prefix: DESTINATION_LANE,
  where: 'active',
  // The row itself has its due time, so no mark is needed.
  dueSince: () => `(select d.due_at from event_destination d
    where d.id = lane_of.id and d.active and d.due_at <= statement_timestamp() and ${HAS_EVENTS})`,
  // Each row is a lane of its own.
  nextWaiting: (after) =>
    `(select d.id from event_destination d where d.id > ${after} and d.active order by d.id limit 1)`,
};

/** The lanes' statements on `event_destination`: claims of turns, and their outcomes. */
@Injectable()
export class TurnsRepository {
  readonly dueDestinations: DueLanes;

  constructor(private readonly database: Database) {
    const due = dueTableLanes(database, LANES);
    const hasWork = (limit: number): string => due.hasWork(limit);
    this.dueDestinations = Object.assign((limit: number, after: string | null) => due(limit, after), { hasWork });
  }

  /**
   * Gives each due destination with events after its cursor one turn with a lease. One answer per request, in the same
   * order.
   */
  async claim(requests: readonly ClaimRequest[], withinMs?: number): Promise<Claim<ClaimedTurn>[]> {
    const claimedAt = performance.now();
    const params = [...grantParams(requests), LEASE_MS / 1_000];
    const rows = await this.database.byIndex(() => this.database.query<ClaimRow>(CLAIM, params), withinMs);
    const answers = new Map(
      requests.map(({ laneKey }): [string, Claim<ClaimedTurn>] => [laneKey, { grant: null, items: [] }]),
    );
    for (const row of rows) {
      if (row.id === null) {
        const answer = answers.get(row.laneKey);
        if (answer !== undefined) answer.grant = grantOf(row);
      } else {
        const { cursorTransaction: transaction, cursorId, ...turn } = row;
        const cursor = { transaction, id: cursorId };
        answers.get(`${DESTINATION_LANE}${row.id}`)?.items.push({ ...turn, cursor, claimedAt });
      }
    }
    return [...answers.values()];
  }

  /**
   * Records the outcome of a turn, unless another turn has begun or the destination's cursor was moved back meanwhile.
   * Returns whether the outcome was recorded.
   */
  record({ id, organizationId, attemptId }: ClaimedTurn, outcome: TurnOutcome): Promise<boolean> {
    const { cursor, writtenAhead, written, lost, error, delayMs } = outcome;
    return this.database.changes(RECORD, [
      organizationId,
      id,
      attemptId,
      cursor?.transaction ?? null,
      cursor?.id ?? null,
      writtenAhead,
      written,
      lost,
      error,
      delayMs / 1_000,
    ]);
  }

  /** Gives back a turn that did nothing; the next one may begin after this wait. */
  release({ id, organizationId, attemptId }: ClaimedTurn, delayMs: number): Promise<boolean> {
    return this.database.changes(RELEASE, [organizationId, id, attemptId, delayMs / 1_000]);
  }
}

// $1 to $6 the lanes, $7 lease seconds. No turn is claimed while claims are blocked: until the database is confirmed,
// the cursors may belong to another server.
const CLAIM = `
with ${laneGrants()}, picked as materialized (
  select d.id, d.due_at from lane_grant
  join event_destination d on d.id = substr(lane_grant.key, ${DESTINATION_LANE.length + 1})::uuid
  where lane_grant.slots > 0 and d.active and d.due_at <= statement_timestamp() and ${HAS_EVENTS}
  for no key update of d skip locked
), claimed as (
  update event_destination d set attempt_id = uuid_v7(), due_at = clock_timestamp() + make_interval(secs => $7)
  from picked where d.id = picked.id and d.due_at = picked.due_at and d.active
  returning d.id, d.organization_id as "organizationId", d.kind, d.settings, encode(d.secrets_ciphertext, 'base64') as secrets,
    d.revision, d.events, d.connection_ids as "connectionIds", d.cursor_transaction::text as "cursorTransaction",
    d.cursor_id as "cursorId", d.written_ahead as "writtenAhead", d.attempt_id as "attemptId", d.tries
)
select ${GRANT_COLUMNS}, lane_grant.key as "laneKey", claimed.* from lane_grant full join claimed on false`;

// The cursor is only moved forward, since retention may have moved it further meanwhile. A turn that wrote something
// resets the count of failures.
const RECORD = `
update event_destination set attempt_id = null, due_at = clock_timestamp() + make_interval(secs => $10),
  (cursor_transaction, cursor_id) = (
    select transaction, id from (values (cursor_transaction, cursor_id), ($4::xid8, $5::uuid)) as place (transaction, id)
    where transaction is not null order by transaction desc, id desc limit 1),
  written_ahead = $6::uuid[], written = written + $7, lost = lost + $8,
  lost_at = case when $8 > 0 then clock_timestamp() else lost_at end,
  last_written_at = case when $7 > 0 then clock_timestamp() else last_written_at end,
  tries = case when $9::text is null then 0 when $7 > 0 then 1 else tries + 1 end,
  failing_since = case when $9::text is null then null when $7 > 0 then clock_timestamp()
    else coalesce(failing_since, clock_timestamp()) end,
  last_error = coalesce($9, last_error), last_error_at = case when $9::text is null then last_error_at else clock_timestamp() end
where organization_id = $1 and id = $2 and attempt_id = $3`;

const RELEASE = `
update event_destination set attempt_id = null, due_at = clock_timestamp() + make_interval(secs => $4)
where organization_id = $1 and id = $2 and attempt_id = $3`;
