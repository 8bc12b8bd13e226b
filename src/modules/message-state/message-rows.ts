import type { OutboundStatus } from './message-state.types.js';
import type { StatusReport } from './message.types.js';
import {
  type Answer,
  type AttemptFacts,
  isAccepted,
  isKnownUnsent,
  isProof,
  newAttempt,
  replacesAnswer,
} from './attempt-facts.js';
import { failureColumns, type ReportedFailure, RESTORED } from './failures.js';
import {
  type Failure,
  type LockedMessage,
  type MessageState,
  type OutcomeRecord,
  statusOf,
  type StatusEvent,
  type Work,
} from './facts.types.js';

/**
 * The rows of one message: first as read under its lock, then as they are to be written. `MessageCase` decides what a
 * fact leads to; this class changes the rows, with each rule in one place.
 *
 * One attempt counts at a time: in the queue the attempt in flight, afterwards the one named by the state.
 */
export class MessageRows {
  readonly events: StatusEvent[] = [];
  readonly state: MessageState;
  /** The row of the queue; null: the message is not in the queue. */
  work: Work | null;
  readonly attempts: ReadonlyMap<string, AttemptFacts>;
  readonly newAttempts = new Set<AttemptFacts>();
  readonly changedAttempts = new Set<AttemptFacts>();
  /** The text that lists show; undefined: unchanged. */
  body: string | null | undefined = undefined;
  /** A report was applied: its price, or its failure, may correct the costs. */
  isReported = false;
  /** Why the message entered the queue; null: it did not. */
  entered: 'retry' | 'returned' | null = null;
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

  protected get now(): number {
    return this.message.now;
  }

  protected get blocked(): boolean {
    return this.message.claimsBlocked;
  }

  protected get isErased(): boolean {
    return this.message.recipient === null;
  }

  /** The facts applied here show, for the first time, that the last retry was not sent. */
  get showsUnsentRetry(): boolean {
    const { message, state, work } = this;
    return isRetryUnsent({ state, work, attempts: [...this.all.values()] }) && !isRetryUnsent(message);
  }

  /** The earliest time of the next event: not before the last event, nor before the message was queued or claimed. */
  protected latestAt(): number {
    const { work, state } = this;
    return Math.max(state.changedAt ?? 0, work?.queuedAt ?? state.queuedAt, work?.claimedAt ?? 0);
  }

  /** WhatsApp's clock may be ahead of the database's; a report is never in the future. */
  protected timeOf({ occurredAt }: StatusReport): number {
    return occurredAt === null ? this.now : Math.min(occurredAt.getTime() * 1_000, this.now);
  }

  /**
   * Queues the message again: at its old place if it is still in the queue, otherwise behind the messages that wait for
   * its recipient.
   */
  protected queueAgain(attempt: AttemptFacts, { delayMs = 0, tries = 0 }: OutcomeRecord): void {
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
    this.entered = 'returned';
    // The outcome of a lost claim does not know the number of earlier deferrals. A message with an unknown outcome
    // always has `expiresAt`.
    const kept = { tries: Math.max(state.tries, tries), expiresAt: state.expiresAt ?? 0 };
    this.enterQueue(state.queuedAt, { newDueAt, ...kept });
  }

  protected retryNow(): void {
    // Later than the last event even if the database's clock was set back.
    const at = Math.max(this.now, this.latestAt() + 1);
    this.entered = 'retry';
    this.state.retriedAt = at;
    this.enterQueue(at, { newDueAt: this.now, tries: 0, expiresAt: this.now + this.message.timeToLive });
  }

  /** Clears the last attempt and its costs: a waiting message shows neither. */
  private enterQueue(queuedAt: number, work: Pick<Work, 'newDueAt' | 'tries' | 'expiresAt'>): void {
    const { attemptCount, eventCount, retriedAt, tries } = this.state;
    const attempt = { attemptId: null, claimedAt: null, leaseUntil: null, attemptNumber: attemptCount };
    this.work = { queuedAt, isHeld: false, isPaused: false, scheduledFor: null, ...attempt, ...work };
    Object.assign(this.state, EMPTY, { status: 'queued', queuedAt, attemptCount, eventCount, retriedAt, tries });
  }

  /** @param attempt the attempt that counts from now on; null: none. */
  protected leaveQueue(attempt: AttemptFacts | null): void {
    const { work, state } = this;
    if (work === null) return;
    const inFlight = work.attemptId === null ? null : this.attemptOf(work.attemptId);
    // Its own answer may still come.
    if (inFlight !== null && inFlight !== attempt) this.replace(inFlight);
    if (attempt !== null) this.count(attempt);
    state.queuedAt = Math.min(work.queuedAt, attempt?.startedAt ?? Infinity);
    state.processingAt = attempt?.startedAt ?? null;
    state.attemptId = attempt?.id ?? null;
    state.attemptNumber = attempt?.number ?? work.attemptNumber;
    state.attemptCount = work.attemptNumber;
    state.tries = work.tries;
    this.work = null;
  }

  /** @param from the previous status that the event names; default: the current one. */
  protected move(
    to: OutboundStatus,
    time: number,
    attempt: AttemptFacts | null,
    failure: Failure,
    from = this.status,
  ): void {
    // WhatsApp reports whole seconds, so the reported time may be before that of the previous state.
    const at = Math.max(time, this.latestAt());
    const { state, work } = this;
    state.expiresAt = to === 'outcome_unknown' ? (work?.expiresAt ?? state.expiresAt) : null;
    this.leaveQueue(attempt);
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

  protected notePrice({ pricing }: StatusReport): void {
    const { state } = this;
    if (pricing === null || (state.pricingCategory ?? state.pricingType) !== null) return;
    state.billable ??= pricing.billable;
    state.pricingCategory = pricing.category;
    state.pricingType = pricing.type;
    state.pricingSubtype = pricing.subtype;
    state.pricingModel = pricing.model;
  }

  /** Null: the message has no such attempt. An attempt in flight gets its row with the first fact about it. */
  protected attemptOf(id: string): AttemptFacts | null {
    const known = this.all.get(id);
    if (known !== undefined) return known;
    const { work } = this;
    if (work === null || work.attemptId !== id) return null;
    const made = newAttempt(id, work.attemptNumber, work.claimedAt ?? this.now);
    this.all.set(id, made);
    this.newAttempts.add(made);
    return made;
  }

  /**
   * A restored database may lack the last attempt of a message. A report with an unknown attempt id shows that the
   * attempt was made, so it is added and counts.
   */
  protected adopt(id: string, report: StatusReport): AttemptFacts | null {
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

  protected counts({ id }: AttemptFacts): boolean {
    return id === (this.work === null ? this.state.attemptId : this.work.attemptId);
  }

  /** The last attempt other than `id` that was accepted and has not failed. */
  protected acceptedOther(id: string | null): AttemptFacts | null {
    const accepted = [...this.all.values()].filter((each) => each.id !== id && isProof(each));
    return accepted.reduce<AttemptFacts | null>(
      (last, each) => (last && last.number > each.number ? last : each),
      null,
    );
  }

  protected noteAnswer(attempt: AttemptFacts, record: OutcomeRecord, answer: Answer): void {
    if (!replacesAnswer(attempt.answer, answer)) return;
    const { httpStatus = null, platformCode = null, platformMessage = null, category = null } = record;
    const { metaMessageId = null, traceId = null } = record;
    const named = this.isErased
      ? { text: null, traceId: null }
      : { text: platformMessage, traceId, metaMessageId: attempt.metaMessageId ?? metaMessageId };
    const answeredAt = Math.max(this.now, attempt.startedAt);
    this.change(attempt, { answer, answeredAt, httpStatus, code: platformCode, category, ...named });
  }

  /** Records what is new in the report. For example, `sent` says nothing new about an accepted attempt. */
  protected noteReport(attempt: AttemptFacts, report: StatusReport, failure: ReportedFailure | null): void {
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

  protected replace(attempt: AttemptFacts): void {
    this.change(attempt, { replacedAt: this.now });
  }

  protected count(attempt: AttemptFacts): void {
    if (attempt.replacedAt !== null) this.change(attempt, { replacedAt: null });
  }

  /** Every change of an attempt is made here, so that it is written. */
  protected change(attempt: AttemptFacts, facts: Partial<AttemptFacts>): void {
    Object.assign(attempt, facts);
    this.changedAttempts.add(attempt);
  }

  /** WhatsApp's text about a failure may name the recipient, so it is dropped for an erased contact. */
  protected withoutText<F extends { message: string | null }>(failure: F): F {
    return this.isErased ? { ...failure, message: null } : failure;
  }
}

/** The message has left the queue, and every attempt since its last retry is known to be unsent. */
function isRetryUnsent({ state, work, attempts }: Pick<LockedMessage, 'state' | 'work' | 'attempts'>): boolean {
  const { retriedAt, status } = state;
  if (work !== null || retriedAt === null || status === 'outcome_unknown') return false;
  return attempts.every((each) => each.startedAt < retriedAt || isKnownUnsent(each));
}

/** The property of `MessageState` that holds the time of a status. */
export const TIMES = {
  accepted: 'acceptedAt',
  sent: 'sentAt',
  delivered: 'deliveredAt',
  read: 'readAt',
  failed: 'failedAt',
} as const satisfies Partial<Record<OutboundStatus, keyof MessageState>>;

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
  expiresAt: null,
  billable: null,
  pricingCategory: null,
  pricingType: null,
  pricingSubtype: null,
  pricingModel: null,
};
