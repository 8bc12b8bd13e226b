import { deferralMs } from '../../../common/retry-schedule.js';
import type { FailureCategory } from '../../../common/failure-category.js';
import type { NotAcceptedOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import type { PlatformId } from '../media-transfer.types.js';

/** Refusals that say nothing of the file. */
const OF_THE_ACCOUNT: ReadonlySet<FailureCategory> = new Set([
  'authentication',
  'account_restricted',
  'sender_not_ready',
]);
const FOR_NOW: ReadonlySet<FailureCategory> = new Set(['rate_limited', 'platform_unavailable']);
const LONGEST_DELAY_MS = 60_000;

/**
 * What an upload that gave no id means for the messages that need it. An upload that may or may not have been taken is
 * simply made again: a copy too many harms nobody.
 *
 * @param failures how many uploads of this file came to nothing before, in a row
 */
export function verdictOf(outcome: NotAcceptedOutcome, failures: number, random = Math.random()): PlatformId {
  const { kind, category, retryAfterMs, platformMessage } = outcome;
  if (kind === 'lane_paused') return { kind: 'account', outcome };
  if (kind === 'rejected' && OF_THE_ACCOUNT.has(category)) return { kind: 'account', outcome };
  if (kind === 'rejected' && !FOR_NOW.has(category)) {
    return { kind: 'failed', message: `The platform refused the file: ${platformMessage ?? 'it gave no reason.'}` };
  }
  const delayMs = Math.min(deferralMs(failures + 1, random), LONGEST_DELAY_MS);
  return { kind: 'later', retryInMs: Math.max(delayMs, retryAfterMs ?? 0) };
}
