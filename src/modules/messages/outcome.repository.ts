import { Injectable } from '@nestjs/common';
import { Database, type Statements } from '../../platform/database/database.js';
import { GroupCommit } from '../../platform/database/group-commit.js';
import type { Prepared } from '../../platform/database/prepared.js';
import { insertStatusEvents, MOVED_COLUMNS } from './message-event-sql.js';
import type { OutboundStatus } from './message-state.js';

/** What came of one attempt, as it is written down. */
export interface OutcomeRecord {
  attemptId: string;
  messageId: string;
  /** Where the message goes if this attempt is still its current one. */
  status: Extract<OutboundStatus, 'accepted' | 'failed' | 'queued' | 'outcome_unknown'>;
  attemptStatus: 'accepted' | 'rejected' | 'deferred' | 'unknown';
  metaMessageId: string | null;
  httpStatus: number | null;
  platformCode: number | null;
  platformMessage: string | null;
  category: string | null;
  traceId: string | null;
  /** With `queued`: milliseconds until the next attempt. */
  delayMs: number;
  /** With `queued`: whether the deferral counts towards the most tries. */
  countTry: boolean;
}

/** For so long an outcome is tried to be recorded; after that the lease decides. */
export const RECORD_FOR_MS = 60_000;

/** Writes down what came of attempts, and the events that tell of it, many in one statement. */
@Injectable()
export class OutcomeRepository {
  private readonly batches: GroupCommit<OutcomeRecord, boolean>;

  constructor(database: Database) {
    this.batches = new GroupCommit(database, {
      name: 'outcome',
      maxBatch: 250,
      // Outcomes are bounded by the requests in flight; none may be refused.
      maxWaiting: 100_000,
      transactional: false,
      lockedForMs: RECORD_FOR_MS,
      commit: (records, statements) => this.commit(records, statements),
    });
  }

  /**
   * Records an outcome; resolves with true where it moved the message. Fenced by the attempt, not by the lease: the
   * platform's own answer is the best evidence there is, however late. The attempt is closed in any case.
   */
  record(record: OutcomeRecord): Promise<boolean> {
    return this.batches.submit(record);
  }

  idle(): Promise<void> {
    return this.batches.idle();
  }

  private async commit(records: OutcomeRecord[], statements: Statements): Promise<boolean[]> {
    const rows = await statements.query<{ id: string }>(RECORD, [JSON.stringify(records)]);
    const moved = new Set(rows.map((row) => row.id));
    return records.map((record) => moved.has(record.messageId));
  }
}

/** What a report has said of the attempt before its own answer was recorded stays. */
const reported = (column: string, answered: string): string =>
  `case when a.status in ('accepted', 'rejected') then coalesce(a.${column}, ${answered}) else ${answered} end`;

const RECORD: Prepared = {
  name: 'message_outcome',
  text: `
with outcome as (
  select * from json_to_recordset($1) as o ("attemptId" uuid, "messageId" uuid, status text, "attemptStatus" text,
    "metaMessageId" text, "httpStatus" integer, "platformCode" integer, "platformMessage" text, category text,
    "traceId" text, "delayMs" double precision, "countTry" boolean)
), locked as (
  select m.id, m.status from message m join outcome on outcome."messageId" = m.id order by m.id for update of m
), moved as (
  update message m set
    status = o.status,
    meta_message_id = coalesce(o."metaMessageId", m.meta_message_id),
    event_count = case when o.status in ('queued', m.status) then m.event_count else m.event_count + 1 end,
    lease_until = null,
    tries = case when o.status = 'queued' and o."countTry" then m.tries + 1 else m.tries end,
    next_attempt_at = case when o.status = 'queued'
      then clock_timestamp() + make_interval(secs => o."delayMs" / 1000) end,
    accepted_at = case when o.status = 'accepted' then greatest(clock_timestamp(), m.processing_at) else m.accepted_at end,
    failed_at = case when o.status = 'failed' then greatest(clock_timestamp(), m.processing_at) else m.failed_at end,
    failure_category = case when o.status = 'accepted' then null else o.category end,
    error_code = case when o.status = 'accepted' then null else o."platformCode"::text end,
    error_message = case when o.status = 'accepted' then null else o."platformMessage" end
  from outcome o join locked on locked.id = o."messageId"
  where m.id = o."messageId" and m.current_attempt_id = o."attemptId" and m.status in ('processing', 'outcome_unknown')
  returning ${MOVED_COLUMNS}, locked.status as previous_status,
    case m.status when 'accepted' then m.accepted_at when 'failed' then m.failed_at else clock_timestamp() end
      as occurred_at
), closed as (
  update message_attempt a set status = o."attemptStatus", finished_at = clock_timestamp(),
    http_status = o."httpStatus", trace_id = o."traceId",
    platform_code = ${reported('platform_code', 'o."platformCode"')},
    platform_message = ${reported('platform_message', 'o."platformMessage"')},
    failure_category = ${reported('failure_category', 'o.category')},
    meta_message_id = coalesce(o."metaMessageId", a.meta_message_id)
  from outcome o
  where a.id = o."attemptId" and (a.status in ('started', 'unknown') or o."attemptStatus" <> 'unknown')
), announced as (
  ${insertStatusEvents('moved', `c.status not in ('queued', c.previous_status)`)}
)
select message_id as id from moved`,
};
