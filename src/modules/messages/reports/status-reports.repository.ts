import { Injectable } from '@nestjs/common';
import { isUuid } from '../../../common/ids.js';
import type { Statements } from '../../../infrastructure/database/database.js';
import type { OutboundStatus } from '../message-state.js';
import type { StatusReport } from '../messages.types.js';
import {
  ATTEMPTS,
  FIND,
  LEAVE,
  LOCK,
  MOVE,
  NOTE,
  type AttemptRow,
  type LockedRow,
  type PlaceRow,
} from './status-report-sql.js';
import { MessageProgress, type AttemptEvidence, type ReportedAttempt, type ReportedMessage } from './status-reports.js';

/** What a report led to; null: no attempt of the report's connection is meant. */
export interface AppliedReport {
  organizationId: string;
  /** Whether the message was moved by this report. */
  moved: boolean;
  conversationId: string | null;
  /** The number that the message was sent to. */
  recipient: string | null;
}

/** The attempt that a report is about. */
interface Target {
  messageId: string;
  attemptId: string;
}

/** A locked message, and what reports make of it. */
interface Reported {
  row: LockedRow;
  progress: MessageProgress;
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
    const found = await this.find(reports, statements);
    const reported = new Map<string, Reported>();
    const results = reports.map((report) => {
      const target = found.of(report);
      if (target === null) return null;
      const { row, attempt } = target;
      let message = reported.get(row.id);
      if (message === undefined) {
        reported.set(row.id, (message = { row, progress: new MessageProgress(found.messageOf(row)) }));
      }
      const moved = message.progress.apply(report, attempt, row.now);
      const { organization_id: organizationId, conversation_id: conversationId, recipient } = row;
      return { organizationId, conversationId, recipient, moved };
    });
    await this.write([...reported.values()], statements);
    return results;
  }

  /** The attempts that are meant, with their messages locked. */
  private async find(reports: readonly StatusReport[], statements: Statements): Promise<FoundAttempts> {
    const found = await this.findOnce(reports, (report) => targetOf(report) === null, statements);
    // Perhaps it moved from one table to the other while its lock was waited for: only a new statement sees it there.
    return found.lacksNone(reports) ? found : this.findOnce(reports, (report) => found.of(report) === null, statements);
  }

  /** @param isSought reports whose attempt has to be looked up: what was sent along does not lead to it. */
  private async findOnce(
    reports: readonly StatusReport[],
    isSought: (report: StatusReport) => boolean,
    statements: Statements,
  ): Promise<FoundAttempts> {
    const sought = reports.filter(isSought);
    const attemptIds = sought.flatMap((report) => sentAlong(report)?.attemptId ?? []);
    const metaIds = sought.map((report) => report.metaMessageId);
    const places = sought.length === 0 ? [] : await statements.query<PlaceRow>(FIND, [attemptIds, metaIds]);
    const targets = new Targets(places);
    const meant = reports.flatMap((report) => targets.of(report));
    if (meant.length === 0) return new FoundAttempts(targets, [], []);
    const rows = await statements.query<LockedRow>(LOCK, [[...new Set(meant.map((target) => target.messageId))]]);
    // Read under the lock: what was known of them before may have changed while it was waited for.
    const own = new Set(rows.map((row) => row.attempt_id));
    const others = [...new Set(meant.map((target) => target.attemptId))].filter((id) => !own.has(id));
    const attempts = others.length === 0 ? [] : await statements.query<AttemptRow>(ATTEMPTS, [others]);
    return new FoundAttempts(targets, rows, attempts);
  }

  private async write(reported: readonly Reported[], statements: Statements): Promise<void> {
    const notes = reported.flatMap(notesOf);
    if (notes.length > 0) await statements.query(NOTE, [JSON.stringify(notes)]);
    for (const [statement, changed] of [
      [MOVE, reported.filter((message) => !isInQueue(message.row.status) && isChanged(message))],
      [LEAVE, reported.filter(({ row, progress }) => isInQueue(row.status) && progress.moves.length > 0)],
    ] as const) {
      if (changed.length === 0) continue;
      const events = changed.flatMap(({ progress }) => eventsOf(progress));
      await statements.query(statement, [JSON.stringify(changed.map(changeOf)), JSON.stringify(events)]);
    }
  }
}

/** Where reports lead: by the ids that we sent along, else by the platform's id. */
class Targets {
  private readonly byAttempt = new Map<string, Target>();
  private readonly byMetaMessageId = new Map<string, Target[]>();

  constructor(places: readonly PlaceRow[]) {
    for (const { message_id: messageId, attempt_id: attemptId, meta_message_id: metaMessageId } of places) {
      const target = { messageId, attemptId };
      this.byAttempt.set(attemptId, target);
      if (metaMessageId === null) continue;
      this.byMetaMessageId.set(metaMessageId, [...(this.byMetaMessageId.get(metaMessageId) ?? []), target]);
    }
  }

  /** The best first. */
  of(report: StatusReport): Target[] {
    const sent = sentAlong(report);
    const bySent = targetOf(report) ?? (sent === null ? undefined : this.byAttempt.get(sent.attemptId));
    return [...(bySent === undefined ? [] : [bySent]), ...(this.byMetaMessageId.get(report.metaMessageId) ?? [])];
  }
}

class FoundAttempts {
  private readonly rows: ReadonlyMap<string, LockedRow>;
  private readonly attempts: ReadonlyMap<string, AttemptRow>;

  constructor(
    private readonly targets: Targets,
    rows: readonly LockedRow[],
    attempts: readonly AttemptRow[],
  ) {
    this.rows = new Map(rows.map((row) => [row.id, row]));
    this.attempts = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  }

  of(report: StatusReport): { row: LockedRow; attempt: ReportedAttempt } | null {
    for (const { messageId, attemptId } of this.targets.of(report)) {
      const row = this.rows.get(messageId);
      if (row?.connection_id !== report.connectionId) continue;
      const attempt = row.attempt_id === attemptId ? ownAttemptOf(row) : this.otherAttempt(messageId, attemptId);
      if (attempt !== null) return { row, attempt };
    }
    return null;
  }

  /** Whether each report that leads to a message has found it. */
  lacksNone(reports: readonly StatusReport[]): boolean {
    return reports.every((report) => this.targets.of(report).length === 0 || this.of(report) !== null);
  }

  /** A message that waits for another attempt, or was given up while it did, has its latest one behind it. */
  messageOf(row: LockedRow): ReportedMessage {
    const isLatest = (other: AttemptRow): boolean => other.message_id === row.id && other.number === row.attempt_number;
    return {
      id: row.id,
      status: row.status,
      metaMessageId: row.meta_message_id,
      currentAttemptId: row.attempt_id ?? [...this.attempts.values()].find(isLatest)?.id ?? null,
      latestAt: row.latest_at,
      eventCount: row.event_count,
    };
  }

  private otherAttempt(messageId: string, id: string): ReportedAttempt | null {
    const row = this.attempts.get(id);
    if (row?.message_id !== messageId) return null;
    const { number, status, meta_message_id: metaMessageId, failed } = row;
    return { id, number, status, metaMessageId, failed };
  }
}

function ownAttemptOf(row: LockedRow): ReportedAttempt {
  return {
    id: row.attempt_id ?? '',
    number: row.attempt_number,
    status: row.attempt_status,
    metaMessageId: row.meta_message_id,
    failed: row.attempt_failed,
  };
}

/** What we sent along: `<message id>.<attempt id>`, or before that only the attempt's id. */
function sentAlong({ callbackData }: StatusReport): { messageId: string | null; attemptId: string } | null {
  const [last, first, ...more] = (callbackData ?? '').toLowerCase().split('.').toReversed();
  if (!isUuid(last) || (first !== undefined && !isUuid(first)) || more.length > 0) return null;
  return { messageId: first ?? null, attemptId: last };
}

function targetOf(report: StatusReport): Target | null {
  const { messageId = null, attemptId = '' } = sentAlong(report) ?? {};
  return messageId === null ? null : { messageId, attemptId };
}

function isInQueue(status: OutboundStatus): boolean {
  return status === 'queued' || status === 'processing';
}

function isChanged({ row, progress }: Reported): boolean {
  return (
    progress.moves.length > 0 || progress.adoptedMetaMessageId !== null || ownEvidence(row, progress) !== undefined
  );
}

function ownEvidence(row: LockedRow, { attempts }: MessageProgress): AttemptEvidence | undefined {
  return row.attempt_id === null ? undefined : attempts.get(row.attempt_id);
}

/**
 * The message's new values; what is absent is null in the statement. What failed before and went on nevertheless bears
 * no failure any more.
 */
function changeOf({ row, progress }: Reported) {
  const { message, moves, adoptedMetaMessageId, adoptedAttemptId } = progress;
  const last = moves.at(-1);
  const at = (status: OutboundStatus) => moves.find((move) => move.to === status)?.at;
  const evidence = ownEvidence(row, progress);
  const bringer = adoptedAttemptId ?? message.currentAttemptId;
  return {
    id: message.id,
    ...(bringer !== row.attempt_id && { adoptedId: bringer }),
    status: last?.to ?? message.status,
    moved: last !== undefined,
    eventCount: message.eventCount + moves.length,
    metaMessageId: adoptedMetaMessageId ?? undefined,
    sentAt: at('sent'),
    deliveredAt: at('delivered'),
    readAt: at('read'),
    failedAt: last?.to === 'failed' ? last.at : undefined,
    category: last?.failure?.category,
    errorCode: last?.failure?.code?.toString(),
    errorMessage: last?.failure?.message ?? undefined,
    ...(evidence && { attempt: noteOf(evidence) }),
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
    category: failure?.category,
    errorCode: failure?.code?.toString(),
    errorMessage: failure?.message ?? undefined,
    sequence: message.eventCount + index + 1,
  }));
}

/** Of attempts that stand in a row of their own. */
function notesOf({ row, progress }: Reported) {
  return [...progress.attempts].flatMap(([id, evidence]) => (id === row.attempt_id ? [] : { id, ...noteOf(evidence) }));
}

function noteOf({ taken, failure, metaMessageId }: AttemptEvidence) {
  return { taken, failed: failure !== null, metaMessageId, ...failure };
}
