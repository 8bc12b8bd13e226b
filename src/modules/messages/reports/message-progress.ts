import { classifyPlatformError } from '../../../infrastructure/whatsapp/graph-error.js';
import { isInQueue, nextStatus, type OutboundStatus } from '../message/message-state.js';
import type { Pricing } from '../../../infrastructure/whatsapp/webhook-payload.js';
import type { Attempt, StatusReport } from '../messages.types.js';

/** What the column of an attempt's code takes. */
const MAX_CODE = 2 ** 31 - 1;

/** What is to be known of a message to apply reports to it. Times are microseconds since the epoch. */
export interface ReportedMessage {
  id: string;
  status: OutboundStatus;
  metaMessageId: string | null;
  /** The attempt in the message's row; null: it has none, as it waits, or ended while it waited. */
  attemptId: string | null;
  /** The latest of its timestamps so far. */
  latestAt: number;
  /** Events of the message so far. */
  eventCount: number;
  /** Whether it is known what the platform charges for it. */
  isPriced: boolean;
}

export interface ReportedAttempt {
  id: string;
  number: number;
  status: Attempt['status'];
  metaMessageId: string | null;
  /** The platform refused it, or reported that it failed. */
  failed: boolean;
}

/** Why the platform gave a message up. */
export interface ReportedFailure {
  category: string;
  code: number | null;
  message: string | null;
}

/** One legal move of a message. */
export interface StatusMove {
  from: OutboundStatus;
  to: OutboundStatus;
  /** Microseconds since the epoch. */
  at: number;
  attemptId: string;
  attemptNumber: number;
  failure: ReportedFailure | null;
}

/** What reports say about an attempt beyond what is known of it. */
export interface AttemptEvidence {
  /** The platform took it: a message that it never got can't be sent, delivered or read. */
  taken: boolean;
  failure: ReportedFailure | null;
  metaMessageId: string;
}

/**
 * What a number of reports make of one message, applied one after the other. Pure.
 *
 * The attempt in the message's row counts: its reports are `own_*` events. Those of its other attempts, which are in
 * message_attempt, are `other_*`. Where one of them moves a message that is still in the queue, WhatsApp took that attempt and no retry
 * is needed: that attempt enters the message's row (`enteringAttemptId`), and counts from then on. Which reports move a message is in
 * `TRANSITIONS`, with a table of what is learned of another attempt.
 *
 * One rule more: `sent` of an attempt that failed moves nothing. Late or repeated, it must not withdraw a retry.
 *
 * The final status does not depend on repeats of reports, nor on how they are spread over batches; and on their order only while a
 * message waits: `sent` before `failed` of the same attempt withdraws the retry, `failed` before `sent` does not; and of two attempts
 * that were taken, the one that is reported first goes into the row.
 */
export class MessageProgress<M extends ReportedMessage = ReportedMessage> {
  readonly moves: StatusMove[] = [];
  readonly attempts = new Map<string, AttemptEvidence>();
  /** What the platform charges, where the row does not have it: the first report that says it counts. */
  pricing: Pricing | null = null;
  /** The platform's id of the attempt that counts; before that is known, of another one that moved the message. */
  metaMessageId: string | null;
  /** Another attempt that enters the message's row, as a report of it took the message out of the queue. */
  enteringAttemptId: string | null = null;
  private status: OutboundStatus;
  private latestAt: number;

  constructor(readonly message: M) {
    this.metaMessageId = message.metaMessageId;
    this.status = message.status;
    this.latestAt = message.latestAt;
  }

  /** What reports say of the attempt that was in the message's row when it was read, also where another one enters it. */
  get ofAttemptInRow(): AttemptEvidence | undefined {
    return this.message.attemptId === null ? undefined : this.attempts.get(this.message.attemptId);
  }

  /**
   * Applies one report about an attempt of this message; returns whether it moved the message.
   *
   * @param now the database's time in microseconds: the platform's clock may run ahead of it.
   */
  apply(report: StatusReport, attempt: ReportedAttempt, now: number): boolean {
    const failure = report.status === 'failed' ? failureOf(report) : null;
    // Before the report is noted: what was known before it decides.
    const to = this.moveBy(report, attempt);
    this.noteEvidence(attempt, report, failure);
    if (!this.message.isPriced) this.pricing ??= report.pricing;
    // From here on this attempt counts.
    if (to !== null && isInQueue(this.status) && !this.counts(attempt)) this.enteringAttemptId = attempt.id;
    const isFirstId = to !== null && this.metaMessageId === null;
    if (this.counts(attempt) || isFirstId) this.metaMessageId = report.metaMessageId;
    if (to === null) return false;
    // The platform reports whole seconds, so its time may lie before that of the state which it follows.
    const reportedAt = report.occurredAt === null ? now : Math.min(report.occurredAt.getTime() * 1_000, now);
    const at = Math.max(reportedAt, this.latestAt);
    this.moves.push({ from: this.status, to, at, attemptId: attempt.id, attemptNumber: attempt.number, failure });
    this.status = to;
    this.latestAt = at;
    return true;
  }

  private counts({ id }: ReportedAttempt): boolean {
    return id === (this.enteringAttemptId ?? this.message.attemptId);
  }

  private moveBy({ status }: StatusReport, attempt: ReportedAttempt): OutboundStatus | null {
    const hasFailed = attempt.failed || (this.attempts.get(attempt.id)?.failure ?? null) !== null;
    if (hasFailed && status === 'sent') return null;
    return nextStatus(this.status, `${this.counts(attempt) ? 'own' : 'other'}_${status}`);
  }

  /** Keeps what the report says beyond what is known of the attempt: nothing, where an accepted attempt was `sent`, say. */
  private noteEvidence(attempt: ReportedAttempt, report: StatusReport, failure: ReportedFailure | null): void {
    const known = this.attempts.get(attempt.id);
    if (known !== undefined) {
      known.taken ||= failure === null;
      known.failure = failure ?? known.failure;
      return;
    }
    const isNews = attempt.status !== 'accepted' || attempt.metaMessageId === null || failure !== null;
    if (!isNews) return;
    this.attempts.set(attempt.id, { taken: failure === null, failure, metaMessageId: report.metaMessageId });
  }
}

export function failureOf(report: StatusReport): ReportedFailure {
  const given = report.error?.code ?? null;
  const code = given !== null && Math.abs(given) <= MAX_CODE ? given : null;
  return {
    category: code === null ? 'unknown' : classifyPlatformError(code).category,
    code,
    message: report.error?.details ?? report.error?.title ?? null,
  };
}
