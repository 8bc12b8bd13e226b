import type { Setting } from '../setting.js';

/** Secrets and limits. */
export const SECURITY_SETTINGS: readonly Setting[] = [
  {
    name: 'ENCRYPTION_KEYS',
    section: 'Security',
    type: 'list',
    fallback: null,
    secret: true,
    requiredInProduction: true,
    meaning:
      'Keys that encrypt stored secrets: version:base64 of 32 bytes, separated by commas. The highest version encrypts, all decrypt. Default: generated in DATA_DIR.',
  },
  {
    name: 'TRUST_PROXY',
    section: 'Security',
    type: 'string',
    fallback: 'false',
    meaning:
      'Which proxies may name the caller in X-Forwarded-For: false, a number of hops, or addresses separated by commas.',
  },
  {
    name: 'AUTH_FAILURES_PER_MINUTE',
    section: 'Security',
    type: 'integer',
    min: 1,
    max: 100_000,
    fallback: '20',
    meaning: 'Requests without a valid key that one address may make in a minute.',
  },
  {
    name: 'RATE_LIMIT_PER_SECOND',
    section: 'Limits',
    type: 'integer',
    min: 1,
    max: 1_000_000,
    fallback: '50',
    meaning: 'Requests a second of one API key, where the workspace has no limit of its own.',
  },
  {
    name: 'RATE_LIMIT_BURST',
    section: 'Limits',
    type: 'integer',
    min: 1,
    max: 1_000_000,
    fallback: '100',
    meaning: 'Requests that one API key may make at once, where the workspace has no limit of its own.',
  },
  {
    name: 'BACKLOG_LIMIT',
    section: 'Limits',
    type: 'integer',
    min: 1,
    max: 100_000_000,
    fallback: '2000000',
    meaning: 'Queued messages that one workspace may have; more are refused with 429.',
  },
  {
    name: 'MESSAGE_TTL_HOURS',
    section: 'Limits',
    type: 'integer',
    min: 1,
    max: 720,
    fallback: '24',
    meaning: 'Hours after which a message that is still queued fails as expired.',
  },
];
