import { databaseClock } from '../../../common/clock.js';
import { commonErrors } from '../../../common/common.errors.js';
import { messagesErrors } from '../messages.errors.js';
import { violation } from '../../../common/shape.js';

/* Limits of the API: how far ahead a message may be scheduled, and how long it may wait after that. */
const EARLIEST_SECONDS = 10;
const LATEST_DAYS = 35;
export const TTL_SECONDS = { min: 30, max: 2_592_000 } as const;

/**
 * Checks the send time of a new message. It is not part of the shape check, so that the repeat of a used key passes at
 * any time.
 *
 * @throws SEND_AT_PASSED, VALIDATION_FAILED (422).
 */
export function requireTimeAhead(sendAt: string | undefined): void {
  if (sendAt === undefined) return;
  const aheadMs = Date.parse(sendAt) - databaseClock.now();
  if (aheadMs >= EARLIEST_SECONDS * 1_000 && aheadMs <= LATEST_DAYS * 86_400_000) return;
  if (aheadMs < EARLIEST_SECONDS * 1_000) {
    throw messagesErrors.SEND_AT_PASSED({
      earliest: new Date(databaseClock.now() + EARLIEST_SECONDS * 1_000).toISOString(),
    });
  }
  const message = `send_at must be ${EARLIEST_SECONDS} seconds to ${LATEST_DAYS} days ahead, by the time of Herald.`;
  throw commonErrors.VALIDATION_FAILED({ details: [violation('send_at', 'range', message)] });
}
