import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';
import { isOwned } from '../../../infrastructure/queue/lane-owner.js';
import { CLAIMS_BLOCKED } from '../../../infrastructure/queue/claims-blocked.js';
import { recipientKey } from '../../message-state/recipient-key.types.js';
import { queueTakes } from '../../message-state/message-state.types.js';
import type { ClaimedMessage } from '../claim/claim.repository.js';
import { MAX_AHEAD, type NewInQueue, type QueueEstimate, type Waiting } from '../sending.types.js';

/** WhatsApp's error code for the limit of messages from one number to one recipient. */
const PAIR_LIMIT = 131056;
/** A message that has been due for this long without a worker draining its lane: it is unknown when one will. */
const NOT_DRAINED_MS = 30_000;

/**
 * Says why a message waits, and estimates when it will leave, from the order in which claims go through a lane. Claims
 * take the message that has been due for longest, and a recipient's next message is due once the previous one has left.
 * So the message's place among its recipient's messages determines its round.
 *
 * The estimate assumes the present queue and the pace of the number. A message that is accepted later can leave earlier
 * if its recipient's turn is sooner. Slow answers from WhatsApp delay the lane.
 */
@Injectable()
export class QueueEstimates {
  constructor(private readonly database: Database) {}

  /** Null where the message is not queued, or no longer. */
  async ofMessage({ id, organizationId }: Pick<ClaimedMessage, 'id' | 'organizationId'>): Promise<Waiting | null> {
    const row = await this.database.byIndex(() => this.database.find<LaneRow>(OF_MESSAGE, [id, organizationId]));
    if (row !== null) return waitingOf(row);
    const held = await this.database.find<HeldRow>(OF_HELD, [id, organizationId]);
    if (held === null) return null;
    const { until, now, allBlocked, expiresAt } = held;
    const waiting = { ahead: 0, expiresAt, pauseReason: null };
    if (held.reason !== null) return { ...waiting, reason: held.reason, until: null, estimatedSendAt: null };
    if (until > now) return { ...waiting, reason: 'scheduled', until, estimatedSendAt: until };
    // The message's time has come; the next sweep moves it into the queue.
    return {
      ...waiting,
      reason: allBlocked ? 'number_paused' : 'due',
      until: null,
      estimatedSendAt: allBlocked ? null : now,
    };
  }

  /** The estimate for a message if it were queued now; null where the workspace has no such number. */
  async ofNew(message: NewInQueue): Promise<QueueEstimate | null> {
    const { organizationId, connectionId, recipient, recipientUserId, conversationId } = message;
    const params = [organizationId, connectionId, recipient, recipientUserId, conversationId];
    const row = await this.database.byIndex(() => this.database.find<LaneRow>(OF_NEW, params));
    return row && estimateOf(row);
  }
}

interface LaneRow {
  now: Date;
  canSend: boolean;
  ratePerSecond: number;
  pausedUntil: Date | null;
  pauseReason: string | null;
  /** When the pace has its next free slot. */
  nextSlotAt: Date | null;
  isDrained: boolean;
  /** All claims are blocked: this is another database than the operator confirmed. */
  allBlocked: boolean;
  queuedAt: Date;
  expiresAt: Date;
  /** Null while another message to the recipient comes first. */
  dueAt: Date | null;
  lastCode: number | null;
  /** Earlier messages to the same recipient, and when the first of them is due; null while that one is in flight. */
  earlier: number;
  earlierDueAt: Date | null;
  others: number;
}

/** `reason`: why its tag holds the message; null where it waits only for its time. */
type HeldRow = Record<'until' | 'now' | 'expiresAt', Date> & {
  allBlocked: boolean;
  reason: 'tag_paused' | 'tag_pace' | null;
};

const later = (a: Date, b: Date | null): Date => (b !== null && b > a ? b : a);
const future = (time: Date | null, now: Date): Date | null => (time !== null && time > now ? time : null);

function estimateOf(row: LaneRow): QueueEstimate {
  const { now } = row;
  const ahead = Math.min(MAX_AHEAD, row.earlier + row.others);
  const dueSince = later(row.queuedAt, row.dueAt);
  const isStalled = !row.isDrained && row.pausedUntil === null && now.getTime() - dueSince.getTime() > NOT_DRAINED_MS;
  if (!row.canSend || row.allBlocked || ahead === MAX_AHEAD || isStalled) {
    return { ahead, estimatedSendAt: null };
  }
  const from = later(later(now, row.pausedUntil), row.nextSlotAt);
  const byPace = new Date(from.getTime() + (ahead / row.ratePerSecond) * 1_000);
  return { ahead, estimatedSendAt: later(later(byPace, row.dueAt), row.earlierDueAt) };
}

function waitingOf(row: LaneRow): Waiting {
  const estimate = estimateOf(row);
  return { ...estimate, ...reasonOf(row, estimate), expiresAt: row.expiresAt, pauseReason: row.pauseReason };
}

function reasonOf(row: LaneRow, { ahead, estimatedSendAt }: QueueEstimate): Pick<Waiting, 'reason' | 'until'> {
  const { now, pausedUntil } = row;
  if (!row.canSend) return { reason: 'number_disconnected', until: null };
  if (row.allBlocked) return { reason: 'number_paused', until: null };
  const ownTurn = future(row.dueAt, now);
  if (pausedUntil !== null && (ownTurn === null || pausedUntil > ownTurn)) {
    return { reason: 'number_paused', until: pausedUntil };
  }
  if (ownTurn !== null) return { reason: row.lastCode === PAIR_LIMIT ? 'pair_limit' : 'retry', until: ownTurn };
  if (row.earlier > 0) return { reason: 'earlier_message_to_recipient', until: future(row.earlierDueAt, now) };
  if (ahead > 0) return { reason: 'number_pace', until: estimatedSendAt };
  return { reason: 'due', until: null };
}

/** Limit of messages in flight that are read, over all numbers; others wait behind them for their recipients. */
const MAX_ON_WIRE = 1_000;

// Every part reads a bounded number of rows. Recipients take turns in the order in which their first messages became
// due. With n messages before it to its own recipient, this message leaves after n + 1 messages of each recipient that
// is due earlier, and after n of each that is due later. Messages in flight or deferred come after all that are due
// now.
const estimateSql = (subject: string): string => `
with subject as materialized (${subject}), lane_now as materialized (
  select c.id, c.status in ('connected', 'restricted') as can_send, c.throughput_per_second, l.next_slot_at,
    coalesce(l.low_at, '-infinity') as low_at, ${isOwned('l')} as is_drained,
    case when l.paused_until > clock_timestamp() then l.paused_until end as paused_until,
    case when l.paused_until > clock_timestamp() then l.pause_reason end as pause_reason
  from subject s join connection c on c.id = s.connection_id and c.organization_id = s.organization_id
  left join lane l on l.key = c.id::text
), earlier as materialized (
  select e.* from subject s cross join lateral (
    select q.attempt_id, q.due_at from message_queue q
    where q.connection_id = s.connection_id and q.recipient = s.recipient and q.held_until is null
      and (q.attempt_id is not null or q.seq < s.seq)
    order by q.connection_id, q.recipient, (q.attempt_id is null), q.seq limit ${MAX_AHEAD}) as e
), turn as materialized (
  select s.connection_id, s.recipient, l.low_at, (select count(*) from earlier) as earlier,
    coalesce((select e.due_at from earlier e limit 1),
      case when not exists (select from earlier) then s.due_at end, 'infinity') as due_at
  from subject s cross join lane_now l
), other as materialized (
  select found.recipient, found.is_due, case when found.due_at < t.due_at then t.earlier + 1 else t.earlier end as most
  from turn t cross join lateral (
    (select q.recipient, true as is_due, q.due_at from message_queue q
     where q.connection_id = t.connection_id and q.due_at >= t.low_at and q.due_at <= statement_timestamp()
     order by q.connection_id, q.due_at limit ${MAX_AHEAD})
    union all
    select w.recipient, false, 'infinity' from (
      select q.connection_id, q.recipient from message_queue q
      where q.lease_until is not null and q.lease_until > statement_timestamp()
      order by q.lease_until limit ${MAX_ON_WIRE}) as w
    where w.connection_id = t.connection_id) as found
  where found.recipient <> t.recipient
), passed as materialized (
  select from turn t join other o on o.most > 0 cross join lateral (
    select where o.is_due and o.most = 1
    union all
    (select from message_queue q
     where q.connection_id = t.connection_id and q.recipient = o.recipient and q.held_until is null and (q.attempt_id is null)
       and not (o.is_due and o.most = 1)
     order by q.connection_id, q.recipient, (q.attempt_id is null), q.seq limit o.most)) as gone
  limit ${MAX_AHEAD}
)
select clock_timestamp() as now, l.can_send as "canSend", l.throughput_per_second as "ratePerSecond",
  l.paused_until as "pausedUntil", l.pause_reason as "pauseReason", l.next_slot_at as "nextSlotAt", l.is_drained as "isDrained",
  ${CLAIMS_BLOCKED} as "allBlocked", s.queued_at as "queuedAt",
  s.expires_at as "expiresAt", s.due_at as "dueAt", s.last_code as "lastCode",
  t.earlier::integer as earlier, (select due_at from earlier limit 1) as "earlierDueAt",
  (select count(*) from passed)::integer as others
from subject s cross join turn t join lane_now l on true`;

/** SQL: the tag is paused or starts later, though the sweep may not have held the row yet. */
const TAG_HOLDS = `exists (
      select from message_tag t where t.organization_id = q.organization_id and t.tag = q.tag and (t.paused or t.started_at is null))`;

// $1 message, $2 workspace.
const OF_MESSAGE = estimateSql(`
  select q.organization_id, q.connection_id, q.recipient, q.seq, q.queued_at, q.due_at, q.expires_at, (
    select a.code from message_attempt a where a.message_id = q.message_id order by a.number desc limit 1)
    as last_code
  from message_queue q where q.message_id = $1 and q.organization_id = $2 and q.held_until is null and ${queueTakes('claimed')}
    and not (${TAG_HOLDS})`);

// $1 workspace, $2 connection, $3 recipient, $4 user id, $5 conversation.
const OF_NEW = estimateSql(`
  select g.organization_id, g.connection_id, ${recipientKey('g')} as recipient, 9223372036854775807 as seq,
    clock_timestamp() as queued_at, clock_timestamp() as due_at, clock_timestamp() as expires_at, null::integer as last_code
  from (select $1::uuid as organization_id, $2::uuid as connection_id, $3::text as recipient,
    $4::text as recipient_user_id, $5::uuid as conversation_id) as g`);

// $1 message, $2 workspace. A release may need several sweeps.
const OF_HELD = `
select coalesce(greatest(q.scheduled_for, nullif(q.held_until, 'infinity'), case when t.started_at is null then t.start_at end),
    clock_timestamp()) as until,
  case when t.paused then 'tag_paused' when t.started_at is null and t.start_at is not null then null
    when q.held_until = 'infinity' then case when t.messages_per_minute is null or q.scheduled_for is not null then 'tag_paused' else 'tag_pace' end
  end as reason,
  clock_timestamp() as now, ${CLAIMS_BLOCKED} as "allBlocked", q.expires_at as "expiresAt"
from message_queue q left join message_tag t on t.organization_id = q.organization_id and t.tag = q.tag
where q.message_id = $1 and q.organization_id = $2 and ${queueTakes('claimed')} and (q.held_until is not null or ${TAG_HOLDS})`;
