export const CONNECTION_STATUSES = ['connected', 'pending', 'disconnected', 'restricted'] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/** Why a number is not `connected`. */
export const STATUS_REASONS = [
  /** The platform no longer takes its token; `herald connection add` gives it a new one. */
  'token_refused',
  /** `herald connection disconnect`. */
  'disconnected_by_operator',
  /** The platform says so of the number or the account. */
  'platform',
  /** The account was taken away from the app, or off the platform. */
  'account_removed',
  /** The platform refuses what it charges for: the account has no valid payment method. */
  'payment_missing',
] as const;
export type StatusReason = (typeof STATUS_REASONS)[number];
