import type { FailureCategory } from '../../../common/failure-category.js';
import { deferralMs, MAX_TRIES, pairLimitMs } from '../../../common/retry-schedule.js';
import type { NotAcceptedOutcome, SendOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import type { OutcomeRecord } from './outcome.repository.js';
import type { ClaimedMessage } from './send.repository.js';

/** `tries` is not known of what a lost claim took. */
type AttemptOf = Pick<ClaimedMessage, 'id' | 'attemptId'> & Partial<Pick<ClaimedMessage, 'tries'>>;

/** What the platform's answer makes of a claimed message. */
export function recordOf(task: ClaimedMessage, outcome: SendOutcome): OutcomeRecord {
  if (outcome.kind === 'accepted') {
    return {
      ...emptyRecord(task),
      status: 'accepted',
      attemptStatus: 'accepted',
      metaMessageId: outcome.metaMessageId,
      httpStatus: outcome.httpStatus,
    };
  }
  const record: OutcomeRecord = {
    ...emptyRecord(task),
    httpStatus: outcome.httpStatus,
    platformCode: outcome.platformCode,
    platformMessage: outcome.platformMessage,
    category: outcome.category,
    traceId: outcome.traceId,
  };
  switch (outcome.kind) {
    case 'rejected':
      return { ...record, status: 'failed', attemptStatus: 'rejected' };
    case 'unknown':
      return { ...record, status: 'outcome_unknown', attemptStatus: 'unknown' };
    case 'lane_paused':
      return { ...record, status: 'queued', attemptStatus: 'deferred', delayMs: 0 };
    case 'deferred':
    case 'recipient_deferred': {
      const tries = task.tries + 1;
      if (tries >= MAX_TRIES) return { ...record, status: 'failed', attemptStatus: 'rejected' };
      const delayMs =
        outcome.kind === 'recipient_deferred' ? pairLimitMs(task.tries) : deferralMs(tries, Math.random());
      const asked = Math.max(delayMs, outcome.retryAfterMs ?? 0);
      return { ...record, status: 'queued', attemptStatus: 'deferred', delayMs: asked, tries };
    }
  }
}

/** Claimed, but definitely not written: back to the queue, and the attempt does not count. */
export function putBack(task: AttemptOf, delayMs = 0): OutcomeRecord {
  return { ...emptyRecord(task), delayMs };
}

/** A message that Herald itself gives up before anything of it is sent. */
export function refusal(category: FailureCategory, message: string): NotAcceptedOutcome {
  return {
    kind: 'rejected',
    httpStatus: null,
    platformCode: null,
    platformMessage: message,
    category,
    traceId: null,
    retryAfterMs: null,
    written: false,
  };
}

function emptyRecord(task: AttemptOf): OutcomeRecord {
  return {
    attemptId: task.attemptId,
    messageId: task.id,
    status: 'queued',
    attemptStatus: 'deferred',
    metaMessageId: null,
    httpStatus: null,
    platformCode: null,
    platformMessage: null,
    category: null,
    traceId: null,
    delayMs: 0,
    tries: task.tries ?? 0,
  };
}
