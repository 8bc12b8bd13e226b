import type { MessageState, Work } from '../../src/modules/message-state/facts.types.js';

/** The state of a message since it was accepted. Times are microseconds since the epoch. */
export function queuedState(queuedAt: number): MessageState {
  return {
    status: 'queued',
    eventCount: 0,
    changedAt: null,
    queuedAt,
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
    attemptNumber: 0,
    attemptCount: 0,
    tries: 0,
    retriedAt: null,
    expiresAt: null,
    billable: null,
    pricingCategory: null,
    pricingType: null,
    pricingSubtype: null,
    pricingModel: null,
  };
}

/** The queue's row of a message that waits and was not claimed yet. */
export function waitingWork(change: Pick<Work, 'queuedAt' | 'expiresAt'> & Partial<Work>): Work {
  return {
    tries: 0,
    attemptNumber: 0,
    attemptId: null,
    claimedAt: null,
    leaseUntil: null,
    isHeld: false,
    isPaused: false,
    scheduledFor: null,
    newDueAt: null,
    ...change,
  };
}
