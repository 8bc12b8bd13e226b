import type { Statements } from '../../infrastructure/database/database.js';

/**
 * Joins the queues of contacts whose names changed. When a user id and a number turn out to be one contact, their
 * waiting messages continue in one order. Messages that wait for a replaced number or user id move to the new one.
 *
 * The first statement waits for accepts that hold a lock on one of these rows, so the second sees the rows that they
 * inserted.
 */
export async function joinLanes(ids: readonly string[], statements: Statements): Promise<void> {
  if (ids.length === 0 || (await statements.query(LOCK_LANES, [ids])).length === 0) return;
  await statements.query(JOIN_LANES, [ids]);
}

// The conversations of $1, as `t`: `number` and `user_id` to write to, `lane` as the new recipient key, `former` names,
// and in `ids` the conversation with those merged into it.
const TARGETS = `target as (
  select t.*, coalesce(t.number, t.user_id) as lane,
    array(select a.name from conversation_alias a where a.conversation_id = any(t.ids)) as former
  from (
    select c.id, c.organization_id, c.connection_id, c.phone, c.wa_id, c.user_id, coalesce(c.phone, c.wa_id) as number,
      array(select c.id union all select g.id from conversation g where g.merged_into = c.id) as ids
    from conversation c where c.id = any($1)) t
  where coalesce(t.number, t.user_id) is not null
)`;

// A message that was addressed to a user id keeps one, as long as the contact has one.
const USER_ID_AFTER = `case when m.recipient_user_id is not null or t.number is null then t.user_id end`;

// Whether a row moves: `w` waits under a name that the contact no longer has, or outside the contact's lane.
const isMoving = (w: string): string => `
  case when ${w}.recipient = any(t.former) or m.recipient_user_id = any(t.former) then ${w}.conversation_id = any(t.ids)
    else m.recipient_user_id is not null end
  and (${w}.recipient <> t.lane or m.recipient_user_id is distinct from ${USER_ID_AFTER})`;

// Held rows have an index of their own, hence the union.
const WAITING = `${TARGETS}, found as materialized (
  select t.id as target_id, q.message_id from target t cross join lateral (
    select q.message_id from message_queue q
    where q.organization_id = t.organization_id and q.connection_id = t.connection_id
      and q.recipient = any(array[t.user_id, t.wa_id, t.phone] || t.former) and q.held_until is null
    union all
    select q.message_id from message_queue q
    where q.organization_id = t.organization_id and q.connection_id = t.connection_id
      and q.recipient = any(array[t.user_id, t.wa_id, t.phone] || t.former) and q.held_until is not null and q.recipient <> ''
  ) as q
), waiting as materialized (
  select q.message_id, t.id as target_id, t.lane, ${USER_ID_AFTER} as user_id, q.seq,
    q.attempt_id is null and q.held_until is null as waits
  from found f join target t on t.id = f.target_id join message_queue q on q.message_id = f.message_id
  join message m on m.id = q.message_id
  where ${isMoving('q')}
  order by q.message_id for update of q
)`;

const LOCK_LANES = `with ${WAITING} select message_id from waiting`;

// The triggers of message_queue give the next row in the old lane its turn, and compute the turn in the new one.
const JOIN_LANES = `
with ${WAITING}, named as (
  update message m set recipient = waiting.lane, recipient_user_id = waiting.user_id
  from waiting where m.id = waiting.message_id
), placed as materialized (
  select *, waits and row_number() over (partition by target_id, waits order by seq) = 1 as is_first from waiting
)
update message_queue q set recipient = placed.lane,
  due_at = case when placed.is_first then greatest(q.not_before, clock_timestamp()) end
from placed where q.message_id = placed.message_id`;
