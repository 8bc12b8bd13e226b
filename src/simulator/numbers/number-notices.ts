import { digitsOf } from '../people.js';
import type { SimulatorNumber } from '../simulator.types.js';
import { MESSAGING_LIMITS, type NumberFacts, QUALITY_RATINGS } from './numbers.js';

/** A management field, and its value. */
type NumberNotice = [field: string, value: object];

/** What the platform reports when facts of a number change. Some changes it keeps to itself. */
export function noticesOf(number: SimulatorNumber, before: NumberFacts, after: NumberFacts): NumberNotice[] {
  const { status, messagingLimit } = after;
  const notices: NumberNotice[] = [];
  const display_phone_number = digitsOf(number.displayPhoneNumber);
  const qualityUpdate = (event: string, old_limit?: string) => {
    const limits = { old_limit, current_limit: messagingLimit, max_daily_conversations_per_business: messagingLimit };
    notices.push(['phone_number_quality_update', { display_phone_number, event, ...limits }]);
  };
  const accountUpdate = (event: string, info: object) => notices.push(['account_update', { event, ...info }]);

  const worse = QUALITY_RATINGS.indexOf(after.qualityRating) - QUALITY_RATINGS.indexOf(before.qualityRating);
  if (worse !== 0) qualityUpdate(worse > 0 ? 'FLAGGED' : 'UNFLAGGED');
  if (before.throughput !== after.throughput && after.throughput === 'HIGH') qualityUpdate('THROUGHPUT_UPGRADE');

  const higher = MESSAGING_LIMITS.indexOf(messagingLimit) - MESSAGING_LIMITS.indexOf(before.messagingLimit);
  if (higher !== 0) {
    qualityUpdate(higher > 0 ? 'UPGRADE' : 'DOWNGRADE', before.messagingLimit);
    const capability = { max_daily_conversations_per_business: messagingLimit, max_phone_numbers_per_waba: 25 };
    notices.push(['business_capability_update', capability]);
  }

  // These are about the whole account, and name no number.
  if (before.status !== status) {
    const ban = (waba_ban_state: string) => ({ ban_info: { waba_ban_state, waba_ban_date: dateText() } });
    if (status === 'BANNED') accountUpdate('DISABLED_UPDATE', ban('DISABLE'));
    else if (before.status === 'BANNED') accountUpdate('DISABLED_UPDATE', ban('REINSTATE'));
    else if (status === 'RESTRICTED') {
      const restriction = { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: inThreeDays() };
      accountUpdate('ACCOUNT_RESTRICTION', { restriction_info: [restriction] });
    } else if (status === 'FLAGGED') accountUpdate('ACCOUNT_VIOLATION', { violation_info: { violation_type: 'SPAM' } });
  }

  if (before.verifiedName !== after.verifiedName) {
    const decided = { decision: 'APPROVED', requested_verified_name: after.verifiedName, rejection_reason: null };
    notices.push(['phone_number_name_update', { display_phone_number, ...decided }]);
  }
  return notices;
}

function dateText(): string {
  return new Date().toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' });
}

function inThreeDays(): number {
  return Math.floor(Date.now() / 1000) + 3 * 24 * 60 * 60;
}
