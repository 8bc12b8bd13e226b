import type { Setting } from '../setting.js';

const port = { type: 'integer', min: 0, max: 65_535 } as const;

/** The platform, and the simulator in its place. */
export const WHATSAPP_SETTINGS: readonly Setting[] = [
  {
    name: 'WHATSAPP_API_URL',
    section: 'WhatsApp',
    type: 'string',
    fallback: null,
    requiredInProduction: 'always',
    meaning:
      'Base address of the Cloud API: https://graph.facebook.com; in production https:// only. Default: the simulator.',
  },
  {
    name: 'WHATSAPP_API_VERSION',
    section: 'WhatsApp',
    type: 'string',
    fallback: 'v26.0',
    meaning: 'Graph API version.',
  },
  {
    name: 'WHATSAPP_APP_SECRET',
    section: 'WhatsApp',
    type: 'list',
    fallback: null,
    secret: true,
    requiredInProduction: 'api',
    leastLength: 16,
    meaning:
      'Secret of the Meta app, which signs notifications; several separated by commas while one is being replaced. In production at least 16 characters each. Default: generated in DATA_DIR.',
  },
  {
    name: 'WHATSAPP_VERIFY_TOKEN',
    section: 'WhatsApp',
    type: 'string',
    fallback: null,
    secret: true,
    requiredInProduction: 'api',
    leastLength: 8,
    meaning:
      "Token of the webhook handshake, as typed into the Meta app's settings; in production at least 8 characters. Default: generated in DATA_DIR.",
  },
  {
    name: 'WHATSAPP_TIMEOUT_MS',
    section: 'WhatsApp',
    type: 'integer',
    min: 500,
    max: 19_000,
    fallback: '15000',
    meaning: 'Milliseconds to wait for the answer to a send; then its outcome is unknown. Less than SEND_LEASE_MS.',
  },
  {
    name: 'SEND_LEASE_MS',
    section: 'WhatsApp',
    type: 'integer',
    min: 2_000,
    max: 120_000,
    fallback: '20000',
    meaning:
      'Milliseconds after which a message that a worker took and never settled, because it died or hangs, is outcome_unknown. At least 10000 in production.',
  },
  {
    name: 'SIMULATOR_HOST',
    section: 'WhatsApp',
    type: 'string',
    fallback: '127.0.0.1',
    meaning:
      'Address on which the simulator listens. Whoever reaches it controls it. It is called by addresses, as localhost, or by the name in WHATSAPP_API_URL.',
  },
  {
    name: 'SIMULATOR_PORT',
    section: 'WhatsApp',
    ...port,
    fallback: '3001',
    meaning: 'Port of the simulator; 0 takes any free port.',
  },
  {
    name: 'SIMULATOR_SEED',
    section: 'WhatsApp',
    type: 'string',
    fallback: 'herald',
    meaning: 'Seed of the ids that the simulator makes.',
  },
];
