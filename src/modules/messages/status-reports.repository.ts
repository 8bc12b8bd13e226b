import { Injectable } from '@nestjs/common';
import { isUuid } from '../../common/ids.js';
import type { Statements } from '../../platform/database/database.js';
import type { Prepared } from '../../platform/database/prepared.js';
import { insertStatusEvents } from './message-event-sql.js';
import type { OutboundStatus } from './message-state.js';
import type { Attempt, StatusReport } from './messages.types.js';
import { MessageProgress, type AttemptEvidence } from './status-reports.js';

/** What a report led to; null: no attempt of the report's connection is meant. */
export interface AppliedReport {
  organizationId: string;
  /** Whether the message was moved by this report. */
  moved: boolean;
  conversationId: string | null;
  /** The number that the message was sent to. */
  recipient: string | null;
}

interface FoundRow {
  attempt_id: string;
  attempt_number: number;
  attempt_status: Attempt['status'];
  attempt_meta_message_id: string | null;
  attempt_failed: boolean;
  /** A retry queued it just now, perhaps after what is told of its attempts was read. */
  just_queued: boolean;
  id: string;
  organization_id: string;
  connection_id: string;
  conversation_id: string | null;
  event_count: number;
  recipient: string | null;
  status: OutboundStatus;
  meta_message_id: string | null;
  current_attempt_id: string | null;
  /** Microseconds since the epoch. */
  latest_at: number;
  now: number;
}

/** Applies what the platform reports about sent messages, many reports in two statements. */
@Injectable()
export class StatusReportsRepository {
  /**
   * Applies reports in the caller's transaction; what they say of one message becomes one change of its row. One result
   * a report, in the same order: null where no attempt is meant by it (yet).
   */
  async applyAll(reports: readonly StatusReport[], statements: Statements): Promise<(AppliedReport | null)[]> {
    if (reports.length === 0) return [];
    const found = new FoundAttempts(await this.lock(reports, statements));
    const progress = new Map<string, MessageProgress>();
    const results = reports.map((report) => {
      const row = found.of(report);
      if (row === null) return null;
      let message = progress.get(row.id);
      if (message === undefined) progress.set(row.id, (message = new MessageProgress(messageOf(row))));
      const attempt = {
        id: row.attempt_id,
        number: row.attempt_number,
        status: row.attempt_status,
        metaMessageId: row.attempt_meta_message_id,
        failed: row.attempt_failed,
      };
      const moved = message.apply(report, attempt, row.now);
      const { organization_id: organizationId, conversation_id: conversationId, recipient } = row;
      return { organizationId, conversationId, recipient, moved };
    });
    await this.write([...progress.values()], statements);
    return results;
  }

  /** The attempts that are meant, with their messages locked in the order of their ids. */
  private async lock(reports: readonly StatusReport[], statements: Statements): Promise<FoundRow[]> {
    const ids = [reports.flatMap((report) => attemptIdOf(report) ?? []), reports.map((report) => report.metaMessageId)];
    const rows = await statements.query<FoundRow>(LOCK, ids);
    // A row that had to be waited for is read as it became meanwhile, but its attempts as they were before.
    return rows.some((row) => row.just_queued) ? statements.query<FoundRow>(LOCK, ids) : rows;
  }

  private async write(progress: readonly MessageProgress[], statements: Statements): Promise<void> {
    const messages = progress.filter(({ moves, adoptedMetaMessageId }) => moves.length > 0 || adoptedMetaMessageId);
    const attempts = progress.flatMap((message) => [...message.attempts].map(attemptChange));
    if (messages.length > 0) {
      const changes = JSON.stringify(messages.map(messageChange));
      await statements.query(MOVE, [changes, JSON.stringify(messages.flatMap(eventsOf))]);
    }
    if (attempts.length > 0) await statements.query(NOTE, [JSON.stringify(attempts)]);
  }
}

/** Leads from a report to the attempt that it means: by the attempt id that we sent along, else by the platform's id. */
class FoundAttempts {
  private readonly byId = new Map<string, FoundRow>();
  private readonly byMetaMessageId = new Map<string, FoundRow>();

  constructor(rows: readonly FoundRow[]) {
    for (const row of rows) {
      this.byId.set(keyOf(row.connection_id, row.attempt_id), row);
      if (row.attempt_meta_message_id === null) continue;
      this.byMetaMessageId.set(keyOf(row.connection_id, row.attempt_meta_message_id), row);
    }
  }

  of(report: StatusReport): FoundRow | null {
    const id = attemptIdOf(report);
    const byId = id === null ? undefined : this.byId.get(keyOf(report.connectionId, id));
    return byId ?? this.byMetaMessageId.get(keyOf(report.connectionId, report.metaMessageId)) ?? null;
  }
}

function keyOf(connectionId: string, id: string): string {
  return `${connectionId}/${id}`;
}

function attemptIdOf(report: StatusReport): string | null {
  return isUuid(report.callbackData) ? report.callbackData.toLowerCase() : null;
}

function messageOf(row: FoundRow) {
  return {
    id: row.id,
    status: row.status,
    metaMessageId: row.meta_message_id,
    currentAttemptId: row.current_attempt_id,
    latestAt: row.latest_at,
    eventCount: row.event_count,
  };
}

/** The message's new values. What failed before and went on nevertheless bears no failure any more. */
function messageChange({ message, moves, adoptedMetaMessageId, adoptedAttemptId }: MessageProgress) {
  const last = moves.at(-1);
  const at = (status: OutboundStatus) => moves.find((move) => move.to === status)?.at ?? null;
  return {
    id: message.id,
    status: last?.to ?? message.status,
    moved: last !== undefined,
    eventCount: message.eventCount + moves.length,
    metaMessageId: adoptedMetaMessageId,
    attemptId: adoptedAttemptId,
    sentAt: at('sent'),
    deliveredAt: at('delivered'),
    readAt: at('read'),
    failedAt: last?.to === 'failed' ? last.at : null,
    category: last?.failure?.category ?? null,
    errorCode: last?.failure?.code?.toString() ?? null,
    errorMessage: last?.failure?.message ?? null,
  };
}

/** Each move is announced, in order, whatever the message has become by the end of the batch. */
function eventsOf({ message, moves }: MessageProgress) {
  return moves.map(({ from, to, at, attemptNumber, failure }, index) => ({
    messageId: message.id,
    status: to,
    previousStatus: from,
    at,
    attempt: attemptNumber,
    category: failure?.category ?? null,
    errorCode: failure?.code?.toString() ?? null,
    errorMessage: failure?.message ?? null,
    sequence: message.eventCount + index + 1,
  }));
}

function attemptChange([id, { taken, failure, metaMessageId }]: [string, AttemptEvidence]) {
  return { id, taken, failed: failure !== null, metaMessageId, ...failure };
}

const MICROSECONDS = 1_000_000;

const LOCK: Prepared = {
  name: 'report_lock',
  text: `
select a.id as attempt_id, a.number as attempt_number, a.status as attempt_status,
  a.meta_message_id as attempt_meta_message_id,
  a.status = 'rejected' or (a.status = 'accepted' and a.failure_category is not null) as attempt_failed,
  m.status = 'queued' and m.queued_at > statement_timestamp() - interval '1 second' as just_queued, m.id, m.organization_id, m.connection_id, m.conversation_id,
  m.recipient, m.status, m.meta_message_id, m.current_attempt_id, m.event_count,
  (extract(epoch from greatest(m.queued_at, m.processing_at, m.accepted_at, m.sent_at, m.delivered_at, m.read_at,
    m.failed_at)) * ${MICROSECONDS})::double precision as latest_at,
  (extract(epoch from clock_timestamp()) * ${MICROSECONDS})::double precision as now
from message_attempt a join message m on m.id = a.message_id
where a.id = any($1) or a.meta_message_id = any($2)
order by m.id for no key update of m`,
};

// $2: what the events tell; at most one transaction moves a message at a time, so their count is not passed over.
const MOVE: Prepared = {
  name: 'report_move',
  text: `
with moved as (
  update message m set
    status = r.status,
    event_count = r."eventCount",
    meta_message_id = coalesce(r."metaMessageId", m.meta_message_id),
    current_attempt_id = coalesce(r."attemptId", m.current_attempt_id),
    lease_until = case when not r.moved then m.lease_until end,
    next_attempt_at = case when not r.moved then m.next_attempt_at end,
    sent_at = coalesce(to_timestamp(r."sentAt" / ${MICROSECONDS}), m.sent_at),
    delivered_at = coalesce(to_timestamp(r."deliveredAt" / ${MICROSECONDS}), m.delivered_at),
    read_at = coalesce(to_timestamp(r."readAt" / ${MICROSECONDS}), m.read_at),
    failed_at = case when not r.moved then m.failed_at else to_timestamp(r."failedAt" / ${MICROSECONDS}) end,
    failure_category = case when not r.moved then m.failure_category else r.category end,
    error_code = case when not r.moved then m.error_code else r."errorCode" end,
    error_message = case when not r.moved then m.error_message else r."errorMessage" end
  from json_to_recordset($1) as r (id uuid, status text, moved boolean, "eventCount" integer, "metaMessageId" text,
    "attemptId" uuid, "sentAt" double precision, "deliveredAt" double precision, "readAt" double precision, "failedAt" double precision,
    category text, "errorCode" text, "errorMessage" text)
  where m.id = r.id
  returning m.id, m.organization_id, m.connection_id, m.client_message_id, m.recipient, m.recipient_user_id
), change as (
  select m.id as message_id, m.organization_id, m.connection_id, m.client_message_id, m.recipient,
    m.recipient_user_id, e.status, e."previousStatus" as previous_status, to_timestamp(e.at / ${MICROSECONDS}) as occurred_at,
    e.attempt,     e.category as failure_category, e."errorCode" as error_code, e."errorMessage" as error_message, e.sequence
  from moved m join json_to_recordset($2) as e ("messageId" uuid, status text, "previousStatus" text,
    at double precision, attempt integer, category text, "errorCode" text, "errorMessage" text, sequence integer)
    on e."messageId" = m.id
), announced as (
  ${insertStatusEvents('change')}
)
select 1`,
};

// The attempt's own answer may have been recorded since it was read, so what is known by now decides. A doubt that is
// resolved leaves no category of failure.
const NOTE: Prepared = {
  name: 'report_note',
  text: `
update message_attempt a set
  status = case when r.taken then 'accepted' when a.status in ('started', 'unknown') then 'rejected' else a.status end,
  meta_message_id = coalesce(a.meta_message_id, r."metaMessageId"),
  finished_at = coalesce(a.finished_at, clock_timestamp()),
  platform_code = case when r.failed then r.code else a.platform_code end,
  platform_message = case when r.failed then r.message else a.platform_message end,
  failure_category = case when r.failed then r.category when a.status in ('accepted', 'rejected') then a.failure_category end
from json_to_recordset($1) as r (id uuid, taken boolean, failed boolean, "metaMessageId" text, code integer,
  message text, category text)
where a.id = r.id`,
};
