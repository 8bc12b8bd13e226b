import type { Setting } from '../setting.js';

/** Deliveries to the workspaces' endpoints. */
export const WEBHOOK_SETTINGS: readonly Setting[] = [
  {
    name: 'WEBHOOK_ALLOW_PRIVATE_TARGETS',
    section: 'Webhooks',
    type: 'boolean',
    fallback: 'false',
    meaning:
      'Let webhooks point to private addresses, localhost, plain HTTP and other ports. For development only: refused in production.',
  },
  {
    name: 'WEBHOOK_MAX_IN_FLIGHT',
    section: 'Webhooks',
    type: 'integer',
    min: 10,
    max: 10_000,
    fallback: '1024',
    meaning: 'Webhook deliveries that one worker keeps open at once; one endpoint has ten of them at the most.',
  },
  {
    name: 'WEBHOOK_MAX_WAITING',
    section: 'Webhooks',
    type: 'integer',
    min: 1_000,
    max: 100_000_000,
    fallback: '1000000',
    meaning:
      'Events that may wait for one endpoint that fails or rests; beyond that those go whose next attempt is furthest away.',
  },
];
