import { Injectable } from '@nestjs/common';
import { Config } from '../../../infrastructure/config/config.js';
import { Database, type Statements } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import type { Prepared } from '../../../infrastructure/database/prepared.js';
import { recipientKey } from '../../conversations/conversations.repository.js';
import { ATTEMPT_COLUMNS, CLOSE_KNOWN_ATTEMPT } from '../../messages/message/message-row.js';
import { insertStatusEvents, MOVED_COLUMNS } from '../../messages/message/message-event-sql.js';
import { queueTakes, stateTakes, type OutboundStatus } from '../../messages/message/message-state.js';

/** The outcome of one attempt, as it is recorded; what is absent is null. */
export interface OutcomeRecord {
  attemptId: string;
  messageId: string;
  /** Where the message goes if this attempt is still its current one. */
  status: Extract<OutboundStatus, 'accepted' | 'failed' | 'queued' | 'outcome_unknown'>;
  attemptStatus: 'accepted' | 'rejected' | 'deferred' | 'unknown';
  metaMessageId?: string | null;
  httpStatus?: number | null;
  platformCode?: number | null;
  platformMessage?: string | null;
  category?: string | null;
  traceId?: string | null;
  /** With `queued`: milliseconds until the next attempt. */
  delayMs?: number;
  /** With `queued`: deferrals that count so far, this one included. */
  tries?: number;
}

/** How long recording an outcome is retried; after that the lease decides. */
export const RECORD_FOR_MS = 60_000;

/** Outcomes that keep coming are written so far apart; nothing but the recipient's next message waits. */
const APART_MS = 25;
const ROUNDS = 3;

/** Records outcomes of attempts with their events, many in one statement. */
@Injectable()
export class OutcomeRepository {
  private readonly batches: GroupCommit<OutcomeRecord, boolean>;

  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {
    this.batches = new GroupCommit(database, {
      name: 'outcome',
      maxBatch: 250,
      // Outcomes are bounded by the requests in flight; none may be refused.
      maxWaiting: 100_000,
      byIndex: true,
      lockedForMs: RECORD_FOR_MS,
      gather: { quietMs: 10, apartMs: APART_MS, atMostMs: APART_MS, enough: 64 },
      commit: (records, statements) => this.commit(records, statements),
    });
  }

  /**
   * Records an outcome. It is applied if the attempt id matches, even after the lease expired: the platform's own answer
   * is the best evidence, however late. Its attempt is closed, unless a report has said more than this outcome does, or the message
   * was erased. Resolves with true where the attempt was still the one that decides its message.
   */
  record(record: OutcomeRecord): Promise<boolean> {
    return this.batches.submit(record, true);
  }

  /**
   * Closes an attempt that the platform has refused for its endpoint, and opens the next one within the same lease. May be
   * repeated. Resolves with false where the message is not on the wire with this attempt any more: it must not be sent.
   */
  async openNext(refused: OutcomeRecord, nextAttemptId: string): Promise<boolean> {
    const rows = await this.database.byIndex(() =>
      this.database.query(OPEN_NEXT, [JSON.stringify([refused]), nextAttemptId]),
    );
    return rows.length > 0;
  }

  idle(): Promise<void> {
    return this.batches.idle();
  }

  private async commit(records: OutcomeRecord[], statements: Statements): Promise<boolean[]> {
    const { messageTtlHours } = this.config.limits;
    const recorded = new Map<string, boolean>();
    let open = records;
    // Usually RECORD_OUTCOME finds all rows. Another transaction (a report, the sweep of the leases, a retry) may move a message from
    // queue to state or back between two statements, and each statement sees only what was committed before it began: so
    // both look again. Where a message moves more often than that, the outcome counts as not found: the lease or a report decides.
    for (let round = 0; round < ROUNDS && open.length > 0; round++) {
      for (const [statement, ...params] of [[RECORD_OUTCOME], [RECORD_LATE_ANSWER, messageTtlHours]] as const) {
        const rows = await statements.query<{ attempt_id: string; decided: boolean }>(statement, [
          JSON.stringify(open),
          ...params,
        ]);
        for (const { attempt_id, decided } of rows) recorded.set(attempt_id, decided);
        open = open.filter(({ attemptId }) => !recorded.has(attemptId));
        if (open.length === 0) break;
      }
    }
    return records.map(({ attemptId }) => recorded.get(attemptId) ?? false);
  }
}

const OUTCOME = `outcome as materialized (
  select * from json_to_recordset($1) as o ("attemptId" uuid, "messageId" uuid, status text, "attemptStatus" text,
    "metaMessageId" text, "httpStatus" integer, "platformCode" integer, "platformMessage" text, category text,
    "traceId" text, "delayMs" double precision, tries integer)
)`;

// The same rows for all four outcomes: what is on the wire, and the only state that still takes one, `outcome_unknown`
// (`TRANSITIONS` in message-state.ts).
const ON_THE_WIRE = queueTakes('outcome_accepted');
const OUTCOME_OPEN = stateTakes('outcome_accepted');

// The attempt under way is the message's row in the queue. One that is put back leaves a row in message_attempt.
// That `gone` removes a row, or `back` returns it, makes the recipient's next message due: by the triggers of message_queue
// (migrations/1770600000000-messages.ts).
export const RECORD_OUTCOME: Prepared = {
  name: 'message_outcome',
  text: `
with ${OUTCOME}, picked as materialized (
  select q.ctid as row_ctid, q.attempt_id, q.claimed_at from message_queue q
  where q.message_id = any(array(select "messageId" from outcome))
    and q.attempt_id = any(array(select "attemptId" from outcome)) and ${ON_THE_WIRE}
  order by q.message_id for update of q
), gone as (
  -- picked locks the rows, so no condition is repeated here or in back. Both q and o have tries: nothing reads it of gone.
  delete from message_queue q using picked p join outcome o on o."attemptId" = p.attempt_id
  where q.ctid = p.row_ctid and o.status <> 'queued'
  returning q.*, o.*, greatest(clock_timestamp(), q.claimed_at) as now
), moved as (
  insert into message_state as s (message_id, organization_id, connection_id, conversation_id, created_at, status,
    event_count, queued_at, processing_at, accepted_at, failed_at, meta_message_id, failure_category, error_code,
    error_message, attempt_id, attempt_number, attempt_status, attempt_finished_at, http_status, platform_code,
    platform_message, attempt_category, trace_id)
  select message_id, organization_id, connection_id, conversation_id, created_at, status, event_count + 1, queued_at,
    claimed_at, case when status = 'accepted' then now end, case when status = 'failed' then now end, "metaMessageId",
    case when status <> 'accepted' then category end, case when status <> 'accepted' then "platformCode"::text end,
    case when status <> 'accepted' then "platformMessage" end, attempt_id, attempt_number, "attemptStatus", now,
    "httpStatus", "platformCode", "platformMessage", category, "traceId"
  from gone
  returning ${MOVED_COLUMNS}, 'processing' as previous_status, s.attempt_finished_at as occurred_at
), back as (
  update message_queue q set attempt_id = null, claimed_at = null, lease_until = null,
    due_at = clock_timestamp() + make_interval(secs => o."delayMs" / 1000),
    tries = greatest(q.tries, o.tries)
  from picked p join outcome o on o."attemptId" = p.attempt_id
  where q.ctid = p.row_ctid and o.status = 'queued'
  returning q.organization_id, q.message_id, q.attempt_number, p.claimed_at, o.*
), history as (
  insert into message_attempt (${ATTEMPT_COLUMNS})
  select "attemptId", organization_id, message_id, attempt_number, "attemptStatus", claimed_at,
    greatest(clock_timestamp(), claimed_at), "httpStatus", "platformCode", "platformMessage", category,
    "metaMessageId", "traceId"
  from back
  ${CLOSE_KNOWN_ATTEMPT}
), ${insertStatusEvents('moved')}
select attempt_id, true as decided from gone union all select "attemptId", true from back`,
};

/** Of a refused attempt (as `RECORD` has it) and $2 the next attempt's id: one that it finds already was opened before. */
const OPEN_NEXT: Prepared = {
  name: 'message_next_attempt',
  text: `
with ${OUTCOME}, picked as materialized (
  select q.ctid as row_ctid, q.claimed_at, q.attempt_number, q.organization_id from message_queue q
  where q.message_id = (select "messageId" from outcome) and q.attempt_id = (select "attemptId" from outcome)
    and q.lease_until > clock_timestamp() and ${ON_THE_WIRE}
  for no key update of q
), opened as (
  update message_queue q set attempt_id = $2::uuid, attempt_number = q.attempt_number + 1,
    claimed_at = greatest(clock_timestamp(), q.claimed_at)
  from picked where q.ctid = picked.row_ctid
  returning q.message_id
), history as (
  insert into message_attempt (${ATTEMPT_COLUMNS})
  select o."attemptId", picked.organization_id, o."messageId", picked.attempt_number, o."attemptStatus", picked.claimed_at,
    greatest(clock_timestamp(), picked.claimed_at), o."httpStatus", o."platformCode", o."platformMessage", o.category,
    null, o."traceId"
  from picked cross join outcome o
  ${CLOSE_KNOWN_ATTEMPT}
)
select message_id from opened
union all
select q.message_id from message_queue q where q.message_id = (select "messageId" from outcome) and q.attempt_id = $2::uuid`,
};

/** SQL: what a report has said of the attempt before its own answer was recorded stays. */
const keepReportedValue = (row: string, status: string, column: string, answered: string): string =>
  `case when ${row}.${status} in ('accepted', 'rejected') then coalesce(${row}.${column}, ${answered}) else ${answered} end`;

/** SQL: an answer without an outcome does not overwrite what a report has said of the attempt. */
const mayOverwriteAttempt = (status: string): string =>
  `(coalesce(${status}, 'started') in ('started', 'unknown') or o."attemptStatus" not in ('unknown', 'deferred'))`;

// The answer came late: the message is not in the queue with this attempt any more. Three cases:
// 1. message_state has this attempt, and its outcome was unknown (`was_unknown`): the message moves to the answer's status
//    (`settled`), or back to the queue (`gone`, `back`, `history`).
// 2. message_state has this attempt, and a report has moved the message on: only the attempt's columns change (`settled`).
// 3. A retry has replaced the attempt, and it is only in message_attempt: that row changes (`earlier`).
// $2: hours to live of messages without a time of their own.
const RECORD_LATE_ANSWER: Prepared = {
  name: 'message_late_answer',
  text: `
with ${OUTCOME}, locked as materialized (
  select s.message_id, s.attempt_id, s.status, ${OUTCOME_OPEN} as was_unknown
  from outcome o join message_state s on s.message_id = o."messageId" and s.attempt_id = o."attemptId"
  order by s.message_id for update of s
), settled as (
  update message_state s set
    status = case when l.was_unknown then o.status else s.status end,
    event_count = case when l.was_unknown and o.status <> s.status then s.event_count + 1 else s.event_count end,
    meta_message_id = coalesce(o."metaMessageId", s.meta_message_id),
    accepted_at = case when l.was_unknown and o.status = 'accepted' then greatest(clock_timestamp(), s.processing_at)
      else s.accepted_at end,
    failed_at = case when l.was_unknown and o.status = 'failed' then greatest(clock_timestamp(), s.processing_at)
      else s.failed_at end,
    failure_category = case when not l.was_unknown then s.failure_category when o.status <> 'accepted' then o.category end,
    error_code = case when not l.was_unknown then s.error_code when o.status <> 'accepted' then o."platformCode"::text end,
    error_message = case when not l.was_unknown then s.error_message
      when o.status <> 'accepted' then o."platformMessage" end,
    attempt_status = o."attemptStatus", attempt_finished_at = clock_timestamp(), http_status = o."httpStatus",
    trace_id = o."traceId",
    platform_code = ${keepReportedValue('s', 'attempt_status', 'platform_code', 'o."platformCode"')},
    platform_message = ${keepReportedValue('s', 'attempt_status', 'platform_message', 'o."platformMessage"')},
    attempt_category = ${keepReportedValue('s', 'attempt_status', 'attempt_category', 'o.category')}
  from locked l join outcome o on o."attemptId" = l.attempt_id
  where s.message_id = l.message_id and not (l.was_unknown and o.status = 'queued')
    and ${mayOverwriteAttempt('s.attempt_status')}
  returning ${MOVED_COLUMNS}, l.was_unknown, l.status as previous_status,
    case s.status when 'accepted' then s.accepted_at when 'failed' then s.failed_at else clock_timestamp() end
      as occurred_at
), gone as (
  delete from message_state s using locked l join outcome o on o."attemptId" = l.attempt_id
  where s.message_id = l.message_id and l.was_unknown and o.status = 'queued'
  -- tries: an attempt that a lost claim made comes back without knowing how often the message was deferred before.
  returning s.message_id, s.organization_id, s.connection_id, s.conversation_id, s.created_at, s.queued_at,
    s.processing_at, s.event_count, s.attempt_id, s.attempt_number, s.meta_message_id, greatest(s.tries, o.tries) as tries,
    o."delayMs", o."attemptStatus", o."httpStatus", o."platformCode", o."platformMessage", o.category,
    o."metaMessageId", o."traceId"
), back as (
  -- With a new seq: it goes behind what was queued for the recipient meanwhile.
  insert into message_queue (connection_id, created_at, message_id, organization_id, conversation_id, recipient,
    queued_at, due_at, attempt_number, tries, event_count, tag, expires_at)
  select gone.connection_id, gone.created_at, gone.message_id, gone.organization_id, gone.conversation_id,
    ${recipientKey('m')}, gone.queued_at, clock_timestamp() + make_interval(secs => gone."delayMs" / 1000),
    gone.attempt_number, gone.tries, gone.event_count, m.tag, gone.queued_at + coalesce(make_interval(secs => m.ttl_seconds), make_interval(hours => $2))
  from gone join message m on m.id = gone.message_id
), history as (
  insert into message_attempt (${ATTEMPT_COLUMNS})
  select attempt_id, organization_id, message_id, attempt_number, "attemptStatus", coalesce(processing_at, queued_at),
    clock_timestamp(), "httpStatus", "platformCode", "platformMessage", category,
    coalesce("metaMessageId", meta_message_id), "traceId"
  from gone
  ${CLOSE_KNOWN_ATTEMPT}
), earlier as (
  update message_attempt a set status = o."attemptStatus", finished_at = clock_timestamp(),
    http_status = o."httpStatus", trace_id = o."traceId",
    platform_code = ${keepReportedValue('a', 'status', 'platform_code', 'o."platformCode"')},
    platform_message = ${keepReportedValue('a', 'status', 'platform_message', 'o."platformMessage"')},
    failure_category = ${keepReportedValue('a', 'status', 'failure_category', 'o.category')},
    meta_message_id = coalesce(o."metaMessageId", a.meta_message_id)
  from outcome o
  where a.id = o."attemptId" and ${mayOverwriteAttempt('a.status')}
    and not exists (select 1 from locked l where l.attempt_id = a.id)
), ${insertStatusEvents('settled', 'c.was_unknown and c.status <> c.previous_status')}
select attempt_id, was_unknown as decided from locked
union all select a.id, false from outcome o join message_attempt a on a.id = o."attemptId"
where not exists (select 1 from locked l where l.attempt_id = a.id)`,
};
