export const CONNECTION_STATUSES = ['connected', 'pending', 'disconnected', 'restricted'] as const;
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/** Why a number is not `connected`. */
export const STATUS_REASONS = [
  /** WhatsApp no longer accepts its token; `herald connection add` sets a new one. */
  'token_refused',
  /** `herald connection disconnect`. */
  'disconnected_by_operator',
  /** WhatsApp reports this state of the number or the account. */
  'platform',
  /** The account was removed from the app, or from WhatsApp. */
  'account_removed',
  /** WhatsApp refuses charged messages: the account has no valid payment method. */
  'payment_missing',
] as const;
export type StatusReason = (typeof STATUS_REASONS)[number];
