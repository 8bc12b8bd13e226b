/** Why a message failed, in terms that stay the same whatever the platform calls it. */
export const FAILURE_CATEGORIES = [
  'invalid_recipient',
  'recipient_unreachable',
  'service_window_closed',
  'template_unavailable',
  'invalid_content',
  'media_error',
  'rate_limited',
  'recipient_limit',
  'account_restricted',
  'sender_not_ready',
  'authentication',
  'platform_unavailable',
  'expired',
  'canceled',
  'unknown',
] as const;

export type FailureCategory = (typeof FAILURE_CATEGORIES)[number];
