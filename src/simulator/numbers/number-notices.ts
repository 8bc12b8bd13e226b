import { digitsOf } from '../recipient.js';
import type { SimulatorNumber } from '../simulator.types.js';
import { MESSAGING_LIMITS, type NumberFacts, QUALITY_RATINGS } from './number-facts.js';

/** One change of a management field. */
export interface NumberNotice {
  field: string;
  value: object;
}

/** What the platform tells when facts of a number change. Some changes it keeps to itself. */
export function noticesOf(number: SimulatorNumber, before: NumberFacts, after: NumberFacts): NumberNotice[] {
  return [
    ...qualityNotices(number, before, after),
    ...limitNotices(number, before, after),
    ...accountNotices(before, after),
    ...nameNotices(number, before, after),
  ];
}

function qualityNotices(number: SimulatorNumber, before: NumberFacts, after: NumberFacts): NumberNotice[] {
  const events: string[] = [];
  const [old, now] = [before, after].map(({ qualityRating }) => QUALITY_RATINGS.indexOf(qualityRating)) as [
    number,
    number,
  ];
  if (old !== now) events.push(now > old ? 'FLAGGED' : 'UNFLAGGED');
  if (before.throughput !== after.throughput && after.throughput === 'HIGH') events.push('THROUGHPUT_UPGRADE');
  return events.map((event) => qualityUpdate(number, event, after));
}

function limitNotices(number: SimulatorNumber, before: NumberFacts, after: NumberFacts): NumberNotice[] {
  const [old, now] = [before, after].map(({ messagingLimit }) => MESSAGING_LIMITS.indexOf(messagingLimit)) as [
    number,
    number,
  ];
  if (old === now) return [];
  const limit = after.messagingLimit;
  return [
    qualityUpdate(number, now > old ? 'UPGRADE' : 'DOWNGRADE', after, before.messagingLimit),
    {
      field: 'business_capability_update',
      value: { max_daily_conversations_per_business: limit, max_phone_numbers_per_waba: 25 },
    },
  ];
}

function qualityUpdate(number: SimulatorNumber, event: string, after: NumberFacts, oldLimit?: string): NumberNotice {
  return {
    field: 'phone_number_quality_update',
    value: {
      display_phone_number: digitsOf(number.displayPhoneNumber),
      event,
      ...(oldLimit === undefined ? {} : { old_limit: oldLimit }),
      current_limit: after.messagingLimit,
      max_daily_conversations_per_business: after.messagingLimit,
    },
  };
}

/** These are about the whole account, and name no number. */
function accountNotices(before: NumberFacts, after: NumberFacts): NumberNotice[] {
  if (before.status === after.status) return [];
  const update = (value: object) => [{ field: 'account_update', value }];
  const banned = (state: string) =>
    update({ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: state, waba_ban_date: dateText() } });
  if (after.status === 'BANNED') return banned('DISABLE');
  if (before.status === 'BANNED') return banned('REINSTATE');
  if (after.status === 'RESTRICTED') {
    const restriction = { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: inThreeDays() };
    return update({ event: 'ACCOUNT_RESTRICTION', restriction_info: [restriction] });
  }
  if (after.status === 'FLAGGED') {
    return update({ event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'SPAM' } });
  }
  return [];
}

function nameNotices(number: SimulatorNumber, before: NumberFacts, after: NumberFacts): NumberNotice[] {
  if (before.verifiedName === after.verifiedName) return [];
  return [
    {
      field: 'phone_number_name_update',
      value: {
        display_phone_number: digitsOf(number.displayPhoneNumber),
        decision: 'APPROVED',
        requested_verified_name: after.verifiedName,
        rejection_reason: null,
      },
    },
  ];
}

function dateText(): string {
  return new Date().toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' });
}

function inThreeDays(): number {
  return Math.floor(Date.now() / 1000) + 3 * 24 * 60 * 60;
}
