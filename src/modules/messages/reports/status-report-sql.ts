import type { Prepared } from '../../../infrastructure/database/prepared.js';
import { ATTEMPT_COLUMNS, CLOSE_KNOWN_ATTEMPT } from '../send/attempt-sql.js';
import { insertStatusEvents } from './message-event-sql.js';
import type { OutboundStatus } from '../message-state.js';
import type { Attempt } from '../messages.types.js';

/** A message with its current attempt, where that stands in the same row. */
export interface LockedRow {
  id: string;
  organization_id: string;
  connection_id: string;
  conversation_id: string | null;
  recipient: string | null;
  status: OutboundStatus;
  meta_message_id: string | null;
  event_count: number;
  attempt_id: string | null;
  /** Of the current attempt, wherever it stands. */
  attempt_number: number;
  attempt_status: Attempt['status'];
  attempt_failed: boolean;
  /** Microseconds since the epoch. */
  latest_at: number;
  now: number;
}

export interface AttemptRow {
  id: string;
  message_id: string;
  number: number;
  status: Attempt['status'];
  meta_message_id: string | null;
  failed: boolean;
}

/** To which message and attempt an id of the platform leads. */
export interface PlaceRow {
  message_id: string;
  attempt_id: string;
  meta_message_id: string | null;
}

const MICROSECONDS = 1_000_000;

const microseconds = (time: string): string => `(extract(epoch from ${time}) * ${MICROSECONDS})::double precision`;
const timeOf = (column: string): string => `to_timestamp(r."${column}" / ${MICROSECONDS})`;

/** Whether an attempt is known to have failed. */
const failedBy = (status: string, category: string): string =>
  `coalesce(${status} = 'rejected' or (${status} = 'accepted' and ${category} is not null), false)`;

// An attempt of before a migration may stand in both tables, with one id.
export const FIND = `
select a.message_id, a.id as attempt_id, a.meta_message_id from message_attempt a
where a.id = any($1::uuid[]) or a.meta_message_id = any($2::text[])
union all
select s.message_id, s.attempt_id, s.meta_message_id from unnest($2::text[]) as k (id)
join message_state s on hashtextextended(s.meta_message_id, 0) = hashtextextended(k.id, 0) and s.meta_message_id = k.id
where s.attempt_id is not null`;

// In the order that all keep: rows of the queue by id, then those with an outcome.
export const LOCK: Prepared = {
  name: 'report_lock',
  text: `
with waiting as materialized (
  select * from message_queue where message_id = any($1) order by message_id for update
), decided as materialized (
  select * from message_state where message_id = any($1) and (select count(*) from waiting) >= 0
  order by message_id for no key update
), found as (
  select message_id, organization_id, connection_id, conversation_id,
    case when attempt_id is null then 'queued' else 'processing' end as status, null as meta_message_id, event_count,
    attempt_id, attempt_number, 'started' as attempt_status, false as attempt_failed,
    greatest(queued_at, claimed_at) as latest_at from waiting
  union all
  select message_id, organization_id, connection_id, conversation_id, status, meta_message_id, event_count,
    attempt_id, attempt_number, coalesce(attempt_status, 'started'), ${failedBy('attempt_status', 'attempt_category')},
    greatest(queued_at, processing_at, accepted_at, sent_at, delivered_at, read_at, failed_at) from decided
)
select f.message_id as id, f.organization_id, f.connection_id, f.conversation_id, m.recipient, f.status,
  f.meta_message_id, f.event_count, f.attempt_id, f.attempt_number, f.attempt_status, f.attempt_failed,
  ${microseconds('f.latest_at')} as latest_at, ${microseconds('clock_timestamp()')} as now
from found f join message m on m.id = f.message_id`,
};

export const ATTEMPTS = `
select a.id, a.message_id, a.number, a.status, a.meta_message_id, ${failedBy('a.status', 'a.failure_category')} as failed
from message_attempt a where a.id = any($1::uuid[])`;

/** New values of an attempt's columns by what is told of it; a doubt that is resolved leaves no category of failure. */
const noted = ({ status, finished, category, told }: Record<'status' | 'finished' | 'category' | 'told', string>) => ({
  status: `case when r.taken then 'accepted' when r.taken is not null
    and coalesce(${status}, 'started') in ('started', 'unknown', 'deferred') then 'rejected' else ${status} end`,
  finished: `case when r.taken is null then ${finished} else coalesce(${finished}, clock_timestamp()) end`,
  category: `case when r.failed then ${told}
    when r.taken is null or ${status} in ('accepted', 'rejected') then ${category} end`,
});

// The attempt's own answer may have been recorded since it was read, so what is known by now decides.
const OTHER = noted({
  status: 'a.status',
  finished: 'a.finished_at',
  category: 'a.failure_category',
  told: 'r.category',
});
export const NOTE: Prepared = {
  name: 'report_note',
  text: `
update message_attempt a set
  status = ${OTHER.status},
  meta_message_id = coalesce(a.meta_message_id, r."metaMessageId"),
  finished_at = ${OTHER.finished},
  platform_code = case when r.failed then r.code else a.platform_code end,
  platform_message = case when r.failed then r.message else a.platform_message end,
  failure_category = ${OTHER.category}
from json_to_recordset($1) as r (id uuid, taken boolean, failed boolean, "metaMessageId" text, code integer,
  message text, category text)
where a.id = r.id`,
};

// $1: the changes, with what is told of the attempt in the same row, where something is.
const CHANGES = `
with r as materialized (
  select r.*, t.taken, t.failed, t."metaMessageId" as "attemptMetaId", t.code, t.message, t.category as told_category
  from json_to_recordset($1) as r (id uuid, "adoptedId" uuid, status text,
    moved boolean, "eventCount" integer, "metaMessageId" text, "sentAt" double precision,
    "deliveredAt" double precision, "readAt" double precision, "failedAt" double precision, category text,
    "errorCode" text, "errorMessage" text, attempt json)
  left join lateral json_to_record(r.attempt) as t (taken boolean, failed boolean, "metaMessageId" text, code integer,
    message text, category text) on r.attempt is not null
)`;

// $2: what the events tell; at most one transaction moves a message at a time, so their count is not passed over.
const ANNOUNCED = `change as (
  select w.message_id, w.organization_id, w.connection_id, e.status, e."previousStatus" as previous_status,
    to_timestamp(e.at / ${MICROSECONDS}) as occurred_at, e.attempt, e.category as failure_category,
    e."errorCode" as error_code, e."errorMessage" as error_message, e.sequence
  from moved w join json_to_recordset($2) as e ("messageId" uuid, status text, "previousStatus" text,
    at double precision, attempt integer, category text, "errorCode" text, "errorMessage" text, sequence integer)
    on e."messageId" = w.message_id
), announced as (
  ${insertStatusEvents('change')}
)
select 1`;

const OWN = noted({
  status: 's.attempt_status',
  finished: 's.attempt_finished_at',
  category: 's.attempt_category',
  told: 'r.told_category',
});
export const MOVE: Prepared = {
  name: 'report_move',
  text: `${CHANGES}, moved as (
  update message_state s set
    status = r.status,
    event_count = r."eventCount",
    meta_message_id = coalesce(r."metaMessageId", s.meta_message_id),
    sent_at = coalesce(${timeOf('sentAt')}, s.sent_at),
    delivered_at = coalesce(${timeOf('deliveredAt')}, s.delivered_at),
    read_at = coalesce(${timeOf('readAt')}, s.read_at),
    failed_at = case when r.moved then ${timeOf('failedAt')} else s.failed_at end,
    failure_category = case when r.moved then r.category else s.failure_category end,
    error_code = case when r.moved then r."errorCode" else s.error_code end,
    error_message = case when r.moved then r."errorMessage" else s.error_message end,
    attempt_status = ${OWN.status},
    attempt_finished_at = ${OWN.finished},
    platform_code = case when r.failed then r.code else s.platform_code end,
    platform_message = case when r.failed then r.message else s.platform_message end,
    attempt_category = ${OWN.category}
  from r where s.message_id = r.id
  returning s.message_id, s.organization_id, s.connection_id
), ${ANNOUNCED}`,
};

// The attempt that is told of goes with the message: the one under way, or an earlier one, which takes the place of the
// retry that it makes needless. The message then has the times of that attempt.
export const LEAVE: Prepared = {
  name: 'report_leave',
  text: `${CHANGES}, gone as (
  delete from message_queue q where q.message_id = any(array(select id from r)) returning q.*
), own as (
  select g.attempt_id as id, g.organization_id, g.message_id, g.attempt_number as number,
    case when r.taken then 'accepted' when r.taken is not null then 'rejected' else 'started' end as status,
    g.claimed_at as started_at, case when r.taken is not null then clock_timestamp() end as finished_at,
    null::integer as http_status, r.code as platform_code, r.message as platform_message,
    r.told_category as failure_category, r."attemptMetaId" as meta_message_id, null as trace_id
  from gone g join r on r.id = g.message_id where g.attempt_id is not null
), adopted as (
  delete from message_attempt a using r where a.id = r."adoptedId"
  returning a.id, a.organization_id, a.message_id, a.number, a.status, a.started_at, a.finished_at, a.http_status,
    a.platform_code, a.platform_message, a.failure_category, a.meta_message_id, a.trace_id
), replaced as (
  insert into message_attempt (${ATTEMPT_COLUMNS})
  select * from own where message_id in (select message_id from adopted)
  ${CLOSE_KNOWN_ATTEMPT}
), moved as (
  insert into message_state as s (message_id, organization_id, connection_id, conversation_id, created_at, status,
    event_count, queued_at, processing_at, sent_at, delivered_at, read_at, failed_at, meta_message_id, failure_category,
    error_code, error_message, attempt_id, attempt_number, attempt_count, attempt_status, attempt_finished_at,
    http_status, platform_code, platform_message, attempt_category, trace_id)
  select g.message_id, g.organization_id, g.connection_id, g.conversation_id, g.created_at, r.status, r."eventCount",
    least(g.queued_at, a.started_at), a.started_at, ${timeOf('sentAt')}, ${timeOf('deliveredAt')},
    ${timeOf('readAt')}, ${timeOf('failedAt')}, coalesce(r."metaMessageId", a.meta_message_id), r.category,
    r."errorCode", r."errorMessage", a.id, coalesce(a.number, g.attempt_number),
    case when a.number < g.attempt_number then g.attempt_number end, nullif(a.status, 'started'), a.finished_at,
    a.http_status, a.platform_code, a.platform_message, a.failure_category, a.trace_id
  from gone g join r on r.id = g.message_id left join (
    select * from adopted union all select * from own where message_id not in (select message_id from adopted)) as a
    on a.message_id = g.message_id
  returning s.message_id, s.organization_id, s.connection_id
), ${ANNOUNCED}`,
};
