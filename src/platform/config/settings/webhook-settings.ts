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
];
