import { Injectable } from '@nestjs/common';
import { Config } from '../../../infrastructure/config/config.js';
import { Database, type Statements } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import type { Prepared } from '../../../infrastructure/database/prepared.js';
import { recipientKey } from '../../conversations/conversations.repository.js';
import {
  afterAnswer,
  ATTEMPT_COLUMNS,
  isTakenNotFailed,
  knownAttempt,
  setAttempt,
  takesAnswer,
} from '../../messages/message/attempt-columns.js';
import { insertStatusEvents, MOVED_COLUMNS } from '../../messages/message/message-event-sql.js';
import { queueTakes, stateTakes } from '../../messages/message/message-state.js';
import type { OutcomeRecord } from './outcome-record.js';

/**
 * What a record did. `recorded`: the outcome was open, and is this one. `retry_withdrawn`: a retry is not needed, and the message is
 * `accepted`. `late`: the message has another attempt or an outcome by now, or its recipient was erased; at most the attempt
 * is changed. `not_found`: no such attempt was found.
 */
export type Recorded = 'recorded' | 'retry_withdrawn' | 'late' | 'not_found';

/** How long recording an outcome is retried. Meanwhile the lease ends, and the message is `outcome_unknown` until a report says more. */
export const RECORD_FOR_MS = 60_000;

/** Outcomes that keep coming are written so far apart; nothing but the recipient's next message waits. */
const APART_MS = 25;
const ROUNDS = 3;

/** Records outcomes of attempts with their events, many in one statement. */
@Injectable()
export class OutcomeRepository {
  private readonly batches: GroupCommit<OutcomeRecord, Recorded>;

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
   * is the best evidence, however late.
   */
  record(record: OutcomeRecord): Promise<Recorded> {
    return this.batches.submit(record, true);
  }

  /**
   * Closes an attempt that the platform has refused for its endpoint, and opens the next one within the same lease. May be
   * repeated. Resolves with false where the message is not on the wire with this attempt any more: it must not be sent.
   */
  async openNext(refused: OutcomeRecord, nextAttemptId: string): Promise<boolean> {
    const rows = await this.database.byIndex(async () => {
      // In one transaction. A report of an earlier attempt may be about to commit: a statement that begins under the lock sees what it says.
      await this.database.query(LOCK, [[refused.messageId]]);
      return this.database.query(OPEN_NEXT, [JSON.stringify([refused]), nextAttemptId]);
    });
    return rows.length > 0;
  }

  idle(): Promise<void> {
    return this.batches.idle();
  }

  /**
   * An attempt is in one of three tables, and one statement looks in each. The numbers are the cases at `RECORD_IN_STATE`.
   *
   * | The attempt is in                                                         | The answer             | Statement           | What it does                             | Result     |
   * | ------------------------------------------------------------------------- | ---------------------- | ------------------- | ---------------------------------------- | ---------- |
   * | message_queue: it is on the wire                                          | any that ends it       | `RECORD_IN_QUEUE`   | message and attempt to message_state     | `recorded` |
   * | message_queue: it is on the wire                                          | any that puts it back  | `RECORD_IN_QUEUE`   | message waits; attempt to history        | `recorded` |
   * | message_state, its outcome unknown                                        | accepted, refused      | `RECORD_IN_STATE` 1 | the message has this outcome             | `recorded` |
   * | message_state, its outcome unknown                                        | unknown                | `RECORD_IN_STATE` 1 | says what was answered                   | `recorded` |
   * | message_state, its outcome unknown                                        | any that puts it back  | `RECORD_IN_STATE` 2 | message to the queue; attempt to history | `recorded` |
   * | message_state, its outcome unknown, its recipient erased                  | any that puts it back  | `RECORD_IN_STATE` 3 | changes the attempt                      | `late`     |
   * | message_state, its outcome open no more: by a report, or by this record   | any                    | `RECORD_IN_STATE` 3 | changes the attempt                      | `late`     |
   * | message_attempt: a retry has replaced it, or it is one that was withdrawn | any                    | `RECORD_IN_HISTORY` | changes the attempt                      | `late`     |
   * | message_attempt: it was put back before                                   | any                    | `RECORD_IN_HISTORY` | changes the attempt                      | `late`     |
   *
   * "History" is message_attempt. "Not now" puts a message back; so does a refusal where another attempt of it was taken (`OUTCOME`).
   *
   * Then `WITHDRAW_RETRY` looks at the messages that these records put back, and at those of which an acceptance came late. One that is
   * in message_queue though an attempt of it was taken leaves the queue, `accepted` by that attempt: `retry_withdrawn`.
   *
   * Tests: outcome.repository.spec.ts; retries-and-reports.spec.ts for `WITHDRAW_RETRY`; message-transitions.spec.ts and
   * queue-or-state.spec.ts for every state.
   */
  private async commit(records: OutcomeRecord[], statements: Statements): Promise<Recorded[]> {
    const results = new Map<string, Recorded>();
    const refused = records.filter(({ status }) => status === 'failed');
    const others = records.filter(({ status }) => status !== 'failed');
    // Refusals last: one of the others may be the acceptance of another attempt of the same message.
    await this.recordAll(others, results, statements);
    if (refused.length > 0) {
      await statements.query(LOCK, [refused.map(({ messageId }) => messageId)]);
      await this.recordAll(refused, results, statements);
    }
    const mayBePutBack = new Set(['queued', 'failed']);
    const mayHaveRetry = records.filter(({ status, attemptId }) => {
      const result = results.get(attemptId);
      return result === 'late' ? status === 'accepted' : result === 'recorded' && mayBePutBack.has(status);
    });
    const withdrawn = await withdrawRetries(
      mayHaveRetry.map(({ messageId }) => messageId),
      statements,
    );
    for (const { messageId, attemptId } of mayHaveRetry) {
      if (withdrawn.has(messageId)) results.set(attemptId, 'retry_withdrawn');
    }
    return records.map(({ attemptId }) => results.get(attemptId) ?? 'not_found');
  }

  private async recordAll(
    records: readonly OutcomeRecord[],
    results: Map<string, Recorded>,
    statements: Statements,
  ): Promise<void> {
    const tables = [
      [RECORD_IN_QUEUE],
      [RECORD_IN_STATE, this.config.limits.messageTtlHours],
      [RECORD_IN_HISTORY],
    ] as const;
    // Usually RECORD_IN_QUEUE finds all. Another transaction (a report, the sweep of the leases, a retry) may move an attempt from
    // one table to another between two statements, and each statement sees only what was committed before it began: so all
    // look again. An attempt that moves more often than that is not found: the lease or a report decides.
    for (let round = 0; round < ROUNDS; round++) {
      for (const [statement, ...params] of tables) {
        const open = records.filter(({ attemptId }) => !results.has(attemptId));
        if (open.length === 0) return;
        // Late. Whether the recipient was erased must be read under the lock of the message's row.
        if (statement === RECORD_IN_STATE) await statements.query(LOCK, [open.map(({ messageId }) => messageId)]);
        const rows = await statements.query<{ attempt_id: string; was_open: boolean }>(statement, [
          JSON.stringify(open),
          ...params,
        ]);
        for (const { attempt_id, was_open } of rows) results.set(attempt_id, was_open ? 'recorded' : 'late');
      }
    }
  }
}

/** Returns the messages that have left the queue. */
async function withdrawRetries(messageIds: readonly string[], statements: Statements): Promise<Set<string>> {
  const withdrawn = new Set<string>();
  let open = messageIds;
  for (let round = 0; round < ROUNDS && open.length > 0; round++) {
    const rows = await statements.query<{ message_id: string; is_withdrawn: boolean }>(WITHDRAW_RETRY, [open]);
    for (const { message_id, is_withdrawn } of rows) if (is_withdrawn) withdrawn.add(message_id);
    open = rows.flatMap(({ message_id, is_withdrawn }) => (is_withdrawn ? [] : [message_id]));
  }
  return withdrawn;
}

const IN_STATE = knownAttempt('message_state', 's');
const IN_HISTORY = knownAttempt('message_attempt', 'a');

/**
 * SQL: the records $1, each with the status of its attempt, and whether it puts the message back. A refusal of a retry does not fail a
 * message of which WhatsApp took another attempt: it is put back, and `WITHDRAW_RETRY` ends it by that attempt. A report notes that under
 * the lock of the message's row: see `LOCK`.
 */
const outcomeAs = (name: string): string => `${name} as materialized (
  select o.*, case o.status when 'accepted' then 'accepted' when 'failed' then 'rejected' when 'queued' then 'deferred'
      when 'outcome_unknown' then 'unknown' end as "attemptStatus",
    o.status = 'queued' or (o.status = 'failed' and exists (
      select from message_attempt a where a.message_id = o."messageId" and a.id <> o."attemptId"
        and ${isTakenNotFailed(IN_HISTORY)})) as puts_back
  from json_to_recordset($1) as o ("attemptId" uuid, "messageId" uuid, status text, "metaMessageId" text,
    "httpStatus" integer, "platformCode" integer, "platformMessage" text, category text, "traceId" text,
    "delayMs" double precision, tries integer)
)`;
const OUTCOME = outcomeAs('outcome');

/**
 * SQL: as `OUTCOME`, for messages that may have left the queue, and whose recipient may have been erased since: nothing by which the
 * recipient could be known is written then.
 */
const LATE_OUTCOME = `${outcomeAs('given')}, outcome as materialized (
  select o."attemptId", o."messageId", o.status, o."attemptStatus", o.puts_back, o."httpStatus", o."platformCode", o.category,
    o."delayMs", o.tries, m.recipient is null as is_erased,
    case when m.recipient is not null then o."metaMessageId" end as "metaMessageId",
    case when m.recipient is not null then o."platformMessage" end as "platformMessage",
    case when m.recipient is not null then o."traceId" end as "traceId"
  from given o left join message m on m.id = o."messageId"
)`;

/** $1: messages. A statement that begins under this lock sees all that reports noted of their attempts; see also `openNext`. */
const LOCK = `
with in_queue as materialized (
  select from message_queue where message_id = any($1::uuid[]) order by message_id for update
)
select from message_state where message_id = any($1::uuid[]) and (select count(*) from in_queue) >= 0
order by message_id for update`;

/** Columns of `outcome` that say what the platform answered. */
const ANSWER = `o."attemptStatus", o."metaMessageId", o."httpStatus", o."platformCode", o."platformMessage", o.category,
    o."traceId"`;

/** SQL: when the message of the outcome `o` may be tried again. */
const NOT_BEFORE = 'clock_timestamp() + make_interval(secs => coalesce(o."delayMs", 0) / 1000)';

// Which rows take an outcome (`TRANSITIONS` in message-state.ts): what is on the wire, and `outcome_unknown`, whichever outcome it is.
// There another unknown one says only what was answered.
const ON_THE_WIRE = queueTakes('outcome_accepted');
const OUTCOME_OPEN = stateTakes('outcome_accepted');

// The attempt under way is in the message's row of the queue. Where the message is queued again, it becomes a row of
// message_attempt. `left_queue` makes the recipient's next message due; `queued_again` has its own turn, and takes that of the
// rows behind it: by the triggers of message_queue (migrations/1770600000000-messages.ts).
export const RECORD_IN_QUEUE: Prepared = {
  name: 'message_outcome',
  text: `
with ${OUTCOME}, locked as materialized (
  select q.ctid as row_ctid, q.attempt_id, q.claimed_at from message_queue q
  where q.message_id = any(array(select "messageId" from outcome))
    and q.attempt_id = any(array(select "attemptId" from outcome)) and ${ON_THE_WIRE}
  order by q.message_id for update of q
), left_queue as (
  -- The rows are locked: neither here nor in queued_again is a condition repeated. One that was changed while its lock was waited for
  -- has a new ctid, which this statement does not find: the next round does.
  delete from message_queue q using locked l join outcome o on o."attemptId" = l.attempt_id
  where q.ctid = l.row_ctid and not o.puts_back
  returning q.message_id, q.organization_id, q.connection_id, q.conversation_id, q.created_at, q.queued_at, q.claimed_at,
    q.event_count, q.attempt_id, q.attempt_number, ${ANSWER}, o.status, greatest(clock_timestamp(), q.claimed_at) as now
), entered_state as (
  insert into message_state as s (message_id, organization_id, connection_id, conversation_id, created_at, status,
    event_count, queued_at, processing_at, accepted_at, failed_at, meta_message_id, failure_category, error_code,
    error_message, attempt_id, attempt_number, attempt_status, attempt_finished_at, http_status, platform_code,
    platform_message, attempt_category, trace_id)
  select message_id, organization_id, connection_id, conversation_id, created_at, status, event_count + 1, queued_at,
    claimed_at, case when status = 'accepted' then now end, case when status = 'failed' then now end, "metaMessageId",
    case when status <> 'accepted' then category end, case when status <> 'accepted' then "platformCode"::text end,
    case when status <> 'accepted' then "platformMessage" end, attempt_id, attempt_number, "attemptStatus", now,
    "httpStatus", "platformCode", "platformMessage", category, "traceId"
  from left_queue
  returning ${MOVED_COLUMNS}, 'processing' as previous_status, s.attempt_finished_at as occurred_at
), queued_again as (
  update message_queue q set attempt_id = null, claimed_at = null, lease_until = null, tries = greatest(q.tries, o.tries),
    (due_at, not_before) = (select n.at, n.at from (select ${NOT_BEFORE} as at) as n)
  from locked l join outcome o on o."attemptId" = l.attempt_id
  where q.ctid = l.row_ctid and o.puts_back
  returning q.organization_id, q.message_id, q.attempt_number, l.attempt_id, l.claimed_at, ${ANSWER}
), to_history as (
  insert into message_attempt (${ATTEMPT_COLUMNS})
  select attempt_id, organization_id, message_id, attempt_number, "attemptStatus", claimed_at,
    greatest(clock_timestamp(), claimed_at), "httpStatus", "platformCode", "platformMessage", category,
    "metaMessageId", "traceId"
  from queued_again
), ${insertStatusEvents('entered_state')}
select attempt_id, true as was_open from left_queue
union all
select attempt_id, true from queued_again`,
};

/**
 * $1: the refused attempt, as in `RECORD_IN_QUEUE`; $2: the next attempt's id. One that it finds already was opened before. None is
 * opened where a report has said meanwhile that an earlier attempt was taken: the message is put back, and `WITHDRAW_RETRY` ends it.
 */
const OPEN_NEXT: Prepared = {
  name: 'message_next_attempt',
  text: `
with ${OUTCOME}, picked as materialized (
  select q.ctid as row_ctid, q.claimed_at, q.attempt_number, q.organization_id from message_queue q
  where q.message_id = (select "messageId" from outcome) and q.attempt_id = (select "attemptId" from outcome)
    and q.lease_until > clock_timestamp() and ${ON_THE_WIRE}
    and not exists (select 1 from message_attempt a where a.message_id = q.message_id and ${isTakenNotFailed(IN_HISTORY)})
  for no key update of q
), opened as (
  update message_queue q set attempt_id = $2::uuid, attempt_number = q.attempt_number + 1,
    claimed_at = greatest(clock_timestamp(), q.claimed_at)
  from picked where q.ctid = picked.row_ctid
  returning q.message_id
), to_history as (
  insert into message_attempt (${ATTEMPT_COLUMNS})
  select o."attemptId", picked.organization_id, o."messageId", picked.attempt_number, o."attemptStatus", picked.claimed_at,
    greatest(clock_timestamp(), picked.claimed_at), o."httpStatus", o."platformCode", o."platformMessage", o.category,
    null, o."traceId"
  from picked cross join outcome o where exists (select 1 from opened)
)
select message_id from opened
union all
select q.message_id from message_queue q where q.message_id = (select "messageId" from outcome) and q.attempt_id = $2::uuid`,
};

const ANSWERED_IN_STATE = setAttempt('message_state', afterAnswer(IN_STATE));

// The answer came late, and message_state has the attempt. Three cases:
// 1. Its outcome was unknown, and the answer says what it is: the message gets the answer's status.
// 2. As 1, but the answer puts the message back: it goes to the queue, and the attempt to message_attempt.
// 3. A report, or this record before, has moved the message, or the answer puts it back and the recipient was erased: only the
//    attempt's columns change.
// `was_open`: 1 and 2. $2: hours to live of messages without a time of their own.
const RECORD_IN_STATE: Prepared = {
  name: 'late_outcome_in_state',
  text: `
with ${LATE_OUTCOME}, locked as materialized (
  select s.message_id, s.attempt_id, s.status, ${OUTCOME_OPEN} and not (o.puts_back and o.is_erased) as was_open
  from outcome o join message_state s on s.message_id = o."messageId" and s.attempt_id = o."attemptId"
  order by s.message_id for update of s
), resolved as (
  -- 1. Any answer: the attempt of an unknown outcome is unknown, which takes each (takesAnswer).
  update message_state s set
    status = o.status,
    event_count = s.event_count + (o.status <> s.status)::integer,
    meta_message_id = coalesce(o."metaMessageId", s.meta_message_id),
    accepted_at = case when o.status = 'accepted' then greatest(clock_timestamp(), s.processing_at, s.attempt_finished_at) else s.accepted_at end,
    failed_at = case when o.status = 'failed' then greatest(clock_timestamp(), s.processing_at, s.attempt_finished_at) else s.failed_at end,
    failure_category = case when o.status <> 'accepted' then o.category end,
    error_code = case when o.status <> 'accepted' then o."platformCode"::text end,
    error_message = case when o.status <> 'accepted' then o."platformMessage" end,
    ${ANSWERED_IN_STATE}
  from locked l join outcome o on o."attemptId" = l.attempt_id
  where s.message_id = l.message_id and l.was_open and not o.puts_back
  returning ${MOVED_COLUMNS}, l.status as previous_status,
    case s.status when 'accepted' then s.accepted_at when 'failed' then s.failed_at else clock_timestamp() end
      as occurred_at
), left_state as (
  -- 2, in three parts
  delete from message_state s using locked l join outcome o on o."attemptId" = l.attempt_id
  where s.message_id = l.message_id and l.was_open and o.puts_back
  -- tries: an attempt that a lost claim made comes back without knowing how often the message was deferred before.
  returning s.message_id, s.organization_id, s.connection_id, s.conversation_id, s.created_at, s.queued_at,
    s.processing_at, s.event_count, s.attempt_id, s.attempt_number, s.meta_message_id, greatest(s.tries, o.tries) as tries,
    ${NOT_BEFORE} as not_before, ${ANSWER}
), queued_again as (
  -- With a new seq: it goes behind what was queued for the recipient meanwhile.
  insert into message_queue (connection_id, created_at, message_id, organization_id, conversation_id, recipient,
    queued_at, due_at, not_before, attempt_number, tries, event_count, tag, expires_at)
  select l.connection_id, l.created_at, l.message_id, l.organization_id, l.conversation_id, ${recipientKey('m')},
    l.queued_at, l.not_before, l.not_before, l.attempt_number, l.tries, l.event_count, m.tag,
    l.queued_at + coalesce(make_interval(secs => m.ttl_seconds), make_interval(hours => $2))
  from left_state l join message m on m.id = l.message_id
), to_history as (
  insert into message_attempt (${ATTEMPT_COLUMNS})
  select attempt_id, organization_id, message_id, attempt_number, "attemptStatus", coalesce(processing_at, queued_at),
    clock_timestamp(), "httpStatus", "platformCode", "platformMessage", category,
    coalesce("metaMessageId", meta_message_id), "traceId"
  from left_state
), answered as (
  -- 3
  update message_state s set meta_message_id = coalesce(o."metaMessageId", s.meta_message_id), ${ANSWERED_IN_STATE}
  from locked l join outcome o on o."attemptId" = l.attempt_id
  where s.message_id = l.message_id and not l.was_open and ${takesAnswer(IN_STATE)}
), ${insertStatusEvents('resolved', 'c.status <> c.previous_status')}
select attempt_id, was_open from locked`,
};

// The answer came late, and the attempt is in message_attempt only.
const RECORD_IN_HISTORY: Prepared = {
  name: 'late_outcome_in_history',
  text: `
with ${LATE_OUTCOME}, locked as materialized (
  -- One that a report moves to message_state meanwhile is not found: the next round looks there.
  select a.id from outcome o join message_attempt a on a.id = o."attemptId" order by a.id for no key update of a
), answered as (
  update message_attempt a set ${setAttempt('message_attempt', afterAnswer(IN_HISTORY))},
    meta_message_id = coalesce(o."metaMessageId", a.meta_message_id)
  from locked l join outcome o on o."attemptId" = l.id where a.id = l.id and ${takesAnswer(IN_HISTORY)}
)
select id as attempt_id, false as was_open from locked`,
};

// The platform took an attempt of a message that has a retry in the queue, so the retry is not needed: the message goes from the
// queue to message_state with the attempt that was taken, `accepted`. A retry that is on the wire goes to message_attempt,
// where its own answer closes it. An attempt that failed by a report withdraws nothing.
// $1: messages with a retry in the queue, one of whose other attempts may have been taken: it was answered late as accepted, or a report
// said of it that it was sent. `is_withdrawn` is false where the row, or the attempt, has changed while its lock was waited for: a new
// statement looks again.
const WITHDRAW_RETRY: Prepared = {
  name: 'message_withdraw_retry',
  text: `
with found as materialized (
  select q.message_id, a.id as taken_id from message_queue q
  cross join lateral (
    select a.id from message_attempt a
    where a.message_id = q.message_id and ${isTakenNotFailed(IN_HISTORY)}
    order by a.number desc limit 1) as a
  where q.message_id = any($1::uuid[]) and ${queueTakes('other_accepted')}
), picked as materialized (
  select q.message_id, f.taken_id from found f join message_queue q on q.message_id = f.message_id
  where ${queueTakes('other_accepted')}
  order by q.message_id for update of q
), taken as (
  -- First: retention may have removed it meanwhile, and then the message stays in the queue.
  -- Its condition once more: a report may have said that it failed while the row of the queue was waited for.
  delete from message_attempt a using picked p
  where a.id = p.taken_id and ${isTakenNotFailed(IN_HISTORY)}
  returning a.id, a.message_id, a.number, a.started_at, a.finished_at, a.status, a.http_status, a.platform_code,
    a.platform_message, a.meta_message_id, a.trace_id
), left_queue as (
  delete from message_queue q using taken t where q.message_id = t.message_id
  returning q.message_id, q.organization_id, q.connection_id, q.conversation_id, q.created_at, q.queued_at, q.claimed_at,
    q.event_count, q.attempt_id, q.attempt_number, t.id as taken_id
), retry_to_history as (
  insert into message_attempt (id, organization_id, message_id, number, status, started_at)
  select attempt_id, organization_id, message_id, attempt_number, 'started', claimed_at
  from left_queue where attempt_id is not null
), entered_state as (
  insert into message_state as s (message_id, organization_id, connection_id, conversation_id, created_at, status,
    event_count, queued_at, processing_at, accepted_at, meta_message_id, attempt_id, attempt_number, attempt_count,
    attempt_status, attempt_finished_at, http_status, platform_code, platform_message, trace_id)
  select l.message_id, l.organization_id, l.connection_id, l.conversation_id, l.created_at, 'accepted',
    l.event_count + 1, least(l.queued_at, t.started_at), t.started_at,
    greatest(clock_timestamp(), l.queued_at, l.claimed_at), t.meta_message_id, t.id, t.number,
    case when t.number < l.attempt_number then l.attempt_number end, t.status, t.finished_at, t.http_status,
    t.platform_code, t.platform_message, t.trace_id
  from left_queue l join taken t on t.id = l.taken_id
  returning ${MOVED_COLUMNS}, s.accepted_at as occurred_at
), moved as (
  select e.*, case when l.attempt_id is null then 'queued' else 'processing' end as previous_status
  from entered_state e join left_queue l on l.message_id = e.message_id
), ${insertStatusEvents('moved')}
select message_id, message_id in (select message_id from left_queue) as is_withdrawn from found`,
};
