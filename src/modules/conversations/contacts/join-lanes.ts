import type { Statements } from '../../../infrastructure/database/database.js';

const JOIN_ROUNDS = 5;

/**
 * What waits for a user id goes on in one order with what waits for the number, as soon as the two are one contact, and
 * what waits for a name that was replaced goes to the new one. A
 * message that was accepted meanwhile is only seen by a statement that begins after its commit, so we look until none is
 * left.
 */
export async function joinLanes(ids: readonly string[], statements: Statements): Promise<void> {
  await statements.query(JOIN_SCHEDULED, [ids]);
  for (let round = 0; round < JOIN_ROUNDS; round++) {
    if ((await statements.query(JOIN_LANES, [ids])).length === 0) return;
  }
}

// The conversations of $1, as `t`: `number` and `user_id` to write to, `lane` to wait under, `former` names, and the `ids` of
// what was merged into them.
const TARGETS = `target as (
  select t.*, coalesce(t.number, t.user_id) as lane,
    array(select a.name from conversation_alias a where a.conversation_id = any(t.ids)) as former
  from (
    select c.id, c.organization_id, c.connection_id, c.phone, c.wa_id, c.user_id, coalesce(c.phone, c.wa_id) as number,
      array(select c.id union all select g.id from conversation g where g.merged_into = c.id) as ids
    from conversation c where c.id = any($1)) t
  where coalesce(t.number, t.user_id) is not null
)`;

// To a user id goes what was addressed to one, as long as the contact has one.
const USER_ID_AFTER = `case when m.recipient_user_id is not null or t.number is null then t.user_id end`;

// Whether a row is to move: `w` waits for the contact under a name that it has not, or not in its lane.
const isMoving = (w: string): string => `
  case when ${w}.recipient = any(t.former) or m.recipient_user_id = any(t.former) then ${w}.conversation_id = any(t.ids)
    else m.recipient_user_id is not null end
  and (${w}.recipient <> t.lane or m.recipient_user_id is distinct from ${USER_ID_AFTER})`;

// Rows leave the one lane and enter the other, so that the triggers of the queue pass on the turn of each.
const JOIN_LANES = `
with ${TARGETS}, waiting as materialized (
  select q.message_id, t.lane as recipient, ${USER_ID_AFTER} as user_id
  from target t join message_queue q on q.organization_id = t.organization_id and q.connection_id = t.connection_id
    and q.recipient = any(array[t.user_id, t.wa_id, t.phone] || t.former)
  join message m on m.id = q.message_id
  where ${isMoving('q')}
  order by q.message_id for update of q
), named as (
  update message m set recipient = waiting.recipient, recipient_user_id = waiting.user_id
  from waiting where m.id = waiting.message_id
), gone as (
  delete from message_queue where message_id = any(array(select message_id from waiting)) returning *
)
insert into message_queue (connection_id, created_at, message_id, organization_id, conversation_id, recipient, seq,
  queued_at, due_at, not_before, claimed_at, lease_until, attempt_id, attempt_number, tries, event_count, tag, expires_at)
select g.connection_id, g.created_at, g.message_id, g.organization_id, g.conversation_id, waiting.recipient, g.seq,
  g.queued_at, case when g.attempt_id is null then greatest(g.due_at, g.not_before, clock_timestamp()) end, g.not_before,
  g.claimed_at, g.lease_until, g.attempt_id, g.attempt_number, g.tries, g.event_count, g.tag, g.expires_at
from gone g join waiting using (message_id)
order by (g.attempt_id is null), g.seq
returning message_id`;

const JOIN_SCHEDULED = `
with ${TARGETS}, waiting as materialized (
  select s.message_id, t.lane as recipient, ${USER_ID_AFTER} as user_id
  from target t join message_schedule s on s.organization_id = t.organization_id and s.connection_id = t.connection_id
    and s.recipient = any(array[t.user_id, t.wa_id, t.phone] || t.former) and s.recipient <> ''
  join message m on m.id = s.message_id
  where cardinality(t.former) > 0 and ${isMoving('s')}
  order by s.message_id for update of s
), named as (
  update message m set recipient = waiting.recipient, recipient_user_id = waiting.user_id
  from waiting where m.id = waiting.message_id
)
update message_schedule s set recipient = waiting.recipient from waiting where s.message_id = waiting.message_id`;
