import type { Prepared } from '../../platform/database/prepared.js';
import { GRANTED_SLOTS, HOLD_COLUMNS, laneHold, type HoldRow } from '../../platform/lanes/lane-hold.js';

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

// $7 connection, $11 ttl hours.
const CLAIMABLE = `head.status = 'queued' and head.next_attempt_at <= clock_timestamp()
    and head.queued_at > clock_timestamp() - make_interval(hours => $11)
    and not exists (select 1 from message p
      where p.connection_id = $7 and p.recipient = head.recipient and p.status = 'processing')`;

// $1 to $6 the hold, $7 connection, $8 cursor, $9 attempt ids, $10 lease seconds, $11 ttl hours, $12 walk, $13 probe.
// "probe" has the messages that became due last, without those that are surely too old. Where they are few they lead to
// all recipients that can be served, and no walk is needed: deferred and expired messages are not among them, however
// many there are. Else "walk" goes from recipient to recipient, and the probe only fills up what the walk leaves.
// statement_timestamp() and not clock_timestamp(), by which no index is searched.
// "tail" tells where the walk ended that did not fill the limit; '' is the lane's end.
export const CLAIM: Prepared = {
  name: 'message_claim',
  text: `
with recursive ${laneHold()}, probe as materialized (
  select recipient from message
  where connection_id = $7 and status = 'queued' and next_attempt_at <= statement_timestamp()
    and next_attempt_at > statement_timestamp() - make_interval(hours => $11)
  order by next_attempt_at desc limit $13
), complete as materialized (
  select count(*) < $13 as is_complete from probe
), walk (recipient, id, status, next_attempt_at, queued_at, n) as (
  (select m.recipient, m.id, m.status, m.next_attempt_at, m.queued_at, 1
   from message m
   where m.connection_id = $7 and m.status in ('queued', 'processing') and m.recipient > $8
     and not (select is_complete from complete)
   order by m.connection_id, m.recipient, m.seq limit 1)
  union all
  select next.* from walk cross join lateral (
    select m.recipient, m.id, m.status, m.next_attempt_at, m.queued_at, walk.n + 1
    from message m
    where m.connection_id = $7 and m.status in ('queued', 'processing') and m.recipient > walk.recipient
    order by m.connection_id, m.recipient, m.seq limit 1) as next
  where walk.n < $12
), walked as (
  select head.id from walk as head where ${CLAIMABLE} limit ${GRANTED_SLOTS}
), probed as (
  select head.id from (select distinct recipient from probe) as found
  cross join lateral (
    select m.recipient, m.id, m.status, m.next_attempt_at, m.queued_at from message m
    where m.connection_id = $7 and m.status in ('queued', 'processing') and m.recipient = found.recipient
    order by m.connection_id, m.recipient, m.seq limit 1) as head
  where ${CLAIMABLE} and head.id not in (select id from walked)
  order by found.recipient <= $8, found.recipient limit ${GRANTED_SLOTS}
), picked as (
  select id from (select id from walked union all select id from probed) as due limit ${GRANTED_SLOTS}
), locked as (
  select m.id, m.seq from message m join picked on picked.id = m.id
  where m.status = 'queued'
  for update of m skip locked
), numbered as (
  select locked.id, a.attempt_id from (select id, row_number() over (order by seq) as n from locked) as locked
  join unnest($9::uuid[]) with ordinality as a (attempt_id, n) on a.n = locked.n
), claimed as (
  update message m set status = 'processing', processing_at = greatest(clock_timestamp(), m.queued_at),
    lease_until = clock_timestamp() + make_interval(secs => $10), attempt_count = m.attempt_count + 1,
    current_attempt_id = numbered.attempt_id, next_attempt_at = null
  from numbered where m.id = numbered.id and m.status = 'queued'
  returning m.id, m.organization_id, m.conversation_id, m.current_attempt_id, m.recipient, m.recipient_user_id,
    m.type, m.content, m.tries, m.attempt_count, m.reply_to_message_id, m.processing_at
), attempts as (
  insert into message_attempt (id, organization_id, message_id, number, status, started_at)
  select current_attempt_id, organization_id, id, attempt_count, 'started', processing_at from claimed
), answer as (
select 'claimed' as kind, id, organization_id, conversation_id, current_attempt_id as attempt_id, recipient,
  recipient_user_id, type, content, tries, attempt_count as attempt_number, reply_to_message_id is not null as is_reply,
  (select r.meta_message_id from message r
   where r.id = claimed.reply_to_message_id and r.organization_id = claimed.organization_id) as context_message_id
from claimed
union all
select case when is_complete then 'complete' else 'tail' end, null, null, null, null,
  coalesce((select recipient from walk where n = $12), ''), null, null, null, null, null, null, null
from complete where is_complete or (select count(*) from walked) < ${GRANTED_SLOTS}
)
select ${HOLD_COLUMNS}, answer.* from hold left join answer on true`,
};
