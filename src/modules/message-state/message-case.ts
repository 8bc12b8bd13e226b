import { nextStatus, type OutboundStatus, type StateEvent } from './message-state.types.js';
import type { StatusReport } from './message.types.js';
import { hasFailed, isProof, type Answer, type AttemptFacts } from './attempt-facts.js';
import {
  CANCELED,
  ERASED,
  EXPIRED,
  failureColumns,
  NO_FAILURE,
  reportedFailure,
  RESTORED,
  textOf,
} from './failures.js';
import type { Fact, Failure, OutcomeRecord, Result, Work } from './facts.types.js';
import { MessageRows, TIMES } from './message-rows.js';

/** By the status of an outcome: the answer of its attempt, and the event of a message in which that attempt counts. */
const ANSWERS = {
  accepted: { answer: 'accepted', event: 'outcome_accepted' },
  failed: { answer: 'rejected', event: 'outcome_refused' },
  queued: { answer: 'deferred', event: 'outcome_deferred' },
  outcome_unknown: { answer: 'unknown', event: 'outcome_unknown' },
} as const satisfies Record<OutcomeRecord['status'], { answer: Answer; event: StateEvent }>;

/**
 * What facts make of one message, applied one after the other. Pure: it starts from the rows read under the message's
 * lock, and its properties (`MessageRows`) are the rows to write. Each fact has a method, in the order of `apply`:
 * first what is checked again, then what becomes of the message.
 *
 * Facts of the attempt that counts are `own_*` events, those of the message's other attempts `other_*`. Where another
 * attempt turns out to be accepted while the message is in the queue, the retry is redundant: the message leaves the
 * queue with that attempt, which counts from then on. `TRANSITIONS` says which event moves a message. The end of a
 * lease, a restore and a retry do not ask it: what they check of the queue's row, or `from` of a retry, comes to the
 * same.
 */
export class MessageCase extends MessageRows {
  apply(fact: Fact): Result {
    switch (fact.kind) {
      case 'answer':
        return this.answer(fact);
      case 'next_attempt':
        return this.nextAttempt(fact.refused, fact.nextAttemptId);
      case 'report':
        return this.report(fact.attemptId, fact.report);
      case 'report_of_app':
        return this.reportOfApp(fact.report);
      case 'lease_ended':
        return this.leaseEnded(fact.attemptId);
      case 'restored':
        return this.restored(fact.before);
      case 'expired':
        return this.expired(fact);
      case 'canceled':
        return this.canceled(fact);
      case 'erased':
        return this.failWaiting('erased', ERASED, () => true);
      case 'release_refused':
        return this.failWaiting(
          'release_refused',
          fact.failure,
          // While claims are blocked, the message may have been released and sent since.
          (work) => !this.blocked && work.scheduledFor !== null && !work.isPaused,
        );
      case 'retry':
        return this.retry(fact);
    }
  }

  /**
   * WhatsApp answered the attempt for which the message waits: it is in flight, or its lease ended without an answer.
   *
   * | Answer                     | Another attempt was accepted | The message              |
   * | -------------------------- | ---------------------------- | ------------------------ |
   * | accepted, unknown          | whether or not               | has that status          |
   * | refused                    | no                           | has failed               |
   * | "not now"                  | no                           | is queued again          |
   * | refused, "not now"         | yes                          | ends by that attempt     |
   */
  private answer(record: OutcomeRecord): Result {
    const attempt = this.attemptOf(record.attemptId);
    if (attempt === null) return 'not_found';
    const { answer, event } = ANSWERS[record.status];
    const from = this.status;
    const isAwaited = this.counts(attempt) && (from === 'processing' || from === 'outcome_unknown');
    const other = this.acceptedOther(attempt.id);
    const isToWait = answer === 'deferred' || (answer === 'rejected' && other !== null);
    // A message that is erased and has left the queue is not sent again.
    if (!isAwaited || (isToWait && this.isErased && this.work === null))
      return this.lateAnswer(attempt, record, answer);
    if (isToWait) {
      // Needed even if the message leaves the queue at once: `endBy` expects it in the queue.
      this.queueAgain(attempt, record);
      this.noteAnswer(attempt, record, answer);
      return other === null ? 'recorded' : this.endBy(other, from);
    }
    this.noteAnswer(attempt, record, answer);
    const to = nextStatus(from, event) ?? from;
    const failure = answer === 'accepted' ? NO_FAILURE : this.failureOf(record);
    if (to === from) Object.assign(this.state, failureColumns(failure));
    else this.move(to, this.now, attempt, failure);
    if (answer === 'accepted') this.state.metaMessageId = attempt.metaMessageId;
    return 'recorded';
  }

  /**
   * An answer for which the message does not wait is recorded with its attempt only. If it shows that an earlier
   * attempt was accepted, a retry is redundant.
   */
  private lateAnswer(attempt: AttemptFacts, record: OutcomeRecord, answer: Answer): Result {
    this.noteAnswer(attempt, record, answer);
    if (answer !== 'accepted') return 'late';
    if (!this.counts(attempt))
      return isProof(attempt) && nextStatus(this.status, 'other_accepted') !== null ? this.endBy(attempt) : 'late';
    if (this.work === null) this.state.metaMessageId ??= attempt.metaMessageId;
    return 'late';
  }

  /**
   * The endpoint refused the attempt in flight. The next attempt takes over its place and lease. The same fact may come
   * twice.
   */
  private nextAttempt(refused: OutcomeRecord, nextAttemptId: string): Result {
    const { work } = this;
    if (work?.attemptId === nextAttemptId) return 'recorded';
    if (work === null || work.attemptId !== refused.attemptId) return 'not_found';
    if ((work.leaseUntil ?? 0) <= this.now || this.acceptedOther(refused.attemptId) !== null) return 'late';
    const attempt = this.attemptOf(refused.attemptId);
    if (attempt !== null) {
      this.noteAnswer(attempt, refused, 'deferred');
      this.replace(attempt);
    }
    work.attemptId = nextAttemptId;
    work.attemptNumber++;
    work.claimedAt = Math.max(this.now, work.claimedAt ?? 0);
    return 'recorded';
  }

  /**
   * WhatsApp reported a status of an attempt. A `sent` for an attempt that has failed cancels no retry: the report is
   * late or a duplicate.
   */
  private report(attemptId: string, report: StatusReport): Result {
    // A report never touches another workspace's message.
    const isOurs = report.connectionId === this.message.connectionId;
    const attempt = isOurs ? (this.attemptOf(attemptId) ?? this.adopt(attemptId, report)) : null;
    if (attempt === null) return 'not_found';
    // Read before the report is recorded, which would change the result.
    const isLateSent = report.status === 'sent' && hasFailed(attempt);
    const event = `${this.counts(attempt) ? 'own' : 'other'}_${report.status}` as const;
    const to = isLateSent ? null : nextStatus(this.status, event);
    const at = this.timeOf(report);
    const failure = report.status === 'failed' ? this.withoutText(reportedFailure(report)) : null;
    this.noteReport(attempt, report, failure);
    if (to !== null)
      this.move(to, at, attempt, failure === null ? NO_FAILURE : { ...failure, code: textOf(failure.code) });
    // `counts` is asked again, since the move may have made this attempt the one that counts. The message shows the
    // WhatsApp id of the attempt that counts; until that is known, the id of another attempt that moved the message.
    const isShown = this.work === null && (this.counts(attempt) || (to !== null && this.state.metaMessageId === null));
    if (isShown && !this.isErased) this.state.metaMessageId = report.metaMessageId;
    // In the queue, a price that comes without a status change is ignored: later reports repeat it.
    if (this.work === null) this.notePrice(report);
    this.isReported = true;
    return to === null ? 'late' : 'recorded';
  }

  /**
   * WhatsApp reported a status of a message that was sent in the app. The status never goes back to an earlier one, and
   * there is no event.
   */
  private reportOfApp(report: StatusReport): Result {
    const { state } = this;
    const failure = report.status === 'failed' ? this.withoutText(reportedFailure(report)) : null;
    const at = report.occurredAt === null ? this.now : report.occurredAt.getTime() * 1_000;
    this.notePrice(report);
    this.isReported = true;
    const isLater = RANK_OF_APP[report.status] > (RANK_OF_APP[state.status] ?? 0);
    if (failure === null) state[TIMES[report.status as 'sent']] ??= at;
    if (!isLater) return 'late';
    state.status = report.status;
    Object.assign(state, failureColumns(failure === null ? NO_FAILURE : { ...failure, code: textOf(failure.code) }));
    state.failedAt = failure === null ? null : at;
    return 'recorded';
  }

  /** The process that sent the attempt recorded no answer within the lease, so the message may have been sent. */
  private leaseEnded(attemptId: string): Result {
    const { work } = this;
    const attempt = work?.attemptId === attemptId ? this.attemptOf(attemptId) : null;
    if (work === null || attempt === null) return 'not_found';
    if ((work.leaseUntil ?? 0) >= this.now) return 'late';
    this.change(attempt, { leaseEndedAt: this.now });
    this.move('outcome_unknown', this.now, attempt, NO_FAILURE);
    return 'recorded';
  }

  /**
   * The database was restored from a backup made before this time. Messages that were in the queue then may have been
   * sent since.
   */
  private restored(before: number): Result {
    const { work } = this;
    if (work === null || (work.scheduledFor ?? work.queuedAt) >= before) return 'late';
    const attempt = work.attemptId === null ? null : this.attemptOf(work.attemptId);
    if (attempt !== null) this.change(attempt, { leaseEndedAt: this.now });
    this.move('outcome_unknown', this.now, attempt, RESTORED);
    return 'recorded';
  }

  /** The message has waited too long. `resumed`: it was held by its tag; it does not expire while held. */
  private expired({ resumed = false }: Extract<Fact, { kind: 'expired' }>): Result {
    return this.failWaiting('expired', EXPIRED, ({ expiresAt, isPaused, isHeld }) => {
      return !this.blocked && expiresAt < this.now && (resumed ? isPaused : !isHeld);
    });
  }

  /** The caller, or an action on the tag, cancels the message. */
  private canceled({ before = Infinity }: Extract<Fact, { kind: 'canceled' }>): Result {
    return this.failWaiting('canceled', CANCELED, ({ scheduledFor }) => {
      // While claims are blocked, only a message that is not due yet is certainly unsent.
      const isUnsent = !this.blocked || (scheduledFor !== null && scheduledFor > this.now);
      return isUnsent && (this.state.retriedAt ?? this.message.createdAt) <= before;
    });
  }

  /**
   * Ends a waiting message if the condition still holds: as failed, or as accepted where an earlier attempt was
   * accepted.
   */
  private failWaiting(event: StateEvent, failure: Failure, condition: (work: Work) => boolean): Result {
    const { work } = this;
    if (work === null || nextStatus(this.status, event) !== 'failed' || !condition(work)) return 'late';
    const accepted = this.isErased ? null : this.acceptedOther(null);
    if (accepted !== null) return this.endBy(accepted);
    this.move('failed', this.now, null, failure);
    return 'recorded';
  }

  /** The caller, or an action on the tag, retries the message. */
  private retry({ from, body }: Extract<Fact, { kind: 'retry' }>): Result {
    const { state } = this;
    if (this.work !== null || !from.includes(state.status) || this.isErased) return 'late';
    // Where WhatsApp has accepted an attempt, another copy needs the caller's confirmation.
    if (!from.includes('outcome_unknown') && this.acceptedOther(null) !== null) return 'late';
    const counted = state.attemptId === null ? undefined : this.attempts.get(state.attemptId);
    if (counted !== undefined) this.replace(counted);
    this.body = body;
    this.retryNow();
    return 'recorded';
  }

  /**
   * Another attempt was accepted: it becomes the one that counts, the message leaves the queue, and its retry is
   * redundant.
   */
  private endBy(attempt: AttemptFacts, from = this.status): Result {
    this.move('accepted', this.now, attempt, NO_FAILURE, from);
    this.state.metaMessageId = attempt.metaMessageId;
    return 'retry_canceled';
  }

  private failureOf({ category = null, platformCode = null, platformMessage = null }: OutcomeRecord): Failure {
    return this.withoutText({ category, code: textOf(platformCode), message: platformMessage });
  }
}

const RANK_OF_APP: Readonly<Partial<Record<OutboundStatus, number>>> & Record<StatusReport['status'], number> = {
  sent: 1,
  failed: 2,
  delivered: 3,
  read: 4,
};
