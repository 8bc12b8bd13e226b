import type { Prepared } from '../../../infrastructure/database/prepared.js';
import { GRANTED_SLOTS, HOLD_COLUMNS, laneHold, type HoldRow } from '../../../infrastructure/lanes/lane-hold.js';
import { queueTakes } from '../message-state.js';

/** A claimed message, or at the end what the statement says of the lane; see `CLAIM`. */
export interface ClaimRow extends HoldRow {
  kind: 'claimed' | 'tail' | 'complete' | null;
  id: string | null;
  organization_id: string | null;
  conversation_id: string | null;
  attempt_id: string | null;
  recipient: string | null;
  recipient_user_id: string | null;
  type: string | null;
  content: Record<string, unknown> | null;
  tries: number | null;
  attempt_number: number | null;
  is_reply: boolean | null;
  context_message_id: string | null;
}

/** SQL condition: due since it was accepted. Such rows are found by the lane's low-water mark. */
export const READY = 'q.attempt_id is null and q.next_attempt_at is null';

// What of a recipient's messages is on the wire, else the one whose turn it is: the low-water mark plays no part in it.
const headOf = (recipient: string): string => `
  select q.ctid as place, q.attempt_id, q.next_attempt_at, q.queued_at from message_queue q
  where q.connection_id = $7 and q.recipient = ${recipient}
  order by q.connection_id, q.recipient, (q.attempt_id is null), q.seq limit 1`;

const CLAIMABLE = `${queueTakes('claimed', 'head')}
    and (head.next_attempt_at is null or head.next_attempt_at <= clock_timestamp())
    and head.queued_at > clock_timestamp() - make_interval(hours => $11)`;

const nextRecipient = (behind: string, n: string): string => `
  select q.recipient, ${n} from message_queue q
  where q.connection_id = $7 and q.recipient > ${behind} and q.seq >= (select low_seq from hold)
    and not (select is_complete from complete)
  order by q.connection_id, q.recipient, (q.attempt_id is null), q.seq limit 1`;

// $1 to $6 the hold, $7 connection, $8 cursor, $9 attempt ids, $10 lease seconds, $11 ttl hours, $12 walk, $13 probe.
// "probe" has the messages that became due last, without those that are surely too old. Where they are few they lead to
// all recipients that can be served, and no walk is needed: deferred and expired messages are not among them, however
// many there are. Else "walk" goes from recipient to recipient, and the probe only fills up what the walk leaves.
// Both begin at the low-water mark, so that rows which are gone are not read again and again while another transaction
// keeps them from being removed.
// statement_timestamp() and not clock_timestamp(), by which no index is searched.
// Rows are met again by their place in the table: the queue is nearly empty in the planner's eyes, and by columns it
// would as soon read all of a lane for each.
// "tail" tells where the walk ended that did not fill the limit; '' is the lane's end.
export const CLAIM: Prepared = {
  name: 'message_claim',
  text: `
with recursive ${laneHold({ returning: ', l.low_at, l.low_seq' })}, probe as materialized (
  (select q.recipient from message_queue q
   where q.connection_id = $7 and ${READY} and q.created_at >= (select low_at from hold where slots > 0)
     and q.created_at > statement_timestamp() - make_interval(hours => $11)
   order by q.created_at desc limit $13)
  union all
  (select q.recipient from message_queue q
   where q.connection_id = $7 and q.next_attempt_at <= statement_timestamp() and exists (select 1 from hold where slots > 0)
     and q.next_attempt_at > statement_timestamp() - make_interval(hours => $11)
   order by q.next_attempt_at desc limit $13)
), complete as materialized (
  select count(*) < $13 as is_complete from probe
), walk (recipient, n) as (
  (${nextRecipient('$8', '1')})
  union all
  select next.* from walk cross join lateral (${nextRecipient('walk.recipient', 'walk.n + 1')}) as next
  where walk.n < $12
), walked as (
  select head.place
  from walk cross join lateral (${headOf('walk.recipient')}) as head where ${CLAIMABLE} limit ${GRANTED_SLOTS}
), probed as (
  select head.place
  from (select distinct recipient from probe) as found cross join lateral (${headOf('found.recipient')}) as head
  where ${CLAIMABLE} and head.place not in (select place from walked)
  order by found.recipient <= $8, found.recipient limit ${GRANTED_SLOTS}
), picked as (
  select * from (select * from walked union all select * from probed) as due limit ${GRANTED_SLOTS}
), locked as (
  select q.ctid as place, q.seq from message_queue q join picked p on p.place = q.ctid
  where ${queueTakes('claimed')}
  for update of q skip locked
), numbered as (
  select locked.place, a.attempt_id from (select *, row_number() over (order by seq) as n from locked) as locked
  join unnest($9::uuid[]) with ordinality as a (attempt_id, n) on a.n = locked.n
), claimed as (
  update message_queue q set attempt_id = n.attempt_id, claimed_at = greatest(clock_timestamp(), q.queued_at),
    lease_until = clock_timestamp() + make_interval(secs => $10), attempt_number = q.attempt_number + 1,
    next_attempt_at = null
  from numbered n where q.ctid = n.place and ${queueTakes('claimed')}
  returning q.message_id, q.conversation_id, q.attempt_id, q.recipient, q.tries, q.attempt_number
), answer as (
  select 'claimed' as kind, m.id, m.organization_id, k.conversation_id, k.attempt_id, k.recipient, m.recipient_user_id,
  m.type, coalesce(c.content, '{}') as content, k.tries, k.attempt_number, m.reply_to_message_id is not null as is_reply,
  (select coalesce(s.meta_message_id, case when r.direction = 'inbound' then r.meta_message_id end,
     (select a.meta_message_id from message_attempt a where a.message_id = r.id
       and a.meta_message_id is not null order by a.number desc limit 1))
   from message r left join message_state s on s.message_id = r.id
   where r.id = m.reply_to_message_id and r.organization_id = m.organization_id) as context_message_id
from claimed k join message m on m.id = k.message_id left join message_content c on c.message_id = k.message_id
union all
select case when is_complete then 'complete' else 'tail' end, null, null, null, null,
  coalesce((select recipient from walk where n = $12), ''), null, null, null, null, null, null, null
from complete where is_complete or (select count(*) from walked) < ${GRANTED_SLOTS}
)
select ${HOLD_COLUMNS}, answer.* from hold left join answer on true`,
};
