import { Injectable } from '@nestjs/common';
import { Config } from '../../../infrastructure/config/config.js';
import { Database } from '../../../infrastructure/database/database.js';
import { LANES_HELD, isHeld } from '../../../infrastructure/lanes/lane-hold.js';
import { laneRecipient } from '../contacts/conversations.repository.js';
import { queueTakes } from '../message-state.js';
import type { ClaimedMessage } from './claim-sql.js';
import { SendRepository, type MovedMessage } from './send.repository.js';

/** Why a queued message has not left yet. */
export const WAITING_REASONS = [
  'scheduled',
  'earlier_message_to_recipient',
  'number_pace',
  'pair_limit',
  'number_paused',
  'retry',
  'number_disconnected',
  'due',
] as const;
export type WaitingReason = (typeof WAITING_REASONS)[number];

/** Messages of the number that a count reads at the most; `ahead` is at most this. */
export const MOST_AHEAD = 10_000;

/** Where a message stands in its number's queue. */
export interface QueueEstimate {
  /** Messages of the number that leave before it, as far as is known now; `MOST_AHEAD` stands for that many or more. */
  ahead: number;
  /** Null where it can't be known: nothing can be sent now, or more messages wait than are counted. */
  estimatedSendAt: Date | null;
}

export interface Waiting extends QueueEstimate {
  reason: WaitingReason;
  /** When the reason ends, where that is known. */
  until: Date | null;
  /** When the message is given up if it has not left by then. */
  expiresAt: Date;
  /** With `number_paused`: the category of what the platform answered, and its code; null where every lane is held. */
  pauseReason: string | null;
}

/** A message that is not queued yet; `recipient` is digits, or the user id. */
export type NewInQueue = Pick<
  ClaimedMessage,
  'organizationId' | 'connectionId' | 'recipient' | 'recipientUserId' | 'conversationId'
>;

/** The platform's limit of messages from one number to one recipient. */
const PAIR_LIMIT = 131056;
/** A message that has been due for so long while no worker drains its lane says nothing about when one will. */
const NOT_DRAINED_MS = 30_000;

/**
 * Says of a message that waits why, and when it would leave: in the order in which claims go through a lane. They walk
 * from recipient to recipient, one message of each, and begin again behind the last; so a message leaves in the round
 * that its place among its recipient's messages gives it. Where the walk stands is read from what is on the wire, or is
 * known to this process.
 *
 * The estimate takes the queue as it stands and the pace of the number: what is accepted later for recipients in front of
 * this one leaves earlier, and answers of the platform that take long slow the lane down.
 */
@Injectable()
export class QueueEstimates {
  constructor(
    private readonly database: Database,
    private readonly sends: SendRepository,
    private readonly config: Config,
  ) {}

  /** Null where the message is not queued (any more). */
  async ofMessage({ id, organizationId, connectionId }: MovedMessage & { id: string }): Promise<Waiting | null> {
    const { messageTtlHours } = this.config.limits;
    const row = await this.database.find<LaneRow>(OF_MESSAGE, [this.sends.cursorOf(connectionId), id, organizationId]);
    if (row !== null) return waitingOf(row, messageTtlHours);
    const scheduled = await this.database.find<ScheduledRow>(OF_SCHEDULED, [id, organizationId, messageTtlHours]);
    if (scheduled === null) return null;
    const { until, now, allHeld, expiresAt } = scheduled;
    const waiting = { ahead: 0, expiresAt, pauseReason: null };
    if (until > now) return { ...waiting, reason: 'scheduled', until, estimatedSendAt: until };
    // Its time has come, and a sweep is about to put it into the queue.
    return {
      ...waiting,
      reason: allHeld ? 'number_paused' : 'due',
      until: null,
      estimatedSendAt: allHeld ? null : now,
    };
  }

  /** Of a message that would be queued at this moment; null where the workspace has no such number. */
  async ofNew(message: NewInQueue): Promise<QueueEstimate | null> {
    const { organizationId, connectionId, recipient, recipientUserId, conversationId } = message;
    const cursor = this.sends.cursorOf(connectionId);
    const params = [cursor, organizationId, connectionId, recipient, recipientUserId, conversationId];
    const row = await this.database.find<LaneRow>(OF_NEW, params);
    return row && estimateOf(row);
  }
}

interface LaneRow {
  now: Date;
  canSend: boolean;
  ratePerSecond: number;
  pausedUntil: Date | null;
  pauseReason: string | null;
  /** The time of the next free slot of the pace. */
  nextSlotAt: Date | null;
  isDrained: boolean;
  /** Every lane rests: the database is another one than the one that was confirmed. */
  allHeld: boolean;
  queuedAt: Date;
  /** Null where the time to live is the one of all messages. */
  expiresAt: Date | null;
  nextAttemptAt: Date | null;
  lastCode: number | null;
  /** Messages to the same recipient that leave first, and when the first of them is due; on the wire it is null. */
  earlier: number;
  earlierDueAt: Date | null;
  others: number;
  /** Not all that may be ahead was read. */
  isCut: boolean;
}

type ScheduledRow = Record<'until' | 'now' | 'expiresAt', Date> & { allHeld: boolean };

const later = (a: Date, b: Date | null): Date => (b !== null && b > a ? b : a);
const future = (time: Date | null, now: Date): Date | null => (time !== null && time > now ? time : null);

function estimateOf(row: LaneRow): QueueEstimate {
  const { now } = row;
  const ahead = Math.min(MOST_AHEAD, row.earlier + row.others);
  const dueSince = later(row.queuedAt, row.nextAttemptAt);
  const isStalled = !row.isDrained && row.pausedUntil === null && now.getTime() - dueSince.getTime() > NOT_DRAINED_MS;
  if (!row.canSend || row.allHeld || row.isCut || ahead === MOST_AHEAD || isStalled) {
    return { ahead, estimatedSendAt: null };
  }
  const from = later(later(now, row.pausedUntil), row.nextSlotAt);
  const byPace = new Date(from.getTime() + (ahead / row.ratePerSecond) * 1_000);
  return { ahead, estimatedSendAt: later(later(byPace, row.nextAttemptAt), row.earlierDueAt) };
}

function waitingOf(row: LaneRow, ttlHours: number): Waiting {
  const estimate = estimateOf(row);
  const expiresAt = row.expiresAt ?? new Date(row.queuedAt.getTime() + ttlHours * 3_600_000);
  return { ...estimate, ...reasonOf(row, estimate), expiresAt, pauseReason: row.pauseReason };
}

function reasonOf(row: LaneRow, { ahead, estimatedSendAt }: QueueEstimate): Pick<Waiting, 'reason' | 'until'> {
  const { now, pausedUntil } = row;
  if (!row.canSend) return { reason: 'number_disconnected', until: null };
  if (row.allHeld) return { reason: 'number_paused', until: null };
  const ownTurn = future(row.nextAttemptAt, now);
  if (pausedUntil !== null && (ownTurn === null || pausedUntil > ownTurn)) {
    return { reason: 'number_paused', until: pausedUntil };
  }
  if (ownTurn !== null) return { reason: row.lastCode === PAIR_LIMIT ? 'pair_limit' : 'retry', until: ownTurn };
  if (row.earlier > 0) return { reason: 'earlier_message_to_recipient', until: future(row.earlierDueAt, now) };
  if (ahead > 0) return { reason: 'number_pace', until: estimatedSendAt };
  return { reason: 'due', until: null };
}

/** Behind every recipient: digits, or a user id that begins with the two letters of a country. */
const LAST_RECIPIENT = 'zzz';
/** Messages on the wire, of all numbers, of which the last of this number says where the walk stands. */
const MOST_ON_WIRE = 1_000;

// Every part reads a bounded number of rows. "arc": the parts of the circle of recipients that the walk passes before
// it comes to this one, in its round, and how many messages of each recipient leave by then. $1 where this process
// believes the walk to stand.
const estimateSql = (subject: string): string => `
with subject as materialized (${subject}), lane_now as materialized (
  select c.id, c.status in ('connected', 'restricted') as can_send, c.throughput_per_second, l.next_slot_at,
    coalesce(l.low_seq, 0) as low_seq, coalesce(${isHeld('l')}, false) as is_drained,
    case when l.paused_until > clock_timestamp() then l.paused_until end as paused_until,
    case when l.paused_until > clock_timestamp() then l.pause_reason end as pause_reason
  from subject s join connection c on c.id = s.connection_id and c.organization_id = s.organization_id
  left join lane l on l.key = c.id::text
), earlier as materialized (
  select e.* from subject s cross join lateral (
    select q.attempt_id, q.next_attempt_at from message_queue q
    where q.connection_id = s.connection_id and q.recipient = s.recipient and (q.attempt_id is not null or q.seq < s.seq)
    order by q.connection_id, q.recipient, (q.attempt_id is null), q.seq limit ${MOST_AHEAD}) as e
), on_wire as materialized (
  select connection_id, recipient, lease_until from message_queue
  where lease_until is not null and lease_until > statement_timestamp() order by lease_until desc limit ${MOST_ON_WIRE}
), turn as materialized (
  select s.connection_id, s.recipient, (select count(*) from earlier) as earlier, coalesce(
    (select w.recipient from on_wire w where w.connection_id = s.connection_id order by w.lease_until desc limit 1),
    $1::text, '') as cursor
  from subject s
), arc as materialized (
  select t.connection_id, t.recipient as own, a.* from turn t cross join lateral (values
    (t.cursor, case when t.recipient > t.cursor then t.recipient else '${LAST_RECIPIENT}' end, t.earlier + 1),
    ('', case when t.recipient > t.cursor then '' else t.recipient end, t.earlier + 1),
    (t.recipient, case when t.recipient > t.cursor then '${LAST_RECIPIENT}' else t.cursor end, t.earlier),
    ('', case when t.recipient > t.cursor then t.cursor else '' end, t.earlier)) as a (low, high, most)
  where a.most > 0 and a.low < a.high
), passed as materialized (
  select count(*) filter (where ranked.is_due and ranked.n <= arc.most) as messages,
    count(*) >= ${MOST_AHEAD} as is_cut
  from arc cross join lateral (
    select found.is_due, row_number() over (partition by found.recipient order by found.seq) as n from (
      select q.recipient, q.seq, (q.next_attempt_at is null or q.next_attempt_at <= statement_timestamp()) as is_due
      from message_queue q
      where q.connection_id = arc.connection_id and q.recipient > arc.low and q.recipient <= arc.high
        and q.recipient <> arc.own and (q.attempt_id is null) and q.seq >= (select low_seq from lane_now)
      order by q.connection_id, q.recipient, (q.attempt_id is null), q.seq limit ${MOST_AHEAD}) as found) as ranked
  group by arc.low, arc.high
)
select clock_timestamp() as now, l.can_send as "canSend", l.throughput_per_second as "ratePerSecond",
  l.paused_until as "pausedUntil", l.pause_reason as "pauseReason", l.next_slot_at as "nextSlotAt", l.is_drained as "isDrained",
  ${LANES_HELD} as "allHeld", s.queued_at as "queuedAt",
  s.expires_at as "expiresAt", s.next_attempt_at as "nextAttemptAt", s.last_code as "lastCode",
  t.earlier::integer as earlier, (select next_attempt_at from earlier limit 1) as "earlierDueAt",
  coalesce((select sum(messages) from passed), 0)::integer as others,
  coalesce((select bool_or(is_cut) from passed), false) as "isCut"
from subject s cross join turn t join lane_now l on true`;

// $2 message, $3 workspace.
const OF_MESSAGE = estimateSql(`
  select q.organization_id, q.connection_id, q.recipient, q.seq, q.queued_at, q.next_attempt_at, q.expires_at, (
    select a.platform_code from message_attempt a where a.message_id = q.message_id order by a.number desc limit 1)
    as last_code
  from message_queue q where q.message_id = $2 and q.organization_id = $3 and ${queueTakes('claimed')}`);

// $2 workspace, $3 connection, $4 recipient, $5 user id, $6 conversation.
const OF_NEW = estimateSql(`
  select g.organization_id, g.connection_id, ${laneRecipient('g')} as recipient, 9223372036854775807 as seq,
    clock_timestamp() as queued_at, null::timestamptz as next_attempt_at,
    null::timestamptz as expires_at, null::integer as last_code
  from (select $2::uuid as organization_id, $3::uuid as connection_id, $4::text as recipient,
    $5::text as recipient_user_id, $6::uuid as conversation_id) as g`);

// $1 message, $2 workspace, $3 hours to live of messages without a time of their own. A release may take several looks.
const OF_SCHEDULED = `
select greatest(t.scheduled_for, t.release_at) as until, clock_timestamp() as now, ${LANES_HELD} as "allHeld",
  t.scheduled_for + coalesce(make_interval(secs => m.ttl_seconds), make_interval(hours => $3)) as "expiresAt"
from message_schedule t join message m on m.id = t.message_id
where t.message_id = $1 and t.organization_id = $2`;
