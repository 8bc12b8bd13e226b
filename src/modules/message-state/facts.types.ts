import type { TraceContext } from '../../infrastructure/operations/tracing.js';
import type { OutboundStatus } from './message-state.types.js';
import type { StatusReport } from './message.types.js';
import type { AttemptFacts } from './attempt-facts.js';

/** WhatsApp's answer to the request of an attempt; absent fields are null. */
export interface OutcomeRecord {
  attemptId: string;
  messageId: string;
  /**
   * The status that the message gets if this attempt counts. It also determines the attempt's answer (`ANSWERS` in
   * message-case.ts).
   */
  status: Extract<OutboundStatus, 'accepted' | 'failed' | 'queued' | 'outcome_unknown'>;
  metaMessageId?: string | null;
  httpStatus?: number | null;
  platformCode?: number | null;
  platformMessage?: string | null;
  category?: string | null;
  traceId?: string | null;
  /** With `queued`: milliseconds until the next attempt. */
  delayMs?: number;
  /** With `queued`: deferrals so far that count, including this one. */
  tries?: number;
}

interface Of<K extends string> {
  kind: K;
  messageId: string;
}

/**
 * What can be learned or decided about an outbound message. A fact states what its source saw; `MessageCase` checks it
 * again under the message's lock.
 */
export type Fact =
  | (Of<'answer'> & OutcomeRecord)
  /** The endpoint refused the attempt: the message goes to the other endpoint at once, within the same lease. */
  | (Of<'next_attempt'> & { refused: OutcomeRecord; nextAttemptId: string })
  | (Of<'report'> & { attemptId: string; report: StatusReport })
  /**
   * A status of a message that was sent in the WhatsApp Business app. Such a message has no attempts, and its changes
   * produce no events.
   */
  | (Of<'report_of_app'> & { report: StatusReport })
  | (Of<'lease_ended'> & { attemptId: string })
  /** `resumed`: the message is held by its tag, and is about to be released by a resume or by the tag's pace. */
  | (Of<'expired'> & { resumed?: boolean })
  /**
   * `before`: set by a cancel of the tag; only messages accepted or last retried before this time (microseconds).
   * `apiKeyId`: the key of the request; absent for a cancel of the tag.
   */
  | (Of<'canceled'> & { before?: number | undefined; apiKeyId?: string | undefined })
  | Of<'erased'>
  /** The message may have been sent since the backup; only where it was queued before this time (microseconds). */
  | (Of<'restored'> & { before: number })
  /** `body`: the text that lists show, since a template's text may have changed. `apiKeyId`: as for `canceled`. */
  | (Of<'retry'> & { from: readonly OutboundStatus[]; body: string | null; apiKeyId?: string | undefined })
  /** A scheduled message is due, but may not be sent now. */
  | (Of<'release_refused'> & { failure: Failure });

export interface Failure {
  category: string | null;
  /** WhatsApp's code, or a code of Herald's own. */
  code: string | null;
  message: string | null;
}

/**
 * What a fact led to. `recorded`: it was applied. `retry_canceled`: another attempt than the retry's was accepted, so
 * the retry is redundant; the message is `accepted`. `late`: it no longer changes the message, at most its attempt.
 * `not_found`: there is no such message or attempt.
 */
export type Result = 'recorded' | 'retry_canceled' | 'late' | 'not_found';

export interface Applied {
  result: Result;
  /** Whether the status changed, which produces an event. */
  moved: boolean;
  /** Null where the message was not found. */
  message: LockedMessage | null;
}

/** A row of `message_state`. Times are microseconds since the epoch. */
export interface MessageState {
  status: OutboundStatus;
  eventCount: number;
  /** When the last event occurred. */
  changedAt: number | null;
  queuedAt: number;
  processingAt: number | null;
  acceptedAt: number | null;
  sentAt: number | null;
  deliveredAt: number | null;
  readAt: number | null;
  failedAt: number | null;
  metaMessageId: string | null;
  failureCategory: string | null;
  errorCode: string | null;
  errorMessage: string | null;
  /**
   * The attempt that counts; null while the message is in the queue, and for a message that ended without an attempt.
   */
  attemptId: string | null;
  attemptNumber: number;
  /** Like `tries`, updated when the message leaves the queue. */
  attemptCount: number;
  tries: number;
  /**
   * When a caller or its tag last retried it: later than every earlier attempt and event, earlier than every following
   * one.
   */
  retriedAt: number | null;
  /** While the outcome is unknown: when the message expires if it returns to the queue. Null in other states. */
  expiresAt: number | null;
  billable: boolean | null;
  pricingCategory: string | null;
  pricingType: string | null;
  pricingSubtype: string | null;
  pricingModel: string | null;
}

/** A row of `message_queue`. */
export interface Work {
  queuedAt: number;
  expiresAt: number;
  tries: number;
  attemptNumber: number;
  /** The attempt in flight; null while the message waits, as are the next two. */
  attemptId: string | null;
  claimedAt: number | null;
  leaseUntil: number | null;
  /** The message is outside its recipient's order: it is scheduled for later, or its tag is paused. */
  isHeld: boolean;
  isPaused: boolean;
  /** The time that the caller gave; null once the message is released. */
  scheduledFor: number | null;
  /** The new due time; null: unchanged, as in every row that was read. */
  newDueAt: number | null;
}

/** A message as `FactsService.apply` has locked and read it. */
export interface LockedMessage {
  id: string;
  organizationId: string;
  connectionId: string;
  conversationId: string | null;
  createdAt: number;
  tag: string | null;
  /**
   * Messages with the same key leave in order: the number, or the user id where no number is known; null: the contact
   * was erased.
   */
  recipient: string | null;
  /** How long it may wait, in microseconds. */
  timeToLive: number;
  /** The trace of the request that brought it, where traces are recorded. */
  traceContext: TraceContext | null;
  state: MessageState;
  work: Work | null;
  attempts: AttemptFacts[];
  /**
   * Claims are blocked: this is another database than the operator confirmed, so waiting messages may have been sent
   * already.
   */
  claimsBlocked: boolean;
  now: number;
}

/** One change of a message's status, which becomes an event. Times are microseconds since the epoch. */
export interface StatusEvent {
  from: OutboundStatus;
  to: OutboundStatus;
  at: number;
  /** The number of the attempt concerned; 0: there was none. */
  attempt: number;
  failure: Failure;
  sequence: number;
}

/** `processing` means in flight: the row in `message_state` still says `queued` until the outcome. */
export function statusOf({ state, work }: Pick<LockedMessage, 'state' | 'work'>): OutboundStatus {
  if (work === null) return state.status;
  return work.attemptId === null ? 'queued' : 'processing';
}
