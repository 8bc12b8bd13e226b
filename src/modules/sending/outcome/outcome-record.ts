import type { FailureCategory } from '../../../common/failure-category.js';
import { deferralMs, MAX_TRIES, pairLimitMs } from '../../../common/retry-schedule.js';
import type { NotAcceptedOutcome, SendOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import type { OutcomeRecord } from '../../message-state/facts.types.js';
import type { ClaimedMessage } from '../claim/claim.repository.js';

/** `tries` is not known of what a lost claim took. */
type AttemptOf = Pick<ClaimedMessage, 'id' | 'attemptId'> & Partial<Pick<ClaimedMessage, 'tries'>>;

/**
 * What WhatsApp's answer makes of a claimed message, and what it is called.
 *
 * | `outcome.kind`               | Called    | `status`                                         | Of the attempt             |
 * | ---------------------------- | --------- | ------------------------------------------------ | -------------------------- |
 * | accepted                     | accepted  | accepted                                         | accepted                   |
 * | rejected                     | refused   | failed                                           | rejected                   |
 * | unknown                      | unknown   | outcome_unknown                                  | unknown                    |
 * | deferred, recipient_deferred | "not now" | queued: released. After `MAX_TRIES` tries failed | deferred; then rejected    |
 * | lane_paused, which is no try | "not now" | queued: released                                 | deferred                   |
 */
export function recordOf(task: ClaimedMessage, outcome: SendOutcome): OutcomeRecord {
  const { id: messageId, attemptId, tries: triesBefore } = task;
  if (outcome.kind === 'accepted') {
    const { metaMessageId, httpStatus } = outcome;
    return { attemptId, messageId, status: 'accepted', metaMessageId, httpStatus };
  }
  const { httpStatus, platformCode, platformMessage, category, traceId } = outcome;
  const record = { attemptId, messageId, httpStatus, platformCode, platformMessage, category, traceId };
  switch (outcome.kind) {
    case 'rejected':
      return { ...record, status: 'failed' };
    case 'unknown':
      return { ...record, status: 'outcome_unknown' };
    case 'lane_paused':
      return { ...record, status: 'queued', delayMs: 0, tries: triesBefore };
    case 'deferred':
    case 'recipient_deferred': {
      const tries = triesBefore + 1;
      if (tries >= MAX_TRIES) return { ...record, status: 'failed' };
      const leastMs =
        outcome.kind === 'recipient_deferred' ? pairLimitMs(triesBefore) : deferralMs(tries, Math.random());
      const delayMs = Math.max(leastMs, outcome.retryAfterMs ?? 0);
      return { ...record, status: 'queued', delayMs, tries };
    }
  }
}

/** Of an attempt after which the message goes by the other endpoint at once: it does not count as a try. */
export function refusedByEndpoint(task: ClaimedMessage, outcome: NotAcceptedOutcome): OutcomeRecord {
  const { httpStatus, platformCode, platformMessage, category, traceId } = outcome;
  return { ...released(task), httpStatus, platformCode, platformMessage, category, traceId };
}

/** Claimed, but definitely not written: back to the queue, and the attempt does not count. */
export function released({ id: messageId, attemptId, tries = 0 }: AttemptOf, delayMs = 0): OutcomeRecord {
  return { attemptId, messageId, status: 'queued', delayMs, tries };
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
