import { Injectable } from '@nestjs/common';
import type { FailureCategory } from '../../../common/failure-category.js';
import { Database } from '../../../infrastructure/database/database.js';
import {
  GRANTED_SLOTS,
  GRANT_COLUMNS,
  grantParams,
  laneGrants,
  type ClaimRequest,
  claimOf,
  type Claim,
  type ClaimRow,
} from '../../../infrastructure/queue/lane-grant.js';
import { dueTableLanes, eachLane, type TableLanes, type MarkedLanes } from '../../../infrastructure/queue/due-lanes.js';
import { CLAIMS_BLOCKED } from '../../../infrastructure/queue/claims-blocked.js';
import { recipientKey } from '../../message-state/recipient-key.types.js';
import { tagIsNotPaused, queueTakes } from '../../message-state/message-state.types.js';
import {
  HELD_BY_TIME,
  messageJoins,
  MESSAGE_SELECT,
  messageOf,
  type MessageRow,
} from '../../message-state/message-row.types.js';
import type { Message } from '../../message-state/message.types.js';
import type { Fact, LockedMessage } from '../../message-state/facts.types.js';
import { FactsService } from '../../message-state/facts.service.js';
import { COUNT_COLUMNS } from '../../message-state/tag-counts.types.js';

export interface DueMessage {
  message: Message;
  /** The message was found only after it had expired. */
  isExpired: boolean;
}

/** The decision about a due message; without a refusal it is queued. */
export interface Decision {
  messageId: string;
  refusal: { category: FailureCategory; code: string; message: string } | null;
  /** The text that lists show. It is stored again, because the template's text may have changed. */
  body: string | null;
}

export interface Released {
  connectionId: string;
  organizationId: string;
  isQueued: boolean;
}

/** Messages of a number that are released together. */
export const RELEASE_BATCH = 100;
export const SCHEDULE_LANE = 'schedule:';

/** The lane of a number's scheduled messages. The lane of its queue has the connection's id alone. */
export function scheduleLaneOf(connectionId: string): string {
  return `${SCHEDULE_LANE}${connectionId}`;
}

/** Scheduled messages of `message_queue`, and their release. */
@Injectable()
export class ScheduleRepository {
  /** Numbers with scheduled messages that are due. */
  readonly dueLanes: MarkedLanes;

  constructor(
    private readonly database: Database,
    private readonly facts: FactsService,
  ) {
    this.dueLanes = dueTableLanes(database, LANES);
  }

  /**
   * Finds the due messages of a number, the longest due first: at most one batch, as one item. No row is changed, so
   * two processes may find the same messages. A release sends nothing, so a second one, or a missing one, does no harm.
   */
  async claim(request: ClaimRequest, withinMs?: number): Promise<Claim<DueMessage[]>> {
    const params = [...grantParams([request]), request.laneKey.slice(SCHEDULE_LANE.length), RELEASE_BATCH];
    const rows = await this.database.byIndex(() => this.database.query<DueRow>(CLAIM, params), withinMs);
    const { grant, items } = claimOf(rows);
    const due = items.map((row) => ({ message: messageOf(row), isExpired: row.isExpired }));
    return { grant, items: due.length === 0 ? [] : [due] };
  }

  /**
   * Queues due messages, or fails them, in the order of their times. Leaves out messages that were canceled or paused
   * meanwhile, and messages that another transaction has locked. The next sweep finds the latter.
   */
  release(decisions: readonly Decision[]): Promise<Released[]> {
    const refused = decisions.flatMap(({ messageId, refusal }): Fact[] =>
      refusal === null ? [] : [{ kind: 'release_refused', messageId, failure: refusal }],
    );
    const free = decisions
      .filter(({ refusal }) => refusal === null)
      .map(({ messageId, body }) => ({ messageId, body }));
    return this.database.byIndex(async () => {
      const failed = await this.facts.apply(refused, this.database, { skipLocked: true });
      const rows = await this.database.query<{ id: string }>(LOCK, [free.map(({ messageId }) => messageId)]);
      const locked = new Set(rows.map(({ id }) => id));
      const params = [JSON.stringify(free.filter(({ messageId }) => locked.has(messageId)))];
      const released = await this.database.query<Released>(RELEASE, params);
      return [
        ...released,
        ...failed.flatMap(({ moved, message }) => (moved && message !== null ? [refusedOf(message)] : [])),
      ];
    });
  }

  /** Defers messages whose checks could not be made: they are due again after this time. */
  async postpone(messageIds: readonly string[], seconds: number): Promise<void> {
    await this.database.byIndex(() => this.database.execute(POSTPONE, [messageIds, seconds]));
  }
}

function refusedOf({ connectionId, organizationId }: LockedMessage): Released {
  return { connectionId, organizationId, isQueued: false };
}

const LANES: TableLanes = {
  table: 'connection',
  prefix: SCHEDULE_LANE,
  // Includes numbers that cannot send: their messages fail.
  where: 'true',
  dueSince: (from) => `(select q.held_until from message_queue q
    where q.connection_id = lane_of.id and ${HELD_BY_TIME} and q.held_until >= ${from} and q.held_until <= statement_timestamp()
    order by q.connection_id, q.held_until limit 1)`,
  nextWaiting: (after) => `(select q.connection_id from message_queue q
    where q.connection_id > ${after} and ${HELD_BY_TIME} order by q.connection_id, q.held_until limit 1)`,
};

/** $1 limit, $2 the connection to start after. */
export const DUE = eachLane(LANES, '$1', '$2');

type DueRow = ClaimRow<MessageRow & { isExpired: boolean }>;

// $1 to $6 the lane, $7 connection, $8 messages.
export const CLAIM = `
with ${laneGrants()}, due as materialized (
  select q.message_id, q.organization_id, q.held_until, q.expires_at from message_queue q
  where q.connection_id = $7 and ${HELD_BY_TIME} and q.held_until >= (select low_at from lane_grant)
    and q.held_until <= statement_timestamp() and ${tagIsNotPaused('q')}
  order by q.connection_id, q.held_until limit least(${GRANTED_SLOTS}, 1) * $8::integer
), found as (
  select ${MESSAGE_SELECT}, due.held_until as "heldUntil", due.expires_at <= clock_timestamp() as "isExpired"
  from due join message m on m.id = due.message_id and m.organization_id = due.organization_id ${messageJoins('queued')}
)
select ${GRANT_COLUMNS}, found.* from lane_grant left join found on true order by found."heldUntil", found.id`;

// A paused message stays held.
const IS_SCHEDULED = `q.scheduled_for is not null and q.held_until < 'infinity'`;

// $1 messages, $2 seconds.
const POSTPONE = `
with picked as materialized (
  select q.message_id from message_queue q where q.message_id = any($1::uuid[]) and ${IS_SCHEDULED}
  order by q.message_id for update skip locked
)
update message_queue q set held_until = clock_timestamp() + make_interval(secs => $2)
where q.message_id = any(array(select message_id from picked)) and ${IS_SCHEDULED}`;

// A statement before the release, so that the release sees the locked rows as they are, and finds the first row of each
// recipient. It checks CLAIMS_BLOCKED again: the batch may come from the database before a restore, where the messages
// were released and sent. $1 messages.
const LOCK = `
select q.message_id as id from message_queue q
where q.message_id = any($1::uuid[]) and ${IS_SCHEDULED} and ${queueTakes('release_refused')} and not (${CLAIMS_BLOCKED})
order by q.message_id for update skip locked`;

// not_before is set because the pace of a tag does not apply to messages with a time of their own. $1 messages that may
// be sent, locked. Each gets its place in its recipient's order now: nextval runs in the order of `ordered`.
const RELEASE = `
with decided as materialized (
  select * from json_to_recordset($1) as d ("messageId" uuid, body text)
), picked as materialized (
  select q.ctid as row_ctid, q.message_id, q.connection_id, q.scheduled_for from message_queue q
  where q.message_id = any(array(select "messageId" from decided))
), placed as materialized (
  select ordered.*, nextval('message_queue_seq_seq') as seq, clock_timestamp() as at from (
    select p.row_ctid, d.body, r.key as recipient,
      row_number() over (partition by p.connection_id, r.key order by p.scheduled_for, p.message_id) = 1 as is_first
    from picked p join decided d on d."messageId" = p.message_id
    join message m on m.id = p.message_id cross join lateral (select ${recipientKey('m')} as key) as r
    order by p.scheduled_for, p.message_id) as ordered
), released as (
  update message_queue q set held_until = null, scheduled_for = null, seq = placed.seq, recipient = placed.recipient,
    queued_at = placed.at, due_at = case when placed.is_first then placed.at end,
    not_before = case when q.tag is not null then placed.at end
  from placed where q.ctid = placed.row_ctid
  returning q.message_id, q.connection_id, q.organization_id, q.tag, placed.body, placed.at
), counted as (
  insert into message_tag_count (${COUNT_COLUMNS})
  select organization_id, tag, connection_id, 'queued', null, 0, -count(*), max(at) from released
  where tag is not null group by 1, 2, 3
), shown as (
  update message_content c set body = released.body from released
  where c.message_id = released.message_id and c.body is distinct from released.body
)
select connection_id as "connectionId", organization_id as "organizationId", true as "isQueued" from released`;
