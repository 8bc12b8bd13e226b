import { nextStatus, type OutboundStatus, type StateEvent } from './message-state.types.js';
import type { StatusReport } from './message.types.js';
import {
  hasFailed,
  isAccepted,
  isProof,
  newAttempt,
  replacesAnswer,
  type Answer,
  type AttemptFacts,
} from './attempt-facts.js';
import {
  CANCELED,
  ERASED,
  EXPIRED,
  failureColumns,
  NO_FAILURE,
  type ReportedFailure,
  reportedFailure,
  RESTORED,
  textOf,
} from './failures.js';
import {
  type Fact,
  type Failure,
  type LockedMessage,
  type MessageState,
  type OutcomeRecord,
  type Result,
  statusOf,
  type StatusEvent,
  type Work,
} from './facts.types.js';

/** What an answer says of its attempt, and what it makes of a message in which that attempt counts. */
const ANSWERS = {
  accepted: { answer: 'accepted', event: 'outcome_accepted' },
  failed: { answer: 'rejected', event: 'outcome_refused' },
  queued: { answer: 'deferred', event: 'outcome_deferred' },
  outcome_unknown: { answer: 'unknown', event: 'outcome_unknown' },
} as const satisfies Record<OutcomeRecord['status'], { answer: Answer; event: StateEvent }>;

/**
 * What facts make of one message, applied one after the other. Pure: it begins with what was read under the message's lock, and its
 * properties are what is to be written.
 *
 * One attempt counts at a time: the one in flight while the message is in the queue, afterwards that of its state. Facts of it are `own_*`
 * events, those of its other attempts `other_*`. Where another attempt turns out to be accepted while the message is in the queue, the
 * retry is redundant: the message leaves the queue with that attempt, which counts from then on. `TRANSITIONS` says which event moves a
 * message, with a table of what is learned of another attempt. The end of a lease, a restore and a retry do not ask it: what they check of
 * the queue's row, or `from` of a retry, comes to the same. Two rules more:
 *
 * - `sent` of an attempt that failed cancels no retry: it comes late, or again.
 * - A refusal, or "not now", of a retry queues the message again; where another attempt was accepted meanwhile, the message ends by that one.
 */
export class MessageCase {
  readonly events: StatusEvent[] = [];
  readonly state: MessageState;
  /** The row of the queue; null: the message is not in it. */
  work: Work | null;
  readonly attempts: ReadonlyMap<string, AttemptFacts>;
  readonly newAttempts = new Set<AttemptFacts>();
  readonly changedAttempts = new Set<AttemptFacts>();
  /** What lists show of the message; undefined: as before. */
  body: string | null | undefined = undefined;
  /** A report was applied, which says what the message costs, or that it failed. */
  isReported = false;
  /** It left the queue by an attempt from before its last retry, which was not sent. */
  hasUnsentRetry = false;
  private readonly all = new Map<string, AttemptFacts>();

  constructor(readonly message: LockedMessage) {
    this.state = { ...message.state };
    this.work = message.work && { ...message.work };
    for (const attempt of message.attempts) this.all.set(attempt.id, { ...attempt });
    this.attempts = this.all;
  }

  get status(): OutboundStatus {
    return statusOf(this);
  }

  apply(fact: Fact): Result {
    switch (fact.kind) {
      case 'answer':
        return this.answer(fact);
      case 'next_attempt':
        return this.openNext(fact.refused, fact.nextAttemptId);
      case 'report':
        return this.report(fact.attemptId, fact.report);
      case 'report_of_app':
        return this.reportOfApp(fact.report);
      case 'lease_ended':
        return this.endLease(fact.attemptId);
      case 'expired':
        return this.failUnsent('expired', EXPIRED, (work) => {
          return !this.blocked && work.expiresAt < this.now && (fact.resumed === true ? work.isPaused : !work.isHeld);
        });
      case 'canceled':
        return this.failUnsent('canceled', CANCELED, ({ scheduledFor }) => {
          // Where claims are blocked, only what is not due yet was surely not sent.
          const isUnsent = !this.blocked || (scheduledFor !== null && scheduledFor > this.now);
          return isUnsent && (this.state.retriedAt ?? this.message.createdAt) <= (fact.before ?? Infinity);
        });
      case 'erased':
        return this.failUnsent('erased', ERASED, () => true);
      case 'release_refused':
        return this.failUnsent('release_refused', fact.failure, (work) => work.scheduledFor !== null && !work.isPaused);
      case 'restored':
        return this.restore(fact.before);
      case 'retry':
        return this.retry(fact);
    }
  }

  private get now(): number {
    return this.message.now;
  }

  private get blocked(): boolean {
    return this.message.claimsBlocked;
  }

  private get isErased(): boolean {
    return this.message.recipient === null;
  }

  private answer(record: OutcomeRecord): Result {
    const attempt = this.attemptOf(record.attemptId);
    if (attempt === null) return 'not_found';
    const { answer, event } = ANSWERS[record.status];
    const { status: from } = this;
    const isAwaited = this.counts(attempt) && (from === 'processing' || from === 'outcome_unknown');
    if (!isAwaited) return this.lateAnswer(attempt, record, answer);
    const other = this.acceptedOther(attempt.id);
    if (answer === 'deferred' || (answer === 'rejected' && other !== null)) {
      // What has left the queue and is erased is not sent again.
      if (this.isErased && this.work === null) return this.lateAnswer(attempt, record, answer);
      // Also where it does not stay there: `endBy` ends a message that is in the queue.
      this.queueAgain(attempt, record);
      this.noteAnswer(attempt, record, answer);
      return other === null ? 'recorded' : this.endBy(other, from);
    }
    this.noteAnswer(attempt, record, answer);
    const to = nextStatus(this.status, event) ?? this.status;
    const failure = answer === 'accepted' ? NO_FAILURE : this.failureOf(record);
    if (to === this.status) Object.assign(this.state, failureColumns(failure));
    else this.move(to, this.now, attempt, failure);
    if (answer === 'accepted') this.state.metaMessageId = attempt.metaMessageId;
    return 'recorded';
  }

  /** The message does not wait for it: it is noted. That an earlier attempt was accepted makes a retry redundant. */
  private lateAnswer(attempt: AttemptFacts, record: OutcomeRecord, answer: Answer): Result {
    this.noteAnswer(attempt, record, answer);
    if (answer !== 'accepted') return 'late';
    if (!this.counts(attempt))
      return isProof(attempt) && nextStatus(this.status, 'other_accepted') !== null ? this.endBy(attempt) : 'late';
    if (this.work === null) this.state.metaMessageId ??= attempt.metaMessageId;
    return 'late';
  }

  private openNext(refused: OutcomeRecord, nextAttemptId: string): Result {
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

  private report(attemptId: string, report: StatusReport): Result {
    // A report never touches another workspace's message.
    const isOurs = report.connectionId === this.message.connectionId;
    const attempt = isOurs ? (this.attemptOf(attemptId) ?? this.adopt(attemptId, report)) : null;
    if (attempt === null) return 'not_found';
    const failure = report.status === 'failed' ? this.withoutText(reportedFailure(report)) : null;
    // Before the report is noted: what was known before it decides.
    const to = this.moveByReport(report.status, attempt);
    const at = this.timeOf(report);
    this.noteReport(attempt, report, failure);
    if (to !== null)
      this.move(to, at, attempt, failure === null ? NO_FAILURE : { ...failure, code: textOf(failure.code) });
    // `counts` by now: the move may have made this attempt the one. WhatsApp's id is that of the attempt that counts; before that is known, of another one that moved the message.
    const isShown = this.work === null && (this.counts(attempt) || (to !== null && this.state.metaMessageId === null));
    if (isShown && !this.isErased) this.state.metaMessageId = report.metaMessageId;
    // A price without a move is not kept while the message is in the queue: later reports have it again.
    if (this.work === null) this.notePrice(report);
    this.isReported = true;
    return to === null ? 'late' : 'recorded';
  }

  private moveByReport(status: StatusReport['status'], attempt: AttemptFacts): OutboundStatus | null {
    if (status === 'sent' && hasFailed(attempt)) return null;
    return nextStatus(this.status, `${this.counts(attempt) ? 'own' : 'other'}_${status}`);
  }

  /** WhatsApp's clock may run ahead of ours. */
  private timeOf({ occurredAt }: StatusReport): number {
    return occurredAt === null ? this.now : Math.min(occurredAt.getTime() * 1_000, this.now);
  }

  private notePrice({ pricing }: StatusReport): void {
    const { state } = this;
    if (pricing === null || (state.pricingCategory ?? state.pricingType) !== null) return;
    state.billable ??= pricing.billable;
    state.pricingCategory = pricing.category;
    state.pricingType = pricing.type;
    state.pricingSubtype = pricing.subtype;
    state.pricingModel = pricing.model;
  }

  /** A status is never left for an earlier one, and no event tells of it. */
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

  private endLease(attemptId: string): Result {
    const { work } = this;
    const attempt = work?.attemptId === attemptId ? this.attemptOf(attemptId) : null;
    if (work === null || attempt === null) return 'not_found';
    if ((work.leaseUntil ?? 0) >= this.now) return 'late';
    this.change(attempt, { leaseEndedAt: this.now });
    this.move('outcome_unknown', this.now, attempt, NO_FAILURE);
    return 'recorded';
  }

  private restore(before: number): Result {
    const { work } = this;
    if (work === null || (work.scheduledFor ?? work.queuedAt) >= before) return 'late';
    const attempt = work.attemptId === null ? null : this.attemptOf(work.attemptId);
    if (attempt !== null) this.change(attempt, { leaseEndedAt: this.now });
    this.move('outcome_unknown', this.now, attempt, RESTORED);
    return 'recorded';
  }

  /** Ends a message that waits, if the condition still holds: as failed, or by an earlier attempt that was accepted. */
  private failUnsent(event: StateEvent, failure: Failure, condition: (work: Work) => boolean): Result {
    const { work } = this;
    if (work === null || nextStatus(this.status, event) !== 'failed' || !condition(work)) return 'late';
    const accepted = this.isErased ? null : this.acceptedOther(null);
    if (accepted !== null) return this.endBy(accepted);
    this.move('failed', this.now, null, failure);
    return 'recorded';
  }

  private retry({ from, body }: Extract<Fact, { kind: 'retry' }>): Result {
    const { state } = this;
    if (this.work !== null || !from.includes(state.status) || this.isErased) return 'late';
    // Another copy needs the confirmation where WhatsApp has accepted one.
    if (!from.includes('outcome_unknown') && this.acceptedOther(null) !== null) return 'late';
    const counted = state.attemptId === null ? undefined : this.all.get(state.attemptId);
    if (counted !== undefined) this.replace(counted);
    this.body = body;
    state.retriedAt = this.now;
    this.enterQueue(this.now, { newDueAt: this.now, tries: 0, expiresAt: this.now + this.message.timeToLive });
    return 'recorded';
  }

  /** Of another attempt that was accepted: the retry is redundant. */
  private endBy(attempt: AttemptFacts, from = this.status): Result {
    this.move('accepted', this.now, attempt, NO_FAILURE, from);
    this.state.metaMessageId = attempt.metaMessageId;
    return 'retry_canceled';
  }

  /** The message waits again: in its place where it is still in the queue, else behind what its recipient has waiting by now. */
  private queueAgain(attempt: AttemptFacts, { delayMs = 0, tries = 0 }: OutcomeRecord): void {
    this.replace(attempt);
    const newDueAt = this.now + delayMs * 1_000;
    const { work, state } = this;
    if (work !== null) {
      Object.assign(work, {
        attemptId: null,
        claimedAt: null,
        leaseUntil: null,
        newDueAt,
        tries: Math.max(work.tries, tries),
      });
      return;
    }
    // What a lost claim put back does not know how often the message was deferred before.
    const kept = { tries: Math.max(state.tries, tries), expiresAt: state.queuedAt + this.message.timeToLive };
    this.enterQueue(state.queuedAt, { newDueAt, ...kept });
  }

  /** Nothing of the last attempt is shown of a message that waits, nor what it cost. */
  private enterQueue(queuedAt: number, work: Pick<Work, 'newDueAt' | 'tries' | 'expiresAt'>): void {
    const { attemptCount, eventCount, retriedAt, tries } = this.state;
    const attempt = { attemptId: null, claimedAt: null, leaseUntil: null, attemptNumber: attemptCount };
    this.work = { queuedAt, isHeld: false, isPaused: false, scheduledFor: null, ...attempt, ...work };
    Object.assign(this.state, EMPTY, { status: 'queued', queuedAt, attemptCount, eventCount, retriedAt, tries });
  }

  /** @param attempt the one that counts from now on; null: none. */
  private leaveQueue(attempt: AttemptFacts | null): void {
    const { work, state } = this;
    if (work === null) return;
    const inFlight = work.attemptId === null ? null : this.attemptOf(work.attemptId);
    // Its own answer is still to come.
    if (inFlight !== null && inFlight !== attempt) this.replace(inFlight);
    if (attempt !== null) this.count(attempt);
    this.hasUnsentRetry ||= inFlight === null && attempt !== null && attempt.startedAt < (state.retriedAt ?? 0);
    state.queuedAt = Math.min(work.queuedAt, attempt?.startedAt ?? Infinity);
    state.processingAt = attempt?.startedAt ?? null;
    state.attemptId = attempt?.id ?? null;
    state.attemptNumber = attempt?.number ?? work.attemptNumber;
    state.attemptCount = work.attemptNumber;
    state.tries = work.tries;
    this.work = null;
  }

  /** @param from what the event says it was before: the last status that was stored. */
  private move(
    to: OutboundStatus,
    time: number,
    attempt: AttemptFacts | null,
    failure: Failure,
    from = this.status,
  ): void {
    // WhatsApp reports whole seconds, so its time may lie before that of the state which it follows.
    const at = Math.max(time, this.latestAt());
    this.leaveQueue(attempt);
    const { state } = this;
    state.status = to;
    state.changedAt = at;
    state.eventCount++;
    Object.assign(state, failureColumns(failure));
    state.failedAt = null;
    if (to in TIMES) state[TIMES[to as keyof typeof TIMES]] = at;
    this.events.push({
      from,
      to,
      at,
      attempt: attempt?.number ?? state.attemptNumber,
      failure,
      sequence: state.eventCount,
    });
  }

  private replace(attempt: AttemptFacts): void {
    this.change(attempt, { replacedAt: this.now });
  }

  private count(attempt: AttemptFacts): void {
    if (attempt.replacedAt !== null) this.change(attempt, { replacedAt: null });
  }

  /** Whatever changes of an attempt is to be written. */
  private change(attempt: AttemptFacts, facts: Partial<AttemptFacts>): void {
    Object.assign(attempt, facts);
    this.changedAttempts.add(attempt);
  }

  private counts({ id }: AttemptFacts): boolean {
    return id === (this.work === null ? this.state.attemptId : this.work.attemptId);
  }

  /** Of those attempts that were accepted and have not failed the last one. */
  private acceptedOther(id: string | null): AttemptFacts | null {
    const accepted = [...this.all.values()].filter((each) => each.id !== id && isProof(each));
    return accepted.reduce<AttemptFacts | null>(
      (last, each) => (last && last.number > each.number ? last : each),
      null,
    );
  }

  /** Null: the message has no such attempt. One in flight gets a row with the first fact. */
  private attemptOf(id: string): AttemptFacts | null {
    const known = this.all.get(id);
    if (known !== undefined) return known;
    const { work } = this;
    if (work === null || work.attemptId !== id) return null;
    const made = newAttempt(id, work.attemptNumber, work.claimedAt ?? this.now);
    this.all.set(id, made);
    this.newAttempts.add(made);
    return made;
  }

  /** Of a restored message the backup may not know the last attempt: a report with its id shows that it was made, and it counts. */
  private adopt(id: string, report: StatusReport): AttemptFacts | null {
    const { state } = this;
    if (this.status !== 'outcome_unknown' || state.errorCode !== RESTORED.code) return null;
    const counted = state.attemptId === null ? undefined : this.all.get(state.attemptId);
    if (counted !== undefined) this.replace(counted);
    const number = Math.max(state.attemptCount, ...[...this.all.values()].map((each) => each.number)) + 1;
    const made = newAttempt(id, number, Math.max(this.timeOf(report), state.queuedAt));
    this.all.set(id, made);
    this.newAttempts.add(made);
    Object.assign(state, { attemptId: id, attemptNumber: number, attemptCount: number, processingAt: made.startedAt });
    return made;
  }

  private noteAnswer(attempt: AttemptFacts, record: OutcomeRecord, answer: Answer): void {
    if (!replacesAnswer(attempt.answer, answer)) return;
    const { httpStatus = null, platformCode = null, platformMessage = null, category = null } = record;
    const { metaMessageId = null, traceId = null } = record;
    const named = this.isErased
      ? { text: null, traceId: null }
      : { text: platformMessage, traceId, metaMessageId: attempt.metaMessageId ?? metaMessageId };
    const answeredAt = Math.max(this.now, attempt.startedAt);
    this.change(attempt, { answer, answeredAt, httpStatus, code: platformCode, category, ...named });
  }

  /** Keeps what the report says beyond what is known of the attempt: nothing, where an accepted attempt was `sent`, say. */
  private noteReport(attempt: AttemptFacts, report: StatusReport, failure: ReportedFailure | null): void {
    const isNews = failure !== null || !isAccepted(attempt) || (attempt.metaMessageId === null && !this.isErased);
    if (!isNews) return;
    const metaMessageId = attempt.metaMessageId ?? (this.isErased ? null : report.metaMessageId);
    if (failure === null) {
      this.change(attempt, { metaMessageId, takenAt: isAccepted(attempt) ? attempt.takenAt : this.now });
      return;
    }
    const { code: failedCode, message: failedText, category: failedCategory } = failure;
    this.change(attempt, { metaMessageId, failedAt: this.now, failedCode, failedText, failedCategory });
  }

  private failureOf({ category = null, platformCode = null, platformMessage = null }: OutcomeRecord): Failure {
    return this.withoutText({ category, code: textOf(platformCode), message: platformMessage });
  }

  /** What WhatsApp says of a failure may name the recipient. */
  private withoutText<F extends { message: string | null }>(failure: F): F {
    return this.isErased ? { ...failure, message: null } : failure;
  }

  /** No event of a message lies before the one that it follows, nor before its request. */
  private latestAt(): number {
    const { work, state } = this;
    return Math.max(state.changedAt ?? 0, work?.queuedAt ?? state.queuedAt, work?.claimedAt ?? 0);
  }
}

const TIMES = {
  accepted: 'acceptedAt',
  sent: 'sentAt',
  delivered: 'deliveredAt',
  read: 'readAt',
  failed: 'failedAt',
} as const satisfies Partial<Record<OutboundStatus, keyof MessageState>>;

const RANK_OF_APP: Readonly<Partial<Record<OutboundStatus, number>>> & Record<StatusReport['status'], number> = {
  sent: 1,
  failed: 2,
  delivered: 3,
  read: 4,
};

const EMPTY: Partial<MessageState> = {
  processingAt: null,
  acceptedAt: null,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  failedAt: null,
  metaMessageId: null,
  failureCategory: null,
  errorCode: null,
  errorMessage: null,
  attemptId: null,
  billable: null,
  pricingCategory: null,
  pricingType: null,
  pricingSubtype: null,
  pricingModel: null,
};
