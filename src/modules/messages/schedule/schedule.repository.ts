import { Injectable } from '@nestjs/common';
import type { FailureCategory } from '../../../common/failure-category.js';
import { Database } from '../../../infrastructure/database/database.js';
import {
  GRANTED_SLOTS,
  HOLD_COLUMNS,
  holdParams,
  laneHold,
  type HoldRequest,
  claimOf,
  type Claim,
  type ClaimRow,
} from '../../../infrastructure/queue/lane-hold.js';
import { CLAIMS_BLOCKED } from '../../../infrastructure/queue/claims-blocked.js';
import { dueTableLanes, dueSql, type TableLanes, type MarkedLanes } from '../../../infrastructure/queue/due-lanes.js';
import { recipientKey } from '../../conversations/conversations.repository.js';
import { tagIsNotPaused, queueTakes, scheduleTakes } from '../message/message-state.js';
import { messageJoins, MESSAGE_SELECT, messageOf, type MessageRow } from '../message/message-row.js';
import type { Message } from '../messages.types.js';
import { failUnsent } from '../message/message-event-sql.js';

export interface DueMessage {
  message: Message;
  /** It was found only after the time in which it may go. */
  isExpired: boolean;
}

/** What becomes of a message that is due; without a refusal it is queued. */
export interface Decision {
  messageId: string;
  refusal: { category: FailureCategory; code: string; message: string } | null;
  /** What lists show of it: the text of a template may have changed. */
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

/** The lane of a number's scheduled messages; its queue's lane is named by the connection's id alone. */
export function scheduleLaneOf(connectionId: string): string {
  return `${SCHEDULE_LANE}${connectionId}`;
}

/** `message_schedule`: messages that are to go later, their release, and taking back what has not been sent. */
@Injectable()
export class ScheduleRepository {
  /** Numbers with scheduled messages that are due. */
  readonly dueLanes: MarkedLanes;

  constructor(private readonly database: Database) {
    this.dueLanes = dueTableLanes(database, LANES);
  }

  /**
   * Finds the messages of a number that are due, the longest due first; at most one batch, as one item. It writes none of
   * them: nothing is sent by a release, so one that is done twice, or not at all, does no harm.
   */
  async claim(request: HoldRequest, ttlHours: number): Promise<Claim<DueMessage[]>> {
    const params = [...holdParams(request), request.laneKey.slice(SCHEDULE_LANE.length), RELEASE_BATCH, ttlHours];
    const rows = await this.database.byIndex(() => this.database.query<DueRow>(CLAIM, params));
    const { hold, items } = claimOf(rows);
    const due = items.map((row) => ({ message: messageOf(row), isExpired: row.isExpired }));
    return { hold, items: due.length === 0 ? [] : [due] };
  }

  /** Queues what is due, or fails it, in the order of its time. What was taken back meanwhile is left out. */
  release(decisions: readonly Decision[], ttlHours: number): Promise<Released[]> {
    const given = decisions.map(({ messageId, refusal, body }) => ({ messageId, body, ...refusal }));
    return this.database.query<Released>(RELEASE, [JSON.stringify(given), ttlHours]);
  }

  /** Messages whose checks could not be made are looked at again after so long. */
  async postpone(messageIds: readonly string[], seconds: number): Promise<void> {
    await this.database.execute(
      `update message_schedule set release_at = clock_timestamp() + make_interval(secs => $2)
       where message_id = any(array(
         select t.message_id from (select unnest($1::uuid[]) as id order by id) as given
         cross join lateral (
           select message_id, release_at from message_schedule where message_id = given.id offset 0 for update) as t
         where t.release_at < 'infinity'))`,
      [messageIds, seconds],
    );
  }

  /**
   * Fails a message that waits, in one statement: a claim either has it, then nothing is changed, or never gets it. While
   * claims are blocked only what is not due yet was surely not sent. False where it does not wait (any more).
   */
  async cancel(organizationId: string, messageId: string): Promise<boolean> {
    const canceled = await this.database.byIndex(() => this.database.query(CANCEL, [organizationId, messageId]));
    return canceled.length > 0;
  }
}

const LANES: TableLanes = {
  table: 'connection',
  prefix: SCHEDULE_LANE,
  // Those that cannot send as well: their messages fail.
  where: 'true',
  dueSince: (from) => `(select t.release_at from message_schedule t
    where t.connection_id = lane_of.id and t.release_at >= ${from} and t.release_at <= statement_timestamp()
    order by t.connection_id, t.release_at limit 1)`,
};

/** $1 limit, $2 behind which connection. */
export const DUE = dueSql(LANES, '$1', '$2');

type DueRow = ClaimRow<MessageRow & { isExpired: boolean }>;

// $1 to $6 the hold, $7 connection, $8 messages, $9 ttl hours.
export const CLAIM = `
with ${laneHold({ returning: ', l.low_at' })}, due as materialized (
  select t.message_id, t.organization_id, t.release_at, t.scheduled_for from message_schedule t
  where t.connection_id = $7 and t.release_at >= (select low_at from hold) and t.release_at <= statement_timestamp() and ${tagIsNotPaused('t')}
  order by t.connection_id, t.release_at limit least(${GRANTED_SLOTS}, 1) * $8::integer
), found as (
  select ${MESSAGE_SELECT}, due.release_at as "releaseAt",
    due.scheduled_for + make_interval(secs => coalesce(m.ttl_seconds, $9::integer * 3600)) <= clock_timestamp() as "isExpired"
  from due join message m on m.id = due.message_id and m.organization_id = due.organization_id ${messageJoins('queued')}
)
select ${HOLD_COLUMNS}, found.* from hold left join found on true order by found."releaseAt", found.id`;

// $1 the decisions, $2 ttl hours. A message gets its place in its recipient's order now. What has a seq is back from the queue, with its
// tag: a decision of before is not about it.
const RELEASE = `
with decided as materialized (
  select * from json_to_recordset($1) as d ("messageId" uuid, body text, category text, code text, message text)
), picked as materialized (
  select t.ctid as row_ctid from message_schedule t
  where t.message_id = any(array(select "messageId" from decided)) and t.seq is null and ${scheduleTakes('release_refused')}
  order by t.message_id for update
), gone as (
  delete from message_schedule t where t.ctid = any(array(select row_ctid from picked)) returning t.*
), due as materialized (
  select gone.*, d.body, d.category, d.code, d.message from gone join decided d on d."messageId" = gone.message_id
), released as (
  insert into message_queue (connection_id, created_at, message_id, organization_id, conversation_id, recipient,
    queued_at, due_at, tag, expires_at)
  select due.connection_id, due.created_at, due.message_id, due.organization_id, due.conversation_id,
    ${recipientKey('m')}, now.at, now.at, m.tag,
    due.scheduled_for + make_interval(secs => coalesce(m.ttl_seconds, $2::integer * 3600))
  from due join message m on m.id = due.message_id and m.organization_id = due.organization_id
  cross join (select clock_timestamp() as at) as now
  where due.category is null
  order by due.scheduled_for, due.message_id
), shown as (
  update message_content c set body = due.body from due
  where c.message_id = due.message_id and due.category is null and c.body is distinct from due.body
), refused as (
  select message_id, organization_id, connection_id, conversation_id, created_at, event_count, created_at as queued_at,
    0 as attempt_number, category, code, message from due where category is not null
), ${failUnsent('refused', 'category, code, message')}
select connection_id as "connectionId", organization_id as "organizationId", category is null as "isQueued" from due`;

const CANCEL = `
with waiting as (
  select q.message_id from message_queue q
  where q.organization_id = $1 and q.message_id = $2 and ${queueTakes('canceled')} and not (${CLAIMS_BLOCKED})
  for update
), unsent as (
  delete from message_queue where message_id = any(array(select message_id from waiting))
  returning message_id, organization_id, connection_id, conversation_id, created_at, event_count, queued_at, attempt_number
), unscheduled as (
  delete from message_schedule t
  where t.organization_id = $1 and t.message_id = $2 and ${scheduleTakes('canceled')}
    and (t.scheduled_for > clock_timestamp() or not (${CLAIMS_BLOCKED}))
  returning message_id, organization_id, connection_id, conversation_id, created_at, event_count, coalesce(queued_at, created_at)
), gone as (
  select * from unsent
  union all
  select *, 0 from unscheduled
), ${failUnsent('gone', `'canceled', 'CANCELED', 'The message was canceled before it was sent.'`)}
select message_id from moved`;
