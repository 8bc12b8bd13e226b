import { classifyPlatformError } from '../../../infrastructure/whatsapp/graph-error.js';
import { isInQueue, nextStatus, type StateEvent, type OutboundStatus } from '../message/message-state.js';
import type { Pricing } from '../../../infrastructure/whatsapp/webhook-payload.js';
import type { Attempt, StatusReport } from '../messages.types.js';

/** What the column of an attempt's code takes. */
const MAX_CODE = 2 ** 31 - 1;

/**
 * What is to be known of a message to apply reports to it. Times are microseconds since the epoch.
 *
 * Which of its attempts counts:
 *
 * | The message                 | `rowAttemptId` | `currentAttemptId`         | `replacingAttemptId`             |
 * | --------------------------- | -------------- | -------------------------- | -------------------------------- |
 * | waits for its first attempt | null           | null                       | null                             |
 * | waits for a retry           | null           | the last one, in history * | the one that made it unnecessary |
 * | is on the wire              | that attempt   | that attempt               | the one that made it unnecessary |
 * | has left the queue          | its outcome's  | its outcome's              | null                             |
 *
 * `*`: where a report of the batch is about it; else null. "History" is message_attempt. `rowAttemptId` is of `LockedMessage`.
 */
export interface ReportedMessage {
  id: string;
  status: OutboundStatus;
  metaMessageId: string | null;
  /** The attempt whose reports are `notified_*`; those of others are `earlier_*`. */
  currentAttemptId: string | null;
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
 * What a number of reports make of one message, applied one after the other. Pure. Repeats of reports, and how they are spread
 * over batches, make no difference. Nor does their order, where one attempt was taken; where two were, an earlier one that a report
 * has put in the place of a waiting retry stays there, whatever is reported later of the others. An answer of an attempt that comes
 * between two reports does matter.
 *
 * | The message             | A report of the attempt that counts | A report of another attempt                                                                             |
 * | ----------------------- | ----------------------------------- | ------------------------------------------------------------------------------------------------------- |
 * | waits for a retry       | moves it: the retry is unnecessary  | `sent`, `delivered`, `read` move it, and replace the retry                                              |
 * | has a retry on the wire | moves it                            | `delivered`, `read` the same; `sent` is noted: if the retry is answered "not now", it is not made again |
 * | has left the queue      | moves it                            | `delivered`, `read` move it                                                                             |
 *
 * Of an attempt that failed, only `delivered` and `read` move the message: a late or repeated `sent` must not withdraw a retry. The
 * moves themselves are `TRANSITIONS`.
 */
export class MessageProgress<M extends ReportedMessage = ReportedMessage> {
  readonly moves: StatusMove[] = [];
  /** Another attempt that counts from now on: it has made the retry unnecessary. */
  replacingAttemptId: string | null = null;
  readonly attempts = new Map<string, AttemptEvidence>();
  /** What the platform charges, where the row does not have it: the first report that says it counts. */
  pricing: Pricing | null = null;
  /** The platform's id of the attempt that counts; before that is known, of another one that moved the message. */
  metaMessageId: string | null;
  private status: OutboundStatus;
  private latestAt: number;

  constructor(readonly message: M) {
    this.metaMessageId = message.metaMessageId;
    this.status = message.status;
    this.latestAt = message.latestAt;
  }

  /**
   * Applies one report about an attempt of this message; returns whether it moved the message.
   *
   * @param now the database's time in microseconds: the platform's clock may run ahead of it.
   */
  apply(report: StatusReport, attempt: ReportedAttempt, now: number): boolean {
    const failure = report.status === 'failed' ? failureOf(report) : null;
    const hasFailed = attempt.failed || (this.attempts.get(attempt.id)?.failure ?? null) !== null;
    this.noteEvidence(attempt, report, failure);
    if (!this.message.isPriced) this.pricing ??= report.pricing;
    const isCurrent = attempt.id === (this.replacingAttemptId ?? this.message.currentAttemptId);
    // Once an earlier attempt has replaced the retry, the retry's own reports are `earlier_` ones.
    const event: StateEvent = `${isCurrent ? 'notified' : 'earlier'}_${report.status}`;
    const isProof = report.status === 'delivered' || report.status === 'read';
    const to = hasFailed && !isProof ? null : nextStatus(this.status, event);
    // The earlier attempt replaces the retry that it makes unnecessary, so that its failure would count.
    const replaces = !isCurrent && to !== null && isInQueue(this.status);
    if (replaces) this.replacingAttemptId = attempt.id;
    if (isCurrent || replaces || (to !== null && this.metaMessageId === null))
      this.metaMessageId = report.metaMessageId;
    if (to === null) return false;
    // The platform reports whole seconds, so its time may lie before that of the state which it follows.
    const reportedAt = report.occurredAt === null ? now : Math.min(report.occurredAt.getTime() * 1_000, now);
    const at = Math.max(reportedAt, this.latestAt);
    this.moves.push({ from: this.status, to, at, attemptId: attempt.id, attemptNumber: attempt.number, failure });
    this.status = to;
    this.latestAt = at;
    return true;
  }

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
