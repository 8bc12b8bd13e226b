import { own, ownId, ownInteger, ownObject, ownText } from '../../infrastructure/whatsapp/json-access.js';
import type { PlatformPhoneNumber } from '../../infrastructure/whatsapp/cloud-api-client.js';
import type { ManagementNotification } from '../../infrastructure/whatsapp/webhook-payload.js';
import type { ConnectionFacts, ConnectionStatus } from './connections.types.js';

/** Messages a second for WhatsApp's levels (Cloud API, throughput). */
const THROUGHPUT: ReadonlyMap<string | null, number> = new Map([
  ['STANDARD', 80],
  ['HIGH', 1_000],
]);

/** The same for a number that is also used in the WhatsApp Business app, at any level. */
const COEXISTENCE_THROUGHPUT = 20;

/**
 * WhatsApp's word for a number's state, and ours. FLAGGED is a warning about quality: such a number still sends. An
 * unlisted word changes nothing.
 */
const STATUS: ReadonlyMap<string | null, ConnectionStatus> = new Map([
  ['CONNECTED', 'connected'],
  ['FLAGGED', 'connected'],
  ['LINKED', 'connected'],
  ['PENDING', 'pending'],
  ['UNVERIFIED', 'pending'],
  ['RESTRICTED', 'restricted'],
  ['RATE_LIMITED', 'restricted'],
  ['BANNED', 'disconnected'],
  ['DISCONNECTED', 'disconnected'],
  ['UNLINKED', 'disconnected'],
  ['DELETED', 'disconnected'],
  ['MIGRATED', 'disconnected'],
]);

/** The facts from WhatsApp's answer that a connection stores. */
/** @param marketingStatus of the account; null where it could not be read */
export function factsOf(number: PlatformPhoneNumber, marketingStatus: string | null): ConnectionFacts {
  const { verifiedName, qualityRating, messagingLimit, throughputLevel, status, isOnBizApp, platformType } = number;
  const isShared = isOnBizApp && (platformType === null || platformType === 'CLOUD_API');
  return {
    verifiedName,
    qualityRating: qualityRating === 'NA' ? 'UNKNOWN' : qualityRating,
    messagingLimit: limitOf(messagingLimit),
    throughputPerSecond: isShared ? COEXISTENCE_THROUGHPUT : (THROUGHPUT.get(throughputLevel) ?? null),
    status: STATUS.get(status) ?? null,
    marketingStatus,
  };
}

/** A report about the numbers of an account. */
export interface AccountEvents {
  /** The account; the entry's id may be that of the portfolio. */
  wabaId: string | null;
  /** Digits of the only number concerned; null: every number of the account. */
  number: string | null;
  /** The limit of the portfolio, which its other accounts share. */
  messagingLimit: string | null;
  restriction: 'begins' | 'ends' | null;
  /** With `begins`: the end, if WhatsApp reported it. */
  restrictedUntil: Date | null;
  /** The account was removed from the app, or from WhatsApp. */
  removed: boolean;
  /** WhatsApp's time, in whole seconds: newer facts about a number take precedence. */
  occurredAt: Date | null;
}

/** Events of `account_update`, and states of a ban, after which the account may send less, or again. */
const RESTRICTIONS: ReadonlyMap<string, 'begins' | 'ends'> = new Map([
  ['ACCOUNT_RESTRICTION', 'begins'],
  ['ACCOUNT_RECONNECTED', 'ends'],
  ['DISABLED_UPDATE DISABLE', 'begins'],
  ['DISABLED_UPDATE REINSTATE', 'ends'],
]);

/** Events of `account_update` after which the app can't use the account. */
const REMOVALS: ReadonlySet<string> = new Set(['ACCOUNT_DELETED', 'ACCOUNT_OFFBOARDED', 'PARTNER_REMOVED']);

/** Fields whose reports mean only that something changed. */
const ASK_AGAIN: ReadonlySet<string> = new Set([
  'phone_number_name_update',
  'account_review_update',
  'account_alerts',
  'security',
]);

/** A time beyond the year 2100 is an error. Milliseconds. */
const MAX_TIME = 4_102_444_800_000;

/** Reads a notification; null where it is not about numbers. Any value may be missing or of another type. */
export function readAccountEvents({ field, value, wabaId, occurredAt }: ManagementNotification): AccountEvents | null {
  const event = ownText(value, 'event') ?? '';
  const said: AccountEvents = {
    wabaId: ownId(ownObject(value, 'waba_info'), 'waba_id') ?? wabaId,
    number: digitsOf(ownText(value, 'display_phone_number')),
    messagingLimit: null,
    restriction: null,
    restrictedUntil: null,
    removed: false,
    occurredAt,
  };
  switch (field) {
    case 'phone_number_quality_update':
      // In this event the limit is the number of messages a second.
      if (event === 'THROUGHPUT_UPGRADE') return said;
      return { ...said, messagingLimit: limitOf(value.current_limit) ?? portfolioLimit(value) };
    case 'business_capability_update':
      return { ...said, messagingLimit: portfolioLimit(value) };
    case 'account_update': {
      const number = digitsOf(ownText(value, 'phone_number'));
      const ban = ownText(value.ban_info, 'waba_ban_state') ?? '';
      const restrictions = restrictionsOf(value.restriction_info);
      const restriction =
        event === 'ACCOUNT_RESTRICTION' && !restrictions.some(isOfMessages)
          ? null
          : (RESTRICTIONS.get(event) ?? RESTRICTIONS.get(`${event} ${ban}`) ?? null);
      const restrictedUntil = restriction === 'begins' ? endOf(restrictions.filter(isOfMessages)) : null;
      return { ...said, number, restriction, restrictedUntil, removed: REMOVALS.has(event) };
    }
    default:
      return ASK_AGAIN.has(field) ? said : null;
  }
}

function restrictionsOf(info: unknown): unknown[] {
  return Array.isArray(info) ? info : [info];
}

/** Restrictions of templates, of calls and of adding numbers do not affect sending. One without a type may be any. */
function isOfMessages(restriction: unknown): boolean {
  const type = ownText(restriction, 'restriction_type');
  return type === null || type.endsWith('_MESSAGING');
}

/** The latest end of the restrictions, in seconds or as a date. */
function endOf(restrictions: readonly unknown[]): Date | null {
  const ends = restrictions.flatMap((item) => {
    const end = own(item, 'expiration');
    if (typeof end === 'number') return end * 1_000;
    return typeof end === 'string' ? Date.parse(end) : [];
  });
  const latest = Math.max(...ends.filter((end) => end > 0 && end < MAX_TIME));
  return Number.isFinite(latest) ? new Date(latest) : null;
}

/** WhatsApp's tiers by the number of people; it reports either, and the number as text too. */
const TIERS: ReadonlyMap<number, string> = new Map([
  [50, 'TIER_50'],
  [250, 'TIER_250'],
  [1_000, 'TIER_1K'],
  [2_000, 'TIER_2K'],
  [10_000, 'TIER_10K'],
  [100_000, 'TIER_100K'],
  [-1, 'TIER_UNLIMITED'],
]);

function portfolioLimit(value: Record<string, unknown>): string | null {
  return limitOf(value.max_daily_conversations_per_business) ?? limitOf(value.max_daily_conversation_per_phone);
}

/** TIER_NOT_SET is reported for a number that was never used: no limit is known. */
function limitOf(limit: unknown): string | null {
  const people = ownInteger({ limit }, 'limit');
  if (people !== null) return TIERS.get(people) ?? null;
  const isTier = typeof limit === 'string' && /^TIER_[A-Z0-9_]{1,40}$/.test(limit);
  return isTier && limit !== 'TIER_NOT_SET' ? limit : null;
}

/** Digits of a displayed number; null where it has none. */
export function digitsOf(displayed: string | null): string | null {
  return displayed?.replaceAll(/\D/g, '') || null;
}
