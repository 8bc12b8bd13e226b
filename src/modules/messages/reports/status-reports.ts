import { classifyPlatformError } from '../../../infrastructure/whatsapp/graph-error.js';
import { isInQueue, nextStatus, type StateEvent, type OutboundStatus } from '../message/message-state.js';
import type { Pricing } from '../../../infrastructure/whatsapp/webhook-payload.js';
import type { Attempt, StatusReport } from '../messages.types.js';

/** What the column of an attempt's code takes. */
const MAX_CODE = 2 ** 31 - 1;

/** What is to be known of a message to apply reports to it. Times are microseconds since the epoch. */
export interface ReportedMessage {
  id: string;
  status: OutboundStatus;
  metaMessageId: string | null;
  /** The attempt in the message's row; null: its attempts are in message_attempt, as it waits, or ended without one (expired, canceled). */
  rowAttemptId: string | null;
  /** The attempt in the message's row; where there is none, the last one, if a report of the batch is about that. */
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
 * over batches, make no difference. Their order matters while a message waits for a retry: `sent` makes the retry unnecessary, but
 * not after `failed` of the same attempt; and of two attempts that were taken, the one that is reported first counts for good.
 *
 * Of the attempts one counts (`countingAttemptId`): its reports are `notified_*` events, those of others `earlier_*`. The moves are
 * `TRANSITIONS`.
 *
 * | The message                | The one that counts                    | Its reports | Reports of another attempt                                                                                                                                |
 * | -------------------------- | -------------------------------------- | ----------- | --------------------------------------------------------------------------------------------------------------------------------------------------------- |
 * | waits for a retry          | the last one                           | move it     | `sent`, `delivered`, `read` move it, and from now on that one counts: it has made the retry unnecessary (`replacingAttemptId`)                            |
 * | has an attempt on the wire | that attempt                           | move it     | `delivered`, `read` move it, and from now on that one counts. `sent` is noted in its attempt: where the retry is answered "not now", it is not made again |
 * | has left the queue         | that of its outcome, else the last one | move it     | `delivered`, `read` move it                                                                                                                               |
 *
 * Of an attempt that failed, only `delivered` and `read` move the message: a late or repeated `sent` must not withdraw a retry.
 */
export class MessageProgress<M extends ReportedMessage = ReportedMessage> {
  readonly moves: StatusMove[] = [];
  readonly attempts = new Map<string, AttemptEvidence>();
  /** What the platform charges, where the row does not have it: the first report that says it counts. */
  pricing: Pricing | null = null;
  /** The platform's id of the attempt that counts; before that is known, of another one that moved the message. */
  metaMessageId: string | null;
  private replacingAttemptId: string | null = null;
  private status: OutboundStatus;
  private latestAt: number;

  constructor(readonly message: M) {
    this.metaMessageId = message.metaMessageId;
    this.status = message.status;
    this.latestAt = message.latestAt;
  }

  private get countingAttemptId(): string | null {
    return this.replacingAttemptId ?? this.message.currentAttemptId;
  }

  /** The attempt that counts where it is in message_attempt; null: it is in the message's row. */
  get historyAttemptId(): string | null {
    return this.countingAttemptId === this.message.rowAttemptId ? null : this.countingAttemptId;
  }

  /** What reports say of the attempt in the message's row. */
  get ofRowAttempt(): AttemptEvidence | undefined {
    return this.message.rowAttemptId === null ? undefined : this.attempts.get(this.message.rowAttemptId);
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
    const counts = attempt.id === this.countingAttemptId;
    const event: StateEvent = `${counts ? 'notified' : 'earlier'}_${report.status}`;
    const isProof = report.status === 'delivered' || report.status === 'read';
    const to = hasFailed && !isProof ? null : nextStatus(this.status, event);
    // From now on its reports are `notified_*`, so that its failure would count, and the retry's own are `earlier_*`.
    const replaces = !counts && to !== null && isInQueue(this.status);
    if (replaces) this.replacingAttemptId = attempt.id;
    const isFirstToMove = to !== null && this.metaMessageId === null;
    if (counts || replaces || isFirstToMove) this.metaMessageId = report.metaMessageId;
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
