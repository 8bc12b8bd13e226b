import { decimalText } from '../../common/millionths.js';

export const LIMIT_KINDS = ['messages_per_day', 'spend_per_month', 'marketing_per_recipient_per_week'] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** The used part of a limit: messages, or millionths of the currency. */
export interface LimitState {
  kind: LimitKind;
  limit: number;
  used: number;
  /** Null: the limit is not an amount of money. */
  currency: string | null;
  renewsAt: Date;
  retryAfterSeconds: number;
}

/** In the form of answers and events: messages as integers, money as decimals. */
export function shownLimit({ limit, used, currency, renewsAt }: Omit<LimitState, 'kind' | 'retryAfterSeconds'>): {
  limit: number | string;
  used: number | string;
  remaining: number | string;
  currency?: string;
  renews_at: string;
} {
  const shown = (amount: number): number | string => (currency === null ? amount : decimalText(BigInt(amount)));
  return {
    limit: shown(limit),
    used: shown(used),
    remaining: shown(Math.max(0, limit - used)),
    ...(currency !== null && { currency }),
    renews_at: renewsAt.toISOString(),
  };
}
