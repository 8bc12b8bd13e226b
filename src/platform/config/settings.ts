/** How a setting's text is read. */
export type SettingType = 'string' | 'integer' | 'boolean' | 'list';

export interface Setting {
  name: string;
  section: string;
  type: SettingType;
  /** Text of the default; null: unset. */
  fallback: string | null;
  /** What it does, with its unit. First sentence stands in `.env.example`. */
  meaning: string;
  secret?: boolean;
  /** Allowed words for strings and lists. */
  oneOf?: readonly string[];
  min?: number;
  max?: number;
  /** Must be set when NODE_ENV=production. */
  requiredInProduction?: boolean;
}

export const ROLES = ['api', 'worker', 'simulator'] as const;
export type Role = (typeof ROLES)[number];

const port = { type: 'integer', min: 0, max: 65_535 } as const;

/** Every setting that Herald reads, in the order of `.env.example`. */
export const SETTINGS: readonly Setting[] = [
  {
    name: 'NODE_ENV',
    section: 'Process',
    type: 'string',
    fallback: 'development',
    oneOf: ['development', 'test', 'production'],
    meaning: 'Production refuses the demo workspace, the embedded database and switches made for development.',
  },
  {
    name: 'ROLES',
    section: 'Process',
    type: 'list',
    fallback: null,
    oneOf: ROLES,
    meaning:
      'What this process does, separated by commas: api answers HTTP, worker sends and dispatches, simulator stands in for WhatsApp. Default: api,worker,simulator; in production it must be named.',
    requiredInProduction: true,
  },
  {
    name: 'HOST',
    section: 'Process',
    type: 'string',
    fallback: null,
    meaning: 'Address to listen on. Default: 127.0.0.1, in production 0.0.0.0.',
  },
  { name: 'PORT', section: 'Process', ...port, fallback: '3000', meaning: 'Port of the API; 0 takes any free port.' },
  {
    name: 'PUBLIC_URL',
    section: 'Process',
    type: 'string',
    fallback: null,
    meaning: 'Address under which callers reach this service, used in links. Default: http://HOST:PORT.',
  },
  {
    name: 'DATA_DIR',
    section: 'Process',
    type: 'string',
    fallback: '.data',
    meaning: 'Folder of the embedded database, generated secrets, media and demo.json.',
  },
  {
    name: 'SHUTDOWN_TIMEOUT_MS',
    section: 'Process',
    type: 'integer',
    min: 100,
    max: 300_000,
    fallback: '10000',
    meaning: 'Milliseconds that a stop waits for requests and sends in flight.',
  },
  {
    name: 'LOG_LEVEL',
    section: 'Process',
    type: 'string',
    fallback: 'info',
    oneOf: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    meaning: 'Least level that is logged.',
  },
  {
    name: 'LOG_FORMAT',
    section: 'Process',
    type: 'string',
    fallback: null,
    oneOf: ['pretty', 'json'],
    meaning: 'pretty or json. Default: pretty on a terminal, else json.',
  },
  {
    name: 'DEMO',
    section: 'Process',
    type: 'boolean',
    fallback: null,
    meaning:
      'Make the demo workspace and write DATA_DIR/demo.json. Default: true with the embedded database, never in production.',
  },
  {
    name: 'DATABASE_URL',
    section: 'PostgreSQL',
    type: 'string',
    fallback: null,
    secret: true,
    requiredInProduction: true,
    meaning: 'PostgreSQL 15 or newer. Default: the embedded server under DATA_DIR.',
  },
  {
    name: 'DATABASE_POOL_SIZE',
    section: 'PostgreSQL',
    type: 'integer',
    min: 2,
    max: 200,
    fallback: '10',
    meaning: 'Connections of this process for its own statements.',
  },
  {
    name: 'DATABASE_QUERY_TIMEOUT_MS',
    section: 'PostgreSQL',
    type: 'integer',
    min: 100,
    max: 600_000,
    fallback: '10000',
    meaning: 'Milliseconds after which a statement is given up.',
  },
  {
    name: 'DATABASE_MIGRATE',
    section: 'PostgreSQL',
    type: 'boolean',
    fallback: 'true',
    meaning: 'Run migrations at start, under a lock. When false, run `herald migrate` before.',
  },
  {
    name: 'QUEUE_POOL_SIZE',
    section: 'Queue',
    type: 'integer',
    min: 2,
    max: 200,
    fallback: '8',
    meaning: "Connections to PostgreSQL for BullMQ's PostgreSQL backend (unused with REDIS_URL).",
  },
  {
    name: 'REDIS_URL',
    section: 'Queue',
    type: 'string',
    fallback: null,
    secret: true,
    meaning: 'Redis for BullMQ, such as redis://127.0.0.1:6379. Default: the PostgreSQL backend, no Redis needed.',
  },
  {
    name: 'REDIS_CLUSTER',
    section: 'Queue',
    type: 'boolean',
    fallback: 'false',
    meaning: 'REDIS_URL names one node of a Redis Cluster.',
  },
  {
    name: 'QUEUE_PREFIX',
    section: 'Queue',
    type: 'string',
    fallback: 'herald',
    meaning: 'Prefix of the keys in Redis; two installations may share a server under two prefixes.',
  },
  {
    name: 'WORKER_CONCURRENCY',
    section: 'Queue',
    type: 'integer',
    min: 1,
    max: 10_000,
    fallback: '1000',
    meaning: 'Lanes that one worker drains at once. A waiting lane costs a promise only.',
  },
  {
    name: 'WORKER_MAX_IN_FLIGHT',
    section: 'Queue',
    type: 'integer',
    min: 1,
    max: 5_000,
    fallback: '256',
    meaning: 'HTTP requests to the platform that one worker keeps open at once.',
  },
  {
    name: 'WHATSAPP_API_URL',
    section: 'WhatsApp',
    type: 'string',
    fallback: null,
    requiredInProduction: true,
    meaning: 'Base address of the Cloud API: https://graph.facebook.com. Default: the simulator.',
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
    requiredInProduction: true,
    meaning:
      'Secret of the Meta app, which signs notifications; several separated by commas while one is being replaced. Default: generated in DATA_DIR.',
  },
  {
    name: 'WHATSAPP_VERIFY_TOKEN',
    section: 'WhatsApp',
    type: 'string',
    fallback: null,
    secret: true,
    requiredInProduction: true,
    meaning: "Token of the webhook handshake, as typed into the Meta app's settings. Default: generated in DATA_DIR.",
  },
  {
    name: 'WHATSAPP_TIMEOUT_MS',
    section: 'WhatsApp',
    type: 'integer',
    min: 500,
    max: 19_000,
    fallback: '15000',
    meaning: 'Milliseconds to wait for the answer to a send; then its outcome is unknown. Less than the 20 s lease.',
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
