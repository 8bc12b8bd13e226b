import type { Database } from '../../../infrastructure/database/database.js';
import type { Prepared } from '../../../infrastructure/database/prepared.js';
import {
  dueConnectionLanes,
  dueSql,
  type ConnectionLanes,
  type DueLanes,
} from '../../../infrastructure/lanes/due-lanes.js';
import { ASKED_LANES, HOLD_COLUMNS, laneHold, type HoldRow } from '../../../infrastructure/lanes/lane-hold.js';
import { NO_MARK } from '../../../infrastructure/lanes/lane.repository.js';
import type { TraceContext } from '../../../infrastructure/operations/tracing.js';
import { LONGEST_TTL_HOURS } from '../accept/schedule.js';
import { queueTakes } from '../message-state.js';

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

/** The hold on a lane (`kind` null), a claimed message, or where the walk through a lane ended; see `CLAIM`. */
export type ClaimRow =
  | (HoldRow & { kind: null; laneKey: string })
  | (ClaimedMessage & { kind: 'claimed' })
  | { kind: 'tail' | 'complete'; connectionId: string; recipient: string | null };

/** Due messages that a claim looks for first. Where there are fewer, their recipients are all that can be served. */
const PROBE = 128;
/** Recipients that one statement walks over in a lane, those in flight, deferred or expired among them. */
const WALK = 1_000;

/**
 * SQL condition that holds for every row `q`, of `message_schedule` too: with it, and only with it, a statement may use
 * the index by time.
 */
export const BY_TIME = `q.created_at > '-infinity'`;

/** As `BY_TIME`, for the index of `message_schedule` by recipient. */
export const BY_RECIPIENT = `q.recipient <> ''`;

/** SQL condition: due since it was accepted. */
export const READY = `q.attempt_id is null and q.next_attempt_at is null and ${BY_TIME}`;

// What of a recipient's messages is on the wire, else the one whose turn it is: the low-water mark plays no part in it.
// Without BY_TIME, so that only the index by recipient is left: by time all dead rows of the lane would be read.
const headOf = (recipient: string): string => `
  select q.ctid as place, q.attempt_id, q.next_attempt_at, q.queued_at, q.expires_at from message_queue q
  where q.connection_id = asked.connection_id and q.recipient = ${recipient}
  order by q.connection_id, q.recipient, (q.attempt_id is null), q.seq limit 1`;

const CLAIMABLE = `${queueTakes('claimed', 'head')}
    and (head.next_attempt_at is null or head.next_attempt_at <= clock_timestamp())
    and coalesce(head.expires_at, head.queued_at + make_interval(hours => asked.ttl_hours)) > clock_timestamp()`;

const DEFINITELY_TOO_OLD = `statement_timestamp() - interval '${LONGEST_TTL_HOURS} hours'`;

const nextRecipient = (behind: string, n: string): string => `
  select q.recipient, ${n} from message_queue q
  where q.connection_id = asked.connection_id and q.recipient > ${behind} and q.seq >= asked.low_seq
    and not (select is_complete from complete)
  order by q.connection_id, q.recipient, (q.attempt_id is null), q.seq limit 1`;

// "probe" has the messages that became due last, without those that are definitely too old. Where they are few they
// lead to all recipients that can be served, and no walk is needed: deferred and expired messages are not among them,
// however many there are. Else "walk" goes from recipient to recipient, and the probe only fills up what the walk
// leaves. Both begin at the low-water mark, so that removed rows are not read again and again while another transaction
// keeps them from being vacuumed.
// statement_timestamp() and not clock_timestamp(), by which no index is searched.
// "tail" says where a walk ended that did not fill the limit; '' is the lane's end.
const DUE_OF_LANE = `
  with recursive probe as materialized (
    (select q.recipient from message_queue q
     where q.connection_id = asked.connection_id and ${READY} and q.created_at >= asked.low_at
       and q.created_at > ${DEFINITELY_TOO_OLD}
     order by q.created_at desc limit ${PROBE})
    union all
    (select q.recipient from message_queue q
     where q.connection_id = asked.connection_id and q.next_attempt_at between asked.low_at and statement_timestamp()
       and q.next_attempt_at > ${DEFINITELY_TOO_OLD}
     order by q.next_attempt_at desc limit ${PROBE})
  ), complete as materialized (
    select count(*) < ${PROBE} as is_complete from probe
  ), walk (recipient, n) as (
    (${nextRecipient('asked.cursor', '1')})
    union all
    select next.* from walk cross join lateral (${nextRecipient('walk.recipient', 'walk.n + 1')}) as next
    where walk.n < ${WALK}
  ), walked as (
    select head.place
    from walk cross join lateral (${headOf('walk.recipient')}) as head where ${CLAIMABLE} limit asked.slots
  ), probed as (
    select head.place
    from (select distinct recipient from probe) as found cross join lateral (${headOf('found.recipient')}) as head
    where ${CLAIMABLE} and head.place not in (select place from walked)
    order by found.recipient <= asked.cursor, found.recipient limit asked.slots
  )
  (select place, null as tail, false as is_complete
   from (select * from walked union all select * from probed) as due limit asked.slots)
  union all
  select null, coalesce((select recipient from walk where n = ${WALK}), ''), is_complete
  from complete where is_complete or (select count(*) from walked) < asked.slots`;

/** The id of the n-th attempt of a claim, as `claim-sql` makes it. */
export function attemptIdOf(claimId: string, n: number): string {
  return claimId.slice(0, 32) + n.toString(16).padStart(4, '0');
}

// $1 to $6 the holds; of each lane $7 the cursor, $8 the claim's id, $9 lease seconds, $10 ttl hours.
// Each hold is a row of its own, so that it is not sent with every message.
// Rows are met again by their place in the table alone: the planner takes the queue for nearly empty, and by columns it
// would read all of a lane for each.
export const CLAIM: Prepared = {
  name: 'message_claim',
  text: `
with ${laneHold({ asked: ASKED_LANES, returning: ', l.low_at, l.low_seq' })}, asked as materialized (
  select hold.key, hold.key::uuid as connection_id, hold.slots, hold.low_at, hold.low_seq, claim.*
  from hold join unnest((select $1::text[]), $7::text[], $8::uuid[], $9::float8[], $10::integer[])
    as claim (lane, cursor, claim_id, lease_seconds, ttl_hours) on claim.lane = hold.key
  where hold.slots > 0
), found as materialized (
  select asked.key, due.* from asked cross join lateral (${DUE_OF_LANE}) as due
), locked as (
  select q.ctid as place, q.connection_id, q.seq, ${queueTakes('claimed')} as may from message_queue q
  where q.ctid = any(array(select place from found where place is not null))
  for update of q skip locked
), numbered as (
  select place, lease_seconds, overlay(claim_id::text placing lpad(to_hex(n), 4, '0') from 33)::uuid as attempt_id
  from (select *, row_number() over (partition by connection_id order by seq) as n from locked where may) as locked
  join asked on asked.connection_id = locked.connection_id
), claimed as (
  update message_queue q set attempt_id = n.attempt_id, claimed_at = greatest(clock_timestamp(), q.queued_at),
    lease_until = clock_timestamp() + make_interval(secs => n.lease_seconds), attempt_number = q.attempt_number + 1,
    next_attempt_at = null
  from numbered n where q.ctid = n.place
  returning q.message_id, q.connection_id, q.conversation_id, q.attempt_id, q.recipient, q.tries, q.attempt_number
), answer as (
  select k.connection_id::text as "connectionId", 'claimed' as kind, m.id, m.organization_id as "organizationId",
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
union all
select key, case when is_complete then 'complete' else 'tail' end, null, null, null, null, tail, null, null, null, null,
  null, null, null, null
from found where place is null
)
select ${HOLD_COLUMNS}, hold.key as "laneKey", answer.* from hold full join answer on false`,
};

// Numbers that cannot send keep their due messages: without the condition each of them would be woken in every round.
const LANES: ConnectionLanes = {
  prefix: '',
  where: `status in ('connected', 'restricted')`,
  dueSince: `least(
    (select q.queued_at from message_queue q where q.connection_id = lane_of.id and q.created_at >= lane_of.low_at
       and ${READY} order by q.connection_id, q.created_at limit 1),
    (select q.next_attempt_at from message_queue q where q.connection_id = lane_of.id
       and q.next_attempt_at between lane_of.low_at and statement_timestamp()
     order by q.connection_id, q.next_attempt_at limit 1))`,
};

/** Connections with due messages that can send. */
export function dueConnections(database: Database): DueLanes {
  return dueConnectionLanes(database, LANES);
}

/** $1 limit, $2 behind which connection. */
export const DUE = dueSql(LANES, '$1', '$2');

// A row accepted after `seen_at` has a higher place than `seen_seq`, because it takes its time first and its place then.
// So that place becomes the mark's as soon as the time of the mark is not before it.
// A lane that was not drained since stays as it is: it costs no write.
export const MOVE_MARKS = `
with sequence as materialized (
  select last_value from message_queue_seq_seq
), old as materialized (
  select l.key, l.low_at from lane l join connection c on c.id::text = l.key
  where l.low_at < statement_timestamp() - interval '20 seconds' and l.low_at < l.next_slot_at
  order by l.key for no key update of l skip locked
), found as materialized (
  select old.key, least(statement_timestamp() - interval '15 seconds',
    (select q.created_at from message_queue q where q.connection_id = old.key::uuid and q.created_at >= old.low_at
       and ${READY} order by q.connection_id, q.created_at limit 1),
    (select q.next_attempt_at from message_queue q where q.connection_id = old.key::uuid
       and q.next_attempt_at >= old.low_at order by q.connection_id, q.next_attempt_at limit 1)) as low_at
  from old
)
update lane l set low_at = found.low_at,
  low_seq = case when found.low_at >= l.seen_at then greatest(l.low_seq, l.seen_seq) else l.low_seq end,
  seen_seq = case when found.low_at >= l.seen_at or l.seen_at = 'infinity' then last_value else l.seen_seq end,
  seen_at = case when found.low_at >= l.seen_at or l.seen_at = 'infinity' then clock_timestamp() else l.seen_at end
from found cross join sequence
where l.key = found.key and found.low_at > l.low_at`;

// The walk does not find deferred messages whose place is before the mark, and the probe finds them only after those
// that became due later: where there are always enough of these, one that has been due for long has its turn once all are looked at again.
export const CHECK_MARKS = `
with passed as materialized (
  select l.key from lane l join connection c on c.id::text = l.key
  where l.low_at > '-infinity' and (
    exists (select 1 from message_queue q where q.connection_id = c.id and q.created_at < l.low_at and ${READY})
    or exists (select 1 from message_queue q where q.connection_id = c.id and q.seq < l.low_seq and ${READY})
    or exists (select 1 from message_queue q where q.connection_id = c.id and q.next_attempt_at < l.low_at)
    or exists (select 1 from message_queue q where q.connection_id = c.id and q.seq < l.low_seq
      and q.next_attempt_at < statement_timestamp() - interval '1 minute'))
  order by l.key for no key update of l
)
update lane l set ${NO_MARK} from passed where l.key = passed.key`;
