import type { ClaimedMessage } from '../../src/modules/sending/claim/claim.repository.js';
import type { OutcomeRecord } from '../../src/modules/message-state/facts.types.js';

/** The outcome of an attempt that the platform took; `change` makes another of it. */
export function acceptedOutcome(
  { id, attemptId }: Pick<ClaimedMessage, 'id' | 'attemptId'>,
  change: Partial<OutcomeRecord> = {},
): OutcomeRecord {
  return {
    attemptId,
    messageId: id,
    status: 'accepted',
    metaMessageId: `wamid.${attemptId}`,
    httpStatus: 200,
    delayMs: 0,
    tries: 0,
    ...change,
  };
}
