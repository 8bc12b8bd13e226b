import type { Setting } from '../setting.js';

/** Secrets and limits. */
export const SECURITY_SETTINGS: readonly Setting[] = [
  {
    name: 'ENCRYPTION_KEYS',
    section: 'Security',
    type: 'list',
    fallback: null,
    secret: true,
    requiredInProduction: 'always',
    meaning:
      'Keys that encrypt stored secrets: version:base64 of 32 bytes, separated by commas, from openssl rand -base64 32. The highest version encrypts, all decrypt. Default: generated in DATA_DIR.',
  },
  {
    name: 'ENCRYPTION_KEY_VERSION',
    section: 'Security',
    type: 'integer',
    fallback: null,
    min: 0,
    max: 999_999,
    meaning:
      'Version of ENCRYPTION_KEYS that encrypts. Default: the highest. Name the old one while a new key is brought to every process, so that none meets a secret which it cannot open.',
  },
  {
    name: 'TRUST_PROXY',
    section: 'Security',
    type: 'string',
    fallback: 'false',
    meaning:
      'Which proxies may name the caller in X-Forwarded-For: false, a number of hops, or addresses separated by commas. In production not everybody.',
  },
  {
    name: 'AUTH_FAILURES_PER_MINUTE',
    section: 'Security',
    type: 'integer',
    min: 1,
    max: 100_000,
    fallback: '20',
    meaning:
      'Requests without a valid key that one address may make in a minute, and notifications without a valid signature.',
  },
  {
    name: 'METRICS_TOKEN',
    section: 'Security',
    type: 'string',
    fallback: null,
    secret: true,
    leastLength: 16,
    meaning:
      'Bearer token with which Prometheus may read /metrics, in production at least 16 characters. Without it only this machine may, and in production nobody.',
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
    name: 'CONNECTIONS_PER_ADDRESS',
    section: 'Limits',
    type: 'integer',
    min: 0,
    max: 10_000,
    fallback: '1000',
    meaning:
      'HTTP connections that one address may have open to one process at once. Proxies that TRUST_PROXY names may have any number. 0: any number for all.',
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
  {
    name: 'OTP_SENDS_PER_SECOND',
    section: 'Limits',
    type: 'integer',
    min: 1,
    max: 1_000_000,
    fallback: '20',
    meaning: 'One-time codes a second that one key may ask for; all keys of a project together three times as many.',
  },
  {
    name: 'OTP_VERIFIES_PER_SECOND',
    section: 'Limits',
    type: 'integer',
    min: 1,
    max: 1_000_000,
    fallback: '20',
    meaning: 'Codes a second that one key may have verified; all keys of a project together three times as many.',
  },
  {
    name: 'OVERLOAD_LOOP_DELAY_MS',
    section: 'Limits',
    type: 'integer',
    min: 0,
    max: 60_000,
    fallback: '150',
    meaning:
      'Mean delay of the event loop in milliseconds from which reads are refused with 503; from twice as many on writes, from four times notifications of the platform. 0: never.',
  },
  {
    name: 'OVERLOAD_POOL_WAITING',
    section: 'Limits',
    type: 'integer',
    min: 0,
    max: 1_000_000,
    fallback: '200',
    meaning:
      'Statements that wait for a connection to PostgreSQL from which reads are refused with 503; from twice as many on writes, from four times notifications of the platform. 0: never.',
  },
];
