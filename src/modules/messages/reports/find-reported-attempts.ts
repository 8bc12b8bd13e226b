import { isUuid } from '../../../common/ids.js';
import { camelColumns } from '../../../infrastructure/database/camel-columns.js';
import type { Statements } from '../../../infrastructure/database/database.js';
import type { Prepared } from '../../../infrastructure/database/prepared.js';
import type { TraceContext } from '../../../infrastructure/operations/tracing.js';
import { hasFailed, knownAttempt } from '../message/attempt-columns.js';
import type { Attempt, StatusReport } from '../messages.types.js';
import type { ReportedAttempt, ReportedMessage } from './message-progress.js';

/** The attempt that a report is about. */
interface Target {
  messageId: string;
  attemptId: string;
}

/** A row of `LOCK`: a message that reports are about, locked in `message_queue` or in `message_state`. */
export interface LockedMessage extends ReportedMessage {
  organizationId: string;
  connectionId: string;
  conversationId: string | null;
  /** Whose messages go one after the other: the number that the message was sent to, or a user id where no number is known; null: it was erased. */
  recipient: string | null;
  /** This and the next two: of the attempt in the message's row. They say nothing where there is none. */
  attemptNumber: number;
  attemptStatus: Attempt['status'];
  attemptFailed: boolean;
  /** Microseconds since the epoch. */
  now: number;
  /** Of the request that the message came with, where its trace is recorded. */
  traceContext: TraceContext | null;
}

/** A row of `ATTEMPTS`, or such an attempt in the message's row. */
type AttemptOfMessage = ReportedAttempt & { messageId: string };

/** A row of `FIND`. */
type FoundTarget = Target & { metaMessageId: string };

/**
 * Finds the attempts that reports are about, with their messages locked. Usually that is `LOCK` alone, as a report returns both
 * ids of its request. `FIND` looks up the attempt by the platform's id where the ids are missing or lead to no attempt of the
 * connection; attempts that are not in the message's row are read by `ATTEMPTS`.
 */
export async function findReportedAttempts(
  reports: readonly StatusReport[],
  statements: Statements,
): Promise<LockedMessages> {
  const found = await lockMessagesOf(
    reports,
    reports.filter((report) => idsInCallback(report) === null),
    statements,
  );
  if (found.foundAll(reports)) return found;
  // A message may have moved from one table to the other while its lock was waited for: only a new statement sees it there. What the
  // ids of the callback did not lead to is looked up by the platform's id now.
  return lockMessagesOf(
    reports,
    reports.filter((report) => idsInCallback(report) === null || found.attemptFor(report) === null),
    statements,
  );
}

/** @param byMetaId those of the reports whose attempt is looked up by the platform's id, too. */
async function lockMessagesOf(
  reports: readonly StatusReport[],
  byMetaId: readonly StatusReport[],
  statements: Statements,
): Promise<LockedMessages> {
  const metaIds = byMetaId.map((report) => report.metaMessageId);
  const candidates = new Candidates(metaIds.length === 0 ? [] : await statements.query<FoundTarget>(FIND, [metaIds]));
  const targets = reports.flatMap((report) => candidates.of(report));
  if (targets.length === 0) return new LockedMessages(candidates, [], []);
  const messages = await statements.query<LockedMessage>(LOCK, [
    [...new Set(targets.map((target) => target.messageId))],
  ]);
  // Read under the lock: what was known of them before may have changed while it was waited for.
  const inRows = new Set(messages.map((message) => message.attemptId));
  const others = [...new Set(targets.map((target) => target.attemptId))].filter((id) => !inRows.has(id));
  const attempts = others.length === 0 ? [] : await statements.query<AttemptOfMessage>(ATTEMPTS, [others]);
  return new LockedMessages(candidates, messages, attempts);
}

/** Which attempts a report may be about. */
class Candidates {
  private readonly byMetaMessageId = new Map<string, Target[]>();

  constructor(found: readonly FoundTarget[]) {
    for (const target of found) {
      const others = this.byMetaMessageId.get(target.metaMessageId);
      if (others === undefined) this.byMetaMessageId.set(target.metaMessageId, [target]);
      else others.push(target);
    }
  }

  /** The best first: by the ids that the request contained, then by the platform's id. */
  of(report: StatusReport): Target[] {
    return [idsInCallback(report) ?? [], this.byMetaMessageId.get(report.metaMessageId) ?? []].flat();
  }
}

/** What was found and locked. */
export class LockedMessages {
  private readonly messages: ReadonlyMap<string, LockedMessage>;
  /** Those in the messages' rows and those of `message_attempt`. */
  private readonly attempts: ReadonlyMap<string, AttemptOfMessage>;

  constructor(
    private readonly candidates: Candidates,
    messages: readonly LockedMessage[],
    others: readonly AttemptOfMessage[],
  ) {
    this.messages = new Map(messages.map((message) => [message.id, message]));
    this.attempts = new Map([...messages.flatMap(attemptInRow), ...others].map((attempt) => [attempt.id, attempt]));
  }

  /** The attempt that the report is about; null: none of its connection (yet). */
  attemptFor(report: StatusReport): { message: LockedMessage; attempt: ReportedAttempt } | null {
    for (const { messageId, attemptId } of this.candidates.of(report)) {
      const message = this.messages.get(messageId);
      const attempt = this.attempts.get(attemptId);
      if (message?.connectionId === report.connectionId && attempt?.messageId === messageId)
        return { message, attempt };
    }
    return null;
  }

  /** Whether each report that leads to a message has found it. */
  foundAll(reports: readonly StatusReport[]): boolean {
    return reports.every((report) => this.candidates.of(report).length === 0 || this.attemptFor(report) !== null);
  }
}

function attemptInRow(message: LockedMessage): AttemptOfMessage[] {
  const { id: messageId, attemptId, attemptNumber: number, attemptStatus: status, metaMessageId } = message;
  return attemptId === null
    ? []
    : [{ id: attemptId, messageId, number, status, metaMessageId, failed: message.attemptFailed }];
}

/** The ids that the request contained, `<message id>.<attempt id>`; they may lead nowhere. */
function idsInCallback({ callbackData }: StatusReport): Target | null {
  const [messageId, attemptId, ...more] = (callbackData ?? '').toLowerCase().split('.');
  return isUuid(messageId) && isUuid(attemptId) && more.length === 0 ? { messageId, attemptId } : null;
}

export const MICROSECONDS = 1_000_000;

const microseconds = (time: string): string => `(extract(epoch from ${time}) * ${MICROSECONDS})::double precision`;

// By the platform's id. An attempt that has this id comes before a message that has it: the message's may be that of another attempt than
// the one in its row (`MessageProgress.metaMessageId`).
const FIND = `
select a.message_id as "messageId", a.id as "attemptId", a.meta_message_id as "metaMessageId" from message_attempt a
where a.meta_message_id = any($1::text[])
union all
select s.message_id, s.attempt_id, s.meta_message_id from unnest($1::text[]) as k (id)
join message_state s on hashtextextended(s.meta_message_id, 0) = hashtextextended(k.id, 0) and s.meta_message_id = k.id
where s.attempt_id is not null and not exists (select from message_attempt a where a.meta_message_id = k.id)`;

// This statement locks rows of the queue by id, then those of message_state; attempts are locked after it. A batch of outcomes, or the second
// look of another batch of reports, may lock in another order: a deadlock is tried again (`GroupCommit`).
export const LOCK: Prepared = {
  name: 'report_lock',
  text: `
with in_queue as materialized (
  select * from message_queue where message_id = any($1) order by message_id for update
), in_state as materialized (
  -- The count has in_queue run, and lock, first.
  select * from message_state where message_id = any($1) and (select count(*) from in_queue) >= 0
  order by message_id for no key update
), found as (
  select message_id, organization_id, connection_id, conversation_id,
    case when attempt_id is null then 'queued' else 'processing' end as status, null as meta_message_id, event_count,
    attempt_id, attempt_number, 'started' as attempt_status, false as attempt_failed, false as is_priced,
    greatest(queued_at, claimed_at, (
      -- An unknown outcome that a late answer has put back keeps the time at which it was queued.
      select max(a.finished_at) from message_attempt a where a.message_id = in_queue.message_id)) as latest_at from in_queue
  union all
  select message_id, organization_id, connection_id, conversation_id, status, meta_message_id, event_count,
    attempt_id, attempt_number, coalesce(attempt_status, 'started'), ${hasFailed(knownAttempt('message_state', 'in_state'))},
    coalesce(pricing_category, pricing_type) is not null,
    greatest(queued_at, processing_at, accepted_at, sent_at, delivered_at, read_at, failed_at,
      case when status = 'outcome_unknown' then attempt_finished_at end) from in_state
)
select f.message_id as id, m.recipient, f.status, ${camelColumns('f', 'organization_id, connection_id')},
  ${camelColumns('f', 'conversation_id, meta_message_id, event_count, attempt_number, attempt_status')},
  ${camelColumns('f', 'attempt_id')}, f.attempt_failed as "attemptFailed", f.is_priced as "isPriced", ${microseconds('f.latest_at')} as "latestAt",
  ${microseconds('clock_timestamp()')} as now, encode(m.trace_context, 'hex') as "traceContext"
from found f join message m on m.id = f.message_id`,
};

const ATTEMPTS = `
select ${camelColumns('a', 'id, message_id, number, status, meta_message_id')},
  ${hasFailed(knownAttempt('message_attempt', 'a'))} as failed
from message_attempt a where a.id = any($1::uuid[])`;
