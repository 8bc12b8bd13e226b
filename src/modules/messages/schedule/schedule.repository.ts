import { Injectable } from '@nestjs/common';
import { FIRST_ID } from '../../../common/ids.js';
import type { FailureCategory } from '../../../common/failure-category.js';
import { Database, hasRow } from '../../../infrastructure/database/database.js';
import { LANES_HELD } from '../../../infrastructure/lanes/lane-hold.js';
import { SweepPlace } from '../../../infrastructure/lanes/sweeps.js';
import { laneRecipient } from '../../conversations/conversations.repository.js';
import { messageJoins, MESSAGE_SELECT, messageOf, type MessageRow } from '../message/message-row.js';
import { queueTakes, scheduleTakes } from '../message/message-state.js';
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

/** Numbers whose due messages one page has, and of all of them together at most so many messages. */
const NUMBERS = 25;

/** `message_schedule`: messages that are to go later, their release, and taking back what has not been sent. */
@Injectable()
export class ScheduleRepository {
  private readonly place = new SweepPlace();
  /** Behind which number the next page begins. */
  private after = FIRST_ID;

  constructor(private readonly database: Database) {}

  /** SQL: whether a message is due. */
  hasDue(): string {
    return dueExists(this.place.condition);
  }

  /**
   * Messages that are due, of up to 25 numbers, of each the longest due first: a campaign of one number does not stand
   * before the message of another. Each page goes on behind the numbers of the last one, and then from the start.
   *
   * @returns null where nothing is due.
   */
  async findDue(limit: number, ttlHours: number): Promise<DueMessage[] | null> {
    const fromStart = this.after === FIRST_ID;
    const rows = await this.database.query<MessageRow & { isExpired: boolean; lookedAt: string }>(DUE, [
      this.after,
      limit,
      ttlHours,
      this.place.next(),
    ]);
    const due = rows.flatMap(({ isExpired, lookedAt: _lookedAt, ...row }) =>
      row.id === null ? [] : [{ message: messageOf(row), isExpired }],
    );
    const numbers = new Set(due.map(({ message }) => message.connectionId));
    this.after =
      numbers.size < NUMBERS ? FIRST_ID : [...numbers].reduce((last, id) => (id > last ? id : last), FIRST_ID);
    if (due.length > 0 || !fromStart) return due;
    this.place.reached(rows[0]?.lookedAt ?? null);
    return null;
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
         cross join lateral (select message_id from message_schedule where message_id = given.id for update) as t))`,
      [messageIds, seconds],
    );
  }

  /**
   * Fails a message that waits, in one statement: a claim either has it, then nothing is changed, or never gets it. While
   * lanes are held only what is not due yet was surely not sent. False where it does not wait (any more).
   */
  async cancel(organizationId: string, messageId: string): Promise<boolean> {
    const canceled = await this.database.byIndex(() => this.database.query(CANCEL, [organizationId, messageId]));
    return canceled.length > 0;
  }
}

/** @param from SQL of a time before which nothing is due. */
export const dueExists = (from: string): string =>
  `${hasRow(`from message_schedule where release_at <= now() and release_at >= ${from}`, 'release_at')}
    and not (${LANES_HELD})`;

const isDue = (alias: string): string => `${alias}.release_at <= statement_timestamp()
      and ${alias}.release_at >= ${SweepPlace.from('$4')}`;

// $1 behind which number, $2 limit, $3 ttl hours, $4 from when.
// Number by number: to join them the planner would read all that is scheduled, with what was removed.
// Always a row, which says when it was looked.
export const DUE = `
with chosen as materialized (
  select c.id from connection c
  where c.id > $1 and not (${LANES_HELD}) and
    ${hasRow(`from message_schedule t where t.connection_id = c.id and ${isDue('t')}`, 't.connection_id, t.release_at')}
  order by c.id limit ${NUMBERS}
), due as materialized (
  select d.* from chosen cross join lateral (
    select t.message_id, t.organization_id, t.release_at, t.scheduled_for from message_schedule t
    where t.connection_id = chosen.id and ${isDue('t')}
    order by t.release_at, t.message_id limit (select greatest($2::integer / count(*), 1) from chosen)) as d
)
select found.*, statement_timestamp()::text as "lookedAt" from (values (1)) as look left join (
  select ${MESSAGE_SELECT}, due.release_at as "releaseAt",
    due.scheduled_for + make_interval(secs => coalesce(m.ttl_seconds, $3::integer * 3600)) <= clock_timestamp() as "isExpired"
  from due join message m on m.id = due.message_id and m.organization_id = due.organization_id ${messageJoins('queued')}
) as found on true
order by found."releaseAt", found.id`;

// $1 the decisions, $2 ttl hours. A message gets its place in its recipient's order now.
const RELEASE = `
with decided as materialized (
  select * from json_to_recordset($1) as d ("messageId" uuid, body text, category text, code text, message text)
), place as materialized (
  select t.ctid as place from message_schedule t
  where t.message_id = any(array(select "messageId" from decided)) and ${scheduleTakes('release_refused')}
  order by t.message_id for update
), gone as (
  delete from message_schedule t where t.ctid = any(array(select place from place)) returning t.*
), due as materialized (
  select gone.*, d.body, d.category, d.code, d.message from gone join decided d on d."messageId" = gone.message_id
), released as (
  insert into message_queue (connection_id, created_at, message_id, organization_id, conversation_id, recipient,
    queued_at, due_at, expires_at)
  select due.connection_id, due.created_at, due.message_id, due.organization_id, due.conversation_id,
    ${laneRecipient('m')}, now.at, now.at,
    due.scheduled_for + make_interval(secs => coalesce(m.ttl_seconds, $2::integer * 3600))
  from due join message m on m.id = due.message_id and m.organization_id = due.organization_id
  cross join (select clock_timestamp() as at) as now
  where due.category is null
  order by due.scheduled_for, due.message_id
), shown as (
  update message_content c set body = due.body from due
  where c.message_id = due.message_id and due.category is null and c.body is distinct from due.body
), refused as (
  select *, 0 as event_count, created_at as queued_at, 0 as attempt_number from due where category is not null
), ${failUnsent('refused', 'category, code, message')}
select connection_id as "connectionId", organization_id as "organizationId", category is null as "isQueued" from due`;

const CANCEL = `
with waiting as (
  select q.message_id from message_queue q
  where q.organization_id = $1 and q.message_id = $2 and ${queueTakes('canceled')} and not (${LANES_HELD})
  for update
), unsent as (
  delete from message_queue where message_id = any(array(select message_id from waiting))
  returning message_id, organization_id, connection_id, conversation_id, created_at, event_count, queued_at, attempt_number
), unscheduled as (
  delete from message_schedule t
  where t.organization_id = $1 and t.message_id = $2 and ${scheduleTakes('canceled')}
    and (t.scheduled_for > clock_timestamp() or not (${LANES_HELD}))
  returning message_id, organization_id, connection_id, conversation_id, created_at
), gone as (
  select * from unsent
  union all
  select *, 0, created_at, 0 from unscheduled
), ${failUnsent('gone', `'canceled', 'CANCELED', 'The message was canceled before it was sent.'`)}
select message_id from moved`;
