import type { Database } from '../../../infrastructure/database/database.js';
import type { Prepared } from '../../../infrastructure/database/prepared.js';
import { dueTableLanes, dueSql, type TableLanes, type MarkedLanes } from '../../../infrastructure/queue/due-lanes.js';
import { ASKED_LANES, HOLD_COLUMNS, laneHold, type HoldRow } from '../../../infrastructure/queue/lane-hold.js';
import type { TraceContext } from '../../../infrastructure/operations/tracing.js';
import { queueTakes } from '../../messages/message/message-state.js';

/** A message that this process may send now, once, before its lease runs out. */
export interface ClaimedMessage {
  id: string;
  organizationId: string;
  connectionId: string;
  conversationId: string | null;
  attemptId: string;
  /** The lane's key: digits, or the user id where no number is known. */
  recipient: string;
  /** The user id that it is addressed to; null where it goes to the number. */
  recipientUserId: string | null;
  type: string;
  content: Record<string, unknown>;
  /** Deferrals so far that count. */
  tries: number;
  attemptNumber: number;
  /** Whether the message answers another one, and the platform's id of that one where it has one. */
  isReply: boolean;
  contextMessageId: string | null;
  /** Of the request that it came with, where its trace is recorded. */
  traceContext: TraceContext | null;
}

/** The hold on a lane (`id` null), or a claimed message; see `CLAIM`. */
export type ClaimRow = (HoldRow & { id: null; laneKey: string }) | ClaimedMessage;

/** SQL: the recipient's first row. What is on the wire stands before what waits. */
const FIRST_OF_RECIPIENT = `
  select first.message_id from message_queue first
  where first.connection_id = q.connection_id and first.recipient = q.recipient
  order by first.connection_id, first.recipient, (first.attempt_id is null), first.seq limit 1`;

/** The id of the n-th attempt of a claim, as `CLAIM` makes it. */
export function attemptIdOf(claimId: string, n: number): string {
  return claimId.slice(0, 32) + n.toString(16).padStart(4, '0');
}

// $1 to $6 the holds; of each lane $7 the claim's id, $8 lease seconds.
// Due rows in the order in which they became due, from the lane's low-water mark on: removed rows before it are not read,
// however many another transaction keeps from being vacuumed. `due_at` only leads to what may be claimed; order and one
// at a time are kept by the condition that a row is its recipient's first.
// Each hold is a row of its own, so that it is not sent with every message.
export const CLAIM: Prepared = {
  name: 'message_claim',
  text: `
with ${laneHold({ asked: ASKED_LANES, returning: ', l.low_at' })}, asked as materialized (
  select hold.key, hold.key::uuid as connection_id, hold.slots, hold.low_at, claim.claim_id, claim.lease_seconds
  from hold join unnest((select $1::text[]), $7::uuid[], $8::float8[]) as claim (lane, claim_id, lease_seconds)
    on claim.lane = hold.key
  where hold.slots > 0
), place as materialized (
  select due.place, asked.lease_seconds, overlay(asked.claim_id::text placing
    lpad(to_hex(row_number() over (partition by asked.key order by due.seq)), 4, '0') from 33)::uuid as attempt_id
  from asked cross join lateral (
    select q.ctid as place, q.seq from message_queue q
    where q.connection_id = asked.connection_id and ${queueTakes('claimed')}
      and q.due_at >= asked.low_at and q.due_at <= statement_timestamp() and q.expires_at > clock_timestamp()
      and q.message_id = (${FIRST_OF_RECIPIENT})
    order by q.connection_id, q.due_at limit asked.slots for no key update of q skip locked) as due
), claimed as (
  update message_queue q set attempt_id = place.attempt_id, claimed_at = greatest(clock_timestamp(), q.queued_at),
    lease_until = clock_timestamp() + make_interval(secs => place.lease_seconds),
    attempt_number = q.attempt_number + 1, due_at = null
  from place where q.ctid = place.place and ${queueTakes('claimed')}
  returning q.message_id, q.connection_id, q.conversation_id, q.attempt_id, q.recipient, q.tries, q.attempt_number
), answer as (
  select k.connection_id as "connectionId", m.id, m.organization_id as "organizationId",
    k.conversation_id as "conversationId", k.attempt_id as "attemptId", k.recipient,
    m.recipient_user_id as "recipientUserId", m.type, coalesce(c.content, '{}') as content, k.tries,
    k.attempt_number as "attemptNumber", m.reply_to_message_id is not null as "isReply",
    (select coalesce(s.meta_message_id, case when r.direction = 'inbound' then r.meta_message_id end,
       (select a.meta_message_id from message_attempt a where a.message_id = r.id
         and a.meta_message_id is not null order by a.number desc limit 1))
     from message r left join message_state s on s.message_id = r.id
     where r.id = m.reply_to_message_id and r.organization_id = m.organization_id) as "contextMessageId",
    encode(m.trace_context, 'hex') as "traceContext"
  from claimed k join message m on m.id = k.message_id left join message_content c on c.message_id = k.message_id
)
select ${HOLD_COLUMNS}, hold.key as "laneKey", answer.* from hold full join answer on false`,
};

// Numbers that cannot send keep their due messages: without the condition each of them would be woken in every round.
const LANES: TableLanes = {
  table: 'connection',
  prefix: '',
  where: `status in ('connected', 'restricted')`,
  dueSince: (from) => `(select q.due_at from message_queue q
    where q.connection_id = lane_of.id and q.due_at >= ${from} and q.due_at <= statement_timestamp()
    order by q.connection_id, q.due_at limit 1)`,
};

/** Connections with due messages that can send. */
export function dueConnections(database: Database): MarkedLanes {
  return dueTableLanes(database, LANES);
}

/** $1 limit, $2 behind which connection. */
export const DUE = dueSql(LANES, '$1', '$2');

// Each recipient's first row is due or on the wire: triggers see to it. Where one was disabled, a row would wait for ever.
// $1, $2: behind which connection and recipient; $3 recipients that are looked at.
export const REPAIR_TURNS = `
with recursive walk as (
  (select q.connection_id, q.recipient, 1 as n from message_queue q
   where (q.connection_id, q.recipient) > ($1::uuid, $2::text)
   order by q.connection_id, q.recipient limit 1)
  union all
  select next.connection_id, next.recipient, walk.n + 1 from walk cross join lateral (
    select q.connection_id, q.recipient from message_queue q
    where (q.connection_id, q.recipient) > (walk.connection_id, walk.recipient)
    order by q.connection_id, q.recipient limit 1) as next
  where walk.n < $3::integer
), stranded as materialized (
  select first.place from walk cross join lateral (
    select q.ctid as place, q.attempt_id, q.due_at from message_queue q
    where q.connection_id = walk.connection_id and q.recipient = walk.recipient
    order by q.connection_id, q.recipient, (q.attempt_id is null), q.seq limit 1) as first
  where first.attempt_id is null and first.due_at is null
), repaired as (
  update message_queue q set due_at = clock_timestamp()
  where q.ctid = any(array(select place from stranded)) and ${queueTakes('claimed')} and q.due_at is null returning 1
)
select (select count(*)::integer from repaired) as repaired, connection_id as "connectionId", recipient,
  n = $3::integer as "isFull"
from walk order by n desc limit 1`;
