import { own, ownText } from '../../infrastructure/whatsapp/json-access.js';
import type { PlatformPhoneNumber } from '../../infrastructure/whatsapp/cloud-api-client.js';
import type { ManagementNotification } from '../../infrastructure/whatsapp/webhook-payload.js';
import type { ConnectionFacts, ConnectionStatus } from './connections.types.js';

/** Messages a second of the platform's levels (Cloud API, throughput). */
const THROUGHPUT: ReadonlyMap<string | null, number> = new Map([
  ['STANDARD', 80],
  ['HIGH', 1_000],
]);

/**
 * The platform's word for a number's state, and ours. FLAGGED is a warning about quality: such a number sends as
 * before. A word that is not listed changes nothing.
 */
const STATUS: ReadonlyMap<string | null, ConnectionStatus> = new Map([
  ['CONNECTED', 'connected'],
  ['FLAGGED', 'connected'],
  ['LINKED', 'connected'],
  ['PENDING', 'pending'],
  ['UNVERIFIED', 'pending'],
  ['RESTRICTED', 'restricted'],
  ['BANNED', 'disconnected'],
  ['DISCONNECTED', 'disconnected'],
  ['UNLINKED', 'disconnected'],
  ['DELETED', 'disconnected'],
  ['MIGRATED', 'disconnected'],
]);

/** What of the platform's answer a connection keeps. */
export function factsOf(number: PlatformPhoneNumber): ConnectionFacts {
  const { verifiedName, qualityRating, messagingLimit, throughputLevel, status } = number;
  return {
    verifiedName,
    qualityRating: qualityRating === 'NA' ? 'UNKNOWN' : qualityRating,
    messagingLimit,
    throughputPerSecond: THROUGHPUT.get(throughputLevel) ?? null,
    status: STATUS.get(status) ?? null,
  };
}

/** What a notification says of the numbers of an account. */
export interface AccountEvents {
  /** Digits of the one number that is meant; null: every number of the account. */
  number: string | null;
  messagingLimit: string | null;
  restriction: 'begins' | 'ends' | null;
  /** With `begins`: until when, where the platform said so. */
  restrictedUntil: Date | null;
}

const NOTHING: AccountEvents = { number: null, messagingLimit: null, restriction: null, restrictedUntil: null };

/** Events of `account_update`, with the state of a ban, after which the account may send less, or again. */
const RESTRICTIONS: ReadonlyMap<string, 'begins' | 'ends'> = new Map([
  ['ACCOUNT_RESTRICTION', 'begins'],
  ['ACCOUNT_RECONNECTED', 'ends'],
  ['DISABLED_UPDATE DISABLE', 'begins'],
  ['DISABLED_UPDATE REINSTATE', 'ends'],
]);

/** Fields that say nothing by themselves but that something changed. */
const ASK_AGAIN: ReadonlySet<string> = new Set([
  'phone_number_name_update',
  'account_review_update',
  'account_alerts',
  'security',
]);

/** Beyond the year 2100 it is no date but a mistake. Milliseconds. */
const MAX_TIME = 4_102_444_800_000;

/** Reads a notification; null for one that is not about numbers. Any value may be missing or of another type. */
export function readAccountEvents({ field, value }: ManagementNotification): AccountEvents | null {
  const limit = limitOf(value.max_daily_conversations_per_business);
  const number = digitsOf(ownText(value, 'display_phone_number'));
  switch (field) {
    case 'phone_number_quality_update':
      return { ...NOTHING, number, messagingLimit: limitOf(value.current_limit) ?? limit };
    case 'business_capability_update':
      return { ...NOTHING, messagingLimit: limit };
    case 'account_update': {
      const event = ownText(value, 'event') ?? '';
      const ban = ownText(value.ban_info, 'waba_ban_state') ?? '';
      const restriction = RESTRICTIONS.get(event) ?? RESTRICTIONS.get(`${event} ${ban}`) ?? null;
      const restrictedUntil = restriction === 'begins' ? endOf(value.restriction_info) : null;
      return { ...NOTHING, number: digitsOf(ownText(value, 'phone_number')), restriction, restrictedUntil };
    }
    default:
      return ASK_AGAIN.has(field) ? { ...NOTHING, number } : null;
  }
}

/** The latest end of the restrictions, in seconds or as a date. */
function endOf(info: unknown): Date | null {
  const items: unknown[] = Array.isArray(info) ? info : [info];
  const ends = items.flatMap((item) => {
    const end = own(item, 'expiration');
    if (typeof end === 'number') return end * 1_000;
    return typeof end === 'string' ? Date.parse(end) : [];
  });
  const latest = Math.max(...ends.filter((end) => end > 0 && end < MAX_TIME));
  return Number.isFinite(latest) ? new Date(latest) : null;
}

function limitOf(value: unknown): string | null {
  return typeof value === 'string' && /^TIER_[A-Z0-9_]{1,40}$/.test(value) ? value : null;
}

/** Digits of a displayed number; null where it has none. */
export function digitsOf(displayed: string | null): string | null {
  return displayed?.replaceAll(/\D/g, '') || null;
}
