import type { ManagementNotification } from '../../infrastructure/whatsapp/webhook-payload.types.js';

/** What a notification tells of the numbers of an account. */
export interface AccountEvents {
  /** Digits of the one number that is meant; null: every number of the account. */
  number: string | null;
  messagingLimit: string | null;
  restriction: 'begins' | 'ends' | null;
  /** With `begins`: until when, where the platform said so. */
  restrictedUntil: Date | null;
}

const NOTHING: AccountEvents = { number: null, messagingLimit: null, restriction: null, restrictedUntil: null };
const LIMIT = /^TIER_[A-Z0-9_]{1,40}$/;

/** Events of `account_update` after which the account may send less, or again. */
const RESTRICTIONS: Readonly<Record<string, 'begins' | 'ends'>> = {
  ACCOUNT_RESTRICTION: 'begins',
  ACCOUNT_RECONNECTED: 'ends',
};

/** Fields that tell nothing by themselves but that something changed. */
const ASK_AGAIN: ReadonlySet<string> = new Set([
  'phone_number_name_update',
  'account_review_update',
  'account_alerts',
  'security',
]);

/** Reads a notification; null for one that is not about numbers. Every value is taken as a stranger's. */
export function readAccountEvents({ field, value }: ManagementNotification): AccountEvents | null {
  switch (field) {
    case 'phone_number_quality_update':
      return {
        ...NOTHING,
        number: digitsOf(value.display_phone_number),
        messagingLimit: limitOf(value.current_limit) ?? limitOf(value.max_daily_conversations_per_business),
      };
    case 'business_capability_update':
      return { ...NOTHING, messagingLimit: limitOf(value.max_daily_conversations_per_business) };
    case 'account_update':
      return accountUpdate(value);
    default:
      return ASK_AGAIN.has(field) ? { ...NOTHING, number: digitsOf(value.display_phone_number) } : null;
  }
}

function accountUpdate(value: Record<string, unknown>): AccountEvents {
  const event = typeof value.event === 'string' ? value.event : '';
  const restriction = Object.hasOwn(RESTRICTIONS, event) ? (RESTRICTIONS[event] ?? null) : banOf(event, value);
  const restrictedUntil = restriction === 'begins' ? endOf(value.restriction_info) : null;
  return { ...NOTHING, number: digitsOf(value.phone_number), restriction, restrictedUntil };
}

function banOf(event: string, value: Record<string, unknown>): AccountEvents['restriction'] {
  const ban = value.ban_info;
  if (event !== 'DISABLED_UPDATE' || typeof ban !== 'object' || ban === null) return null;
  const state = (ban as Record<string, unknown>).waba_ban_state;
  if (state === 'DISABLE') return 'begins';
  return state === 'REINSTATE' ? 'ends' : null;
}

/** The latest end of the restrictions, in seconds or as a date. */
function endOf(info: unknown): Date | null {
  const items: unknown[] = Array.isArray(info) ? info : [info];
  const ends = items.flatMap((item) => {
    const raw = typeof item === 'object' && item !== null ? (item as Record<string, unknown>).expiration : undefined;
    if (typeof raw === 'number') return raw * 1_000;
    return typeof raw === 'string' ? Date.parse(raw) : [];
  });
  const latest = Math.max(...ends.filter((end) => end > 0 && end < MAX_TIME));
  return Number.isFinite(latest) ? new Date(latest) : null;
}

// Beyond the year 2100 it is no date but a mistake.
const MAX_TIME = 4_102_444_800_000;

function limitOf(value: unknown): string | null {
  return typeof value === 'string' && LIMIT.test(value) ? value : null;
}

function digitsOf(value: unknown): string | null {
  const digits = typeof value === 'string' ? value.replaceAll(/\D/g, '') : '';
  return digits === '' ? null : digits;
}
