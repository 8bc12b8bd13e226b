import type { ErrorDetail } from '../../common/app-error.js';
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
  WEBHOOK_SECRET_DIFFERS: error({
    kind: 'invalid_request',
    message: 'The webhook has another secret already; replace it with POST /webhook/rotate-secret.',
    when: '`secret` of PUT /webhook is not the present one of the webhook, which keeps its secret.',
    fix: 'Leave `secret` out, or replace the secret with POST /webhook/rotate-secret.',
  }),
  WEBHOOK_CONNECTION_NOT_FOUND: error<{ details: ErrorDetail[] }>({
    kind: 'not_found',
    message: 'The workspace has no such number; GET /connections lists the ids.',
    when: '`connection_ids` of PUT /webhook has ids that are no number of the workspace; `details` names each.',
    fix: 'Take the ids from GET /connections, or leave them out for all numbers.',
    extra: ({ details }) => ({ details }),
    sample: {
      details: [{ field: 'connection_ids[0]', rule: 'unknown', message: 'The workspace has no number with this id.' }],
    },
  }),
  WEBHOOK_REPLAY_RUNNING: error({
    kind: 'conflict',
    message: 'A replay of this webhook is running; wait until it is done.',
    when: 'POST /webhook/replay while another replay of the workspace is running or paused.',
    fix: 'Wait until GET /webhook/replay/{id} says `done`.',
  }),
  WEBHOOK_REPLAY_TOO_LARGE: error<{ limit: number }>({
    kind: 'unprocessable',
    message: ({ limit }) => `The time has more than ${limit} events, or too many attempts; choose a shorter one.`,
    when: 'POST /webhook/replay found more events than one replay may have, `limit`, or a million attempts to deliver them.',
    fix: 'Wait ten seconds, then replay a shorter time, and the next once that is done; or choose `types`.',
    extra: ({ limit }) => ({ limit }),
    sample: { limit: 100_000 },
  }),
  WEBHOOK_REPLAY_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such replay; POST /webhook/replay makes one.',
    when: "The id names no replay of this workspace's webhook, or it ended long ago.",
    fix: 'Take the id from the answer of POST /webhook/replay.',
  }),
  WEBHOOK_DELIVERY_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such delivery, or its event is no longer kept; GET /webhook/deliveries lists them.',
    when: "The id names no delivery attempt of this workspace's webhook, or its event was removed after its time.",
    fix: 'Take an id from GET /webhook/deliveries.',
  }),
});
