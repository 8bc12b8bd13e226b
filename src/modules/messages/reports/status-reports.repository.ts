import type { Statements } from '../../../infrastructure/database/database.js';
import type { Prepared } from '../../../infrastructure/database/prepared.js';
import { correctCosts } from '../../billing/limit-corrections.types.js';
import { isInQueue, type OutboundStatus } from '../message/message-state.js';
import { afterReports, ATTEMPT_COLUMNS, knownAttempt, setAttempt } from '../message/attempt-columns.js';
import { insertStatusEvents, shownPricing } from '../message/message-event-sql.js';
import type { StatusReport } from '../messages.types.js';
import { findReportedAttempts, MICROSECONDS, type LockedMessage } from './find-reported-attempts.js';
import { MessageProgress, type AttemptEvidence } from './message-progress.js';

/** What a report led to; null: no attempt of the report's connection is meant. */
export interface AppliedReport extends Pick<
  LockedMessage,
  'organizationId' | 'conversationId' | 'recipient' | 'traceContext'
> {
  messageId: string;
  /** Whether the message was moved by this report. */
  moved: boolean;
}

type Progress = MessageProgress<LockedMessage>;

/**
 * Applies what the platform reports about sent messages, in the caller's transaction. What the reports say of one
 * message is one change of its row (`MessageProgress`). Usually two statements, `LOCK` and `UPDATE_STATE`; more where an
 * attempt must be looked up or is not in the message's row, or where the message is still in the queue.
 *
 * Its tests: find-reported-attempts.spec.ts (find and lock), message-progress.spec.ts (what reports make of a message),
 * status-reports.repository.spec.ts (write), attempt-columns.spec.ts (what they make of an attempt), retries-and-reports.spec.ts (retries).
 *
 * Returns one result a report, in the same order: null where no attempt is meant by it (yet).
 */
export async function applyStatusReports(
  reports: readonly StatusReport[],
  statements: Statements,
): Promise<(AppliedReport | null)[]> {
  if (reports.length === 0) return [];
  const found = await findReportedAttempts(reports, statements);
  const reported = new Map<string, Progress>();
  const results = reports.map((report) => {
    const target = found.attemptFor(report);
    if (target === null) return null;
    const { message, attempt } = target;
    const { id: messageId, organizationId, conversationId, recipient, traceContext } = message;
    const progress = reported.get(messageId) ?? new MessageProgress(message);
    reported.set(messageId, progress);
    const moved = progress.apply(recipient === null ? withoutText(report) : report, attempt, message.now);
    return { organizationId, conversationId, recipient, traceContext, moved, messageId };
  });
  await write([...reported.values()], statements);
  return results;
}

async function write(reported: readonly Progress[], statements: Statements): Promise<void> {
  // First: MOVE_WITH_OTHER_ATTEMPT takes an attempt's row out of message_attempt as this statement leaves it.
  const evidence = reported.flatMap(evidenceRows);
  if (evidence.length > 0) await statements.query(UPDATE_OTHER_ATTEMPTS, [JSON.stringify(evidence)]);
  // A price without a move is not kept while the message is in the queue: later reports have it again.
  const leaving = reported.filter(({ message, moves }) => isInQueue(message.status) && moves.length > 0);
  for (const [statement, changed] of [
    [UPDATE_STATE, reported.filter((progress) => !isInQueue(progress.message.status) && isChanged(progress))],
    [MOVE_WITH_OWN_ATTEMPT, leaving.filter(({ enteringAttemptId }) => enteringAttemptId === null)],
    [MOVE_WITH_OTHER_ATTEMPT, leaving.filter(({ enteringAttemptId }) => enteringAttemptId !== null)],
  ] as const) {
    if (changed.length === 0) continue;
    const events = changed.flatMap(eventsOf);
    await statements.query(statement, [JSON.stringify(changed.map(changeOf)), JSON.stringify(events)]);
  }
}

function isChanged({ message, moves, metaMessageId, pricing, ofAttemptInRow }: Progress): boolean {
  const hasNewId = metaMessageId !== message.metaMessageId;
  return moves.length > 0 || hasNewId || pricing !== null || ofAttemptInRow !== undefined;
}

/**
 * The message's new values; what is absent is null in the statement. A message that failed and then advanced has no
 * failure any more.
 */
function changeOf({ message, moves, metaMessageId, pricing, enteringAttemptId, ofAttemptInRow }: Progress) {
  const last = moves.at(-1);
  const at = (status: OutboundStatus) => moves.find((move) => move.to === status)?.at;
  return {
    id: message.id,
    enteringAttemptId,
    status: last?.to ?? message.status,
    moved: last !== undefined,
    eventCount: message.eventCount + moves.length,
    metaMessageId,
    sentAt: at('sent'),
    deliveredAt: at('delivered'),
    readAt: at('read'),
    failedAt: last?.to === 'failed' ? last.at : null,
    failure: last?.failure,
    attempt: ofAttemptInRow && evidenceRow(ofAttemptInRow),
    pricing,
  };
}

/** Each move is announced, in order, whatever the message has become by the end of the batch. */
function eventsOf({ message, moves }: Progress) {
  return moves.map(({ from, to, at, attemptNumber, failure }, index) => ({
    messageId: message.id,
    status: to,
    previousStatus: from,
    at,
    attempt: attemptNumber,
    failure,
    sequence: message.eventCount + index + 1,
  }));
}

/** Of attempts that have a row of their own. */
function evidenceRows({ message, attempts }: Progress) {
  return [...attempts].flatMap(([id, evidence]) => (id === message.attemptId ? [] : { id, ...evidenceRow(evidence) }));
}

function evidenceRow({ taken, failure, metaMessageId }: AttemptEvidence) {
  return { taken, failed: failure !== null, metaMessageId, ...failure };
}

function withoutText(report: StatusReport): StatusReport {
  return { ...report, error: report.error && { ...report.error, title: null, details: null } };
}

const timeOf = (column: string): string => `to_timestamp(r."${column}" / ${MICROSECONDS})`;

// What reports say of an attempt, `evidenceRow`, and why a message failed, `ReportedFailure`.
const EVIDENCE = 'taken boolean, failed boolean, "metaMessageId" text, category text, code integer, message text';
const FAILURE = 'category text, code integer, message text';

/**
 * SQL: the recipient of the row's message was erased, perhaps while its lock was waited for. WhatsApp's id of a message contains the number,
 * so it is not written again.
 */
const isErased = (alias: string, id = 'message_id'): string =>
  `exists (select from message m where m.id = ${alias}.${id} and m.recipient is null)`;

/** SQL: a text of the platform about such a message, which may name the recipient. */
const unlessErased = (text: string, alias: string, id = 'message_id'): string =>
  `case when ${text} is not null and not ${isErased(alias, id)} then ${text} end`;

// The attempt's own answer may have been recorded since it was read, so what is known by now decides.
const UPDATE_OTHER_ATTEMPTS: Prepared = {
  name: 'report_other_attempts',
  text: `
update message_attempt a set
  ${setAttempt('message_attempt', afterReports(knownAttempt('message_attempt', 'a'), 'r.'))},
  meta_message_id = coalesce(a.meta_message_id, case when not ${isErased('a')} then r."metaMessageId" end)
from (
  select r.id, r.taken, r.failed, r."metaMessageId", r.category, r.code, ${unlessErased('r.message', 'k')} as message
  from json_to_recordset($1) as r (id uuid, ${EVIDENCE}) left join message_attempt k on k.id = r.id) as r
where a.id = r.id`,
};

// $1: the changes of messages, as `changeOf` makes them. Each may have three objects, whose fields are columns here: `failure` (failure_*: it
// moved to "failed"), `attempt` (said_*: what reports say of the attempt in the row) and `pricing` (billable, pricing_*: a price that is news).
const CHANGES = `
with r as materialized (
  select c.*,
    f.category as failure_category, f.code as failure_code, ${unlessErased('f.message', 'c', 'id')} as failure_message,
    a.taken as said_taken, a.failed as said_failed, a."metaMessageId" as said_meta_message_id,
    a.category as said_category, a.code as said_code, ${unlessErased('a.message', 'c', 'id')} as said_message,
    p.billable, p.category as pricing_category, p.type as pricing_type, p.subtype as pricing_subtype, p.model as pricing_model
  from json_to_recordset($1) as c (id uuid, "enteringAttemptId" uuid, status text, moved boolean, "eventCount" integer,
    "metaMessageId" text, "sentAt" double precision, "deliveredAt" double precision, "readAt" double precision,
    "failedAt" double precision, failure json, attempt json, pricing json)
  left join lateral json_to_record(c.failure) as f (${FAILURE}) on c.failure is not null
  left join lateral json_to_record(c.attempt) as a (${EVIDENCE}) on c.attempt is not null
  left join lateral json_to_record(c.pricing) as p (billable boolean, category text, type text, subtype text, model text)
    on c.pricing is not null
)`;

// $2: the moves, each an event, as `eventsOf` makes them. Their sequence was counted from the locked row, so no number is left out or used twice.
// `relation`: the rows of message_state that were written; `insertStatusEvents` adds the events themselves, and `announced`.
const withEventsOf = (relation: string): string => `move as (
  select w.message_id, w.organization_id, w.connection_id, e.status, e."previousStatus" as previous_status,
    to_timestamp(e.at / ${MICROSECONDS}) as occurred_at, e.attempt, f.category as failure_category,
    f.code::text as error_code, ${unlessErased('f.message', 'w')} as error_message, e.sequence, w.pricing
  from ${relation} w join json_to_recordset($2) as e ("messageId" uuid, status text, "previousStatus" text,
    at double precision, attempt integer, failure json, sequence integer) on e."messageId" = w.message_id
  left join lateral json_to_record(e.failure) as f (${FAILURE}) on e.failure is not null
), ${correctCosts('r')}, ${insertStatusEvents('move')}
select 1`;

// Messages that have left the queue.
const UPDATE_STATE: Prepared = {
  name: 'report_state',
  text: `${CHANGES}, state_changed as (
  update message_state s set
    status = r.status,
    event_count = r."eventCount",
    meta_message_id = case when r."metaMessageId" is distinct from s.meta_message_id and not ${isErased('s')}
      then r."metaMessageId" else s.meta_message_id end,
    sent_at = coalesce(${timeOf('sentAt')}, s.sent_at),
    delivered_at = coalesce(${timeOf('deliveredAt')}, s.delivered_at),
    read_at = coalesce(${timeOf('readAt')}, s.read_at),
    failed_at = case when r.moved then ${timeOf('failedAt')} else s.failed_at end,
    failure_category = case when r.moved then r.failure_category else s.failure_category end,
    error_code = case when r.moved then r.failure_code::text else s.error_code end,
    error_message = case when r.moved then r.failure_message else s.error_message end,
    ${setAttempt('message_state', afterReports(knownAttempt('message_state', 's'), 'r.said_'))},
    billable = coalesce(s.billable, r.billable),
    pricing_category = coalesce(s.pricing_category, r.pricing_category),
    pricing_type = coalesce(s.pricing_type, r.pricing_type),
    pricing_subtype = coalesce(s.pricing_subtype, r.pricing_subtype),
    pricing_model = coalesce(s.pricing_model, r.pricing_model)
  from r where s.message_id = r.id
  returning s.message_id, s.organization_id, s.connection_id, ${shownPricing('s')} as pricing
), ${withEventsOf('state_changed')}`,
};

// Messages that are still in the queue: a report came before the answer of the attempt under way, or it proves that an
// earlier attempt was taken, which makes the retry unnecessary. The message goes from the queue to message_state, with the
// attempt that counts, and its times.
const LEFT_QUEUE = `left_queue as (
  delete from message_queue q where q.message_id = any(array(select id from r)) returning q.*
)`;

const UNDER_WAY = afterReports(
  {
    status: `'started'`,
    finishedAt: 'null::timestamptz',
    category: 'null',
    code: 'null',
    message: 'null',
    httpStatus: 'null::integer',
    traceId: 'null',
  },
  'r.said_',
);
/** SQL: the attempts that were under way, as their reports leave them; its columns are those of `ATTEMPT_COLUMNS`, in their order. */
const ATTEMPT_UNDER_WAY = `select l.attempt_id as id, l.organization_id, l.message_id, l.attempt_number as number,
    ${UNDER_WAY.status} as status, l.claimed_at as started_at, ${UNDER_WAY.finishedAt} as finished_at,
    ${UNDER_WAY.httpStatus} as http_status, ${UNDER_WAY.code} as platform_code, ${UNDER_WAY.message} as platform_message,
    ${UNDER_WAY.category} as failure_category, r.said_meta_message_id as meta_message_id, ${UNDER_WAY.traceId} as trace_id
  from left_queue l join r on r.id = l.message_id where l.attempt_id is not null`;

/**
 * SQL: the row of message_state. The message is from `left_queue`, its attempt from `entering` (columns of `ATTEMPT_COLUMNS`), all else
 * from the change.
 */
const ENTERED_STATE = `entered_state as (
  insert into message_state as s (message_id, organization_id, connection_id, conversation_id, created_at, status,
    event_count, queued_at, processing_at, sent_at, delivered_at, read_at, failed_at, meta_message_id, failure_category,
    error_code, error_message, attempt_id, attempt_number, attempt_count, attempt_status, attempt_finished_at,
    http_status, platform_code, platform_message, attempt_category, trace_id, billable, pricing_category, pricing_type,
    pricing_subtype, pricing_model)
  select l.message_id, l.organization_id, l.connection_id, l.conversation_id, l.created_at, r.status, r."eventCount",
    least(l.queued_at, a.started_at), a.started_at, ${timeOf('sentAt')}, ${timeOf('deliveredAt')},
    ${timeOf('readAt')}, ${timeOf('failedAt')}, coalesce(r."metaMessageId", a.meta_message_id), r.failure_category,
    r.failure_code::text, r.failure_message, a.id, coalesce(a.number, l.attempt_number),
    case when a.number < l.attempt_number then l.attempt_number end, nullif(a.status, 'started'), a.finished_at,
    a.http_status, a.platform_code, a.platform_message, a.failure_category, a.trace_id, r.billable, r.pricing_category,
    r.pricing_type, r.pricing_subtype, r.pricing_model
  -- Retention may have removed an earlier attempt since it was read.
  from left_queue l join r on r.id = l.message_id left join entering a on a.message_id = l.message_id
  returning s.message_id, s.organization_id, s.connection_id, ${shownPricing('s')} as pricing
), ${withEventsOf('entered_state')}`;

// The attempt in the queue's row, which is under way, goes with the message to message_state.
const MOVE_WITH_OWN_ATTEMPT: Prepared = {
  name: 'report_with_own_attempt',
  text: `${CHANGES}, ${LEFT_QUEUE}, entering as (${ATTEMPT_UNDER_WAY}), ${ENTERED_STATE}`,
};

// Another attempt has replaced it (`enteringAttemptId`): that one goes from message_attempt to message_state. A retry that is under way goes to
// message_attempt; one that waits is not needed.
const MOVE_WITH_OTHER_ATTEMPT: Prepared = {
  name: 'report_with_other_attempt',
  text: `${CHANGES}, ${LEFT_QUEUE}, retry_to_history as (
  insert into message_attempt (${ATTEMPT_COLUMNS}) ${ATTEMPT_UNDER_WAY}
), entering as (
  delete from message_attempt a using r where a.id = r."enteringAttemptId"
  returning a.id, a.organization_id, a.message_id, a.number, a.status, a.started_at, a.finished_at, a.http_status,
    a.platform_code, a.platform_message, a.failure_category, a.meta_message_id, a.trace_id
), ${ENTERED_STATE}`,
};
