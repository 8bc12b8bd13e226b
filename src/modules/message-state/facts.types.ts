import type { TraceContext } from '../../infrastructure/operations/tracing.js';
import type { OutboundStatus } from './message-state.types.js';
import type { StatusReport } from './message.types.js';
import type { AttemptFacts } from './attempt-facts.js';

/** What WhatsApp answered to the request of an attempt; what is absent is null. */
export interface OutcomeRecord {
  attemptId: string;
  messageId: string;
  /** Of the message, if this attempt is the one that counts. The attempt's answer follows from it (`ANSWERS` in message-case.ts). */
  status: Extract<OutboundStatus, 'accepted' | 'failed' | 'queued' | 'outcome_unknown'>;
  metaMessageId?: string | null;
  httpStatus?: number | null;
  platformCode?: number | null;
  platformMessage?: string | null;
  category?: string | null;
  traceId?: string | null;
  /** With `queued`: milliseconds until the next attempt. */
  delayMs?: number;
  /** With `queued`: deferrals that count so far, this one included. */
  tries?: number;
}

interface Of<K extends string> {
  kind: K;
  messageId: string;
}

/**
 * What can be learned or decided of an outbound message. A fact says what its finder saw, and `MessageCase` checks it again under the
 * message's lock.
 */
export type Fact =
  | (Of<'answer'> & OutcomeRecord)
  /** The endpoint refused the attempt: the message goes by the other one at once, within the same lease. */
  | (Of<'next_attempt'> & { refused: OutcomeRecord; nextAttemptId: string })
  | (Of<'report'> & { attemptId: string; report: StatusReport })
  /** A status of a message that was sent in the WhatsApp Business app: it has no attempt, and its moves no events. */
  | (Of<'report_of_app'> & { report: StatusReport })
  | (Of<'lease_ended'> & { attemptId: string })
  /** `resumed`: it was held by its tag, which is being resumed. */
  | (Of<'expired'> & { resumed?: boolean })
  /** `before`: by its tag, as it was accepted, or last retried, before this time (microseconds). `apiKeyId`: whose request it was; none: its tag's. */
  | (Of<'canceled'> & { before?: number | undefined; apiKeyId?: string | undefined })
  | Of<'erased'>
  /** It may have been sent after the backup, of this time, was made. */
  | (Of<'restored'> & { before: number })
  /** `body`: what lists show of it, as the text of a template may have changed. `apiKeyId` as of `canceled`. */
  | (Of<'retry'> & { from: readonly OutboundStatus[]; body: string | null; apiKeyId?: string | undefined })
  /** Its time has come, and it may not be sent as things are. */
  | (Of<'release_refused'> & { failure: Failure });

export interface Failure {
  category: string | null;
  /** WhatsApp's code, or a word of Herald's own. */
  code: string | null;
  message: string | null;
}

/**
 * What a fact led to. `recorded`: it was applied. `retry_canceled`: of an answer, which showed that a retry is redundant; the message
 * is `accepted`. `late`: it changes nothing of the message any more, at most its attempt. `not_found`: no such message or attempt.
 */
export type Result = 'recorded' | 'retry_canceled' | 'late' | 'not_found';

export interface Applied {
  result: Result;
  /** Whether the status moved, which has an event. */
  moved: boolean;
  /** Null where it was not found. */
  message: LockedMessage | null;
}

/** A row of `message_state`. Times are microseconds since the epoch. */
export interface MessageState {
  status: OutboundStatus;
  eventCount: number;
  /** Of the last event. */
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
  /** The attempt that counts; null while the message is in the queue, and where it ended without one. */
  attemptId: string | null;
  attemptNumber: number;
  /** Written back when the message leaves the queue, as is `tries`. */
  attemptCount: number;
  tries: number;
  /** Of its last retry by a caller or its tag: behind every earlier attempt and event, before every later one. */
  retriedAt: number | null;
  /** With an unknown outcome: until when it may wait where it returns to the queue. Null in other states. */
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
  /** In flight; else null, as are the next two. */
  attemptId: string | null;
  claimedAt: number | null;
  leaseUntil: number | null;
  /** It is no part of its recipient's order: it is to go later, or its tag is paused. */
  isHeld: boolean;
  isPaused: boolean;
  /** The time that its caller gave, until its release. */
  scheduledFor: number | null;
  /** It is to be due then; null: that stays as it is, as of all that is read. */
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
  /** Whose messages go one after the other: the number that it was sent to, or a user id where no number is known; null: it was erased. */
  recipient: string | null;
  /** Microseconds that it may wait. */
  timeToLive: number;
  /** Of the request that it came with, where its trace is recorded. */
  traceContext: TraceContext | null;
  state: MessageState;
  work: Work | null;
  attempts: AttemptFacts[];
  /** The database is another one than the operator confirmed: what waits may have been sent. */
  claimsBlocked: boolean;
  now: number;
}

/** One move of a message, which is announced. Times are microseconds since the epoch. */
export interface StatusEvent {
  from: OutboundStatus;
  to: OutboundStatus;
  at: number;
  /** The number of the attempt that it is about; 0: none was made. */
  attempt: number;
  failure: Failure;
  sequence: number;
}

/** `processing`: it is in flight; the row of its state says `queued` until the outcome. */
export function statusOf({ state, work }: Pick<LockedMessage, 'state' | 'work'>): OutboundStatus {
  if (work === null) return state.status;
  return work.attemptId === null ? 'queued' : 'processing';
}
