import { defineErrors, error } from '../../common/define-errors.js';

export const webhookErrors = defineErrors('webhook', {
  WEBHOOK_NOT_FOUND: error({
    kind: 'not_found',
    message: 'This workspace has no webhook; set one with PUT /webhook.',
    when: 'The workspace has no webhook, or deleted it.',
    fix: 'Set one with PUT /webhook.',
  }),
  WEBHOOK_URL_NOT_ALLOWED: error<{ reason: string; message: string }>({
    kind: 'invalid_request',
    message: ({ message }) => message,
    when: 'The address of the webhook is one that Herald does not deliver to; `reason` says why: `not_https`, `port`, `ip_literal`, `private_address`, `unresolvable` or `credentials_in_url`.',
    fix: 'Use an https address on port 443, without user name and password, whose host name leads to public addresses only.',
    extra: ({ reason }) => ({ reason }),
    sample: {
      reason: 'private_address',
      message: 'Every address of the host must be public; at least one is private, local or reserved.',
    },
  }),
  WEBHOOK_DELIVERY_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such delivery, or its event is no longer kept; GET /webhook/deliveries lists them.',
    when: "The id names no delivery attempt of this workspace's webhook, or its event was removed after its time.",
    fix: 'Take an id from GET /webhook/deliveries.',
  }),
});
