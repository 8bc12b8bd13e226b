import { connectionUrl, postgresUrls } from './connection-url.js';
import { encryptionKeys } from './encryption-keys.js';
import { GRAPH_VERSION } from './graph-version.js';
import { PEOPLE_SETTINGS } from './people-settings.js';
import {
  decimalId,
  flag,
  hostPorts,
  integer,
  InvalidSetting,
  oneOf,
  origins,
  pairs,
  ratio,
  type Role,
  ROLES,
  type Setting,
  setting,
  text,
  words,
} from './setting.js';
import { trustProxy } from './trust-proxy.js';

const PORTS = [0, 65_535] as const;
const DAYS = [0, 36_500] as const;

/** Every setting that Herald reads, in the order of `.env.example`; the type of `Config` is inferred from it. */
export const SETTINGS = {
  process: {
    environment: oneOf('NODE_ENV', ['development', 'test', 'production'], { default: 'development' }).means(
      'Production refuses the demo workspace, the embedded database and switches made for development.',
    ),
    roles: setting(
      'ROLES',
      roles,
      { default: () => [...ROLES], required: 'always' },
      `Any of: ${ROLES.join(', ')}.`,
    ).means(
      'What this process does, separated by commas: api answers HTTP, worker sends and dispatches, simulator stands in for WhatsApp. Default: api,worker,simulator; in production it must be named.',
    ),
    host: text('HOST', {
      default: ({ production }) => (production ? '0.0.0.0' : '127.0.0.1'),
    }).means('Address to listen on. Default: 127.0.0.1, in production 0.0.0.0.'),
    port: integer('PORT', PORTS, { default: 3_000 }).means('Port of the API; 0 takes any free port.'),
    /** null: built from host and port once the server listens. */
    publicUrl: setting('PUBLIC_URL', httpUrl).means(
      'Address under which callers reach this service, used in links. Default: http://HOST:PORT.',
    ),
    /** When addresses without a version end; null: never. */
    aliasSunset: setting('API_ALIAS_SUNSET', aliasSunset).means(
      'Day on which addresses below /api without a version will end, such as 2027-12-31: their answers then have it as the header Sunset. Default: they stay.',
    ),
    dataDir: text('DATA_DIR', {
      default: '.data',
    }).means('Folder of the embedded database, generated secrets, media and demo.json.'),
    shutdownTimeoutMs: integer('SHUTDOWN_TIMEOUT_MS', [100, 300_000], { default: 20_000 }).means(
      'Milliseconds that a stop waits for requests and sends in flight; in a worker in production more than WHATSAPP_TIMEOUT_MS.',
    ),
    shutdownDrainMs: integer('SHUTDOWN_DRAIN_MS', [0, 60_000], {
      default: ({ production }) => (production ? 2_000 : 0),
    }).means(
      'Milliseconds for which a process with the role api still takes requests after SIGTERM while /health/ready answers 503, so that balancers look elsewhere first; at most three tenths of SHUTDOWN_TIMEOUT_MS. Default: 2000 in production, else 0.',
    ),
    logLevel: oneOf('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      default: 'info',
    }).means('Least level that is logged.'),
    logFormat: oneOf('LOG_FORMAT', ['pretty', 'json'], {
      default: () => (process.stdout.isTTY ? 'pretty' : 'json'),
    }).means('pretty or json. Default: pretty on a terminal, else json.'),
    /** Whether log lines of requests contain the caller's address. */
    logsAddress: flag('LOG_ADDRESSES', { default: true }).means(
      "Log the caller's address with each request; false where addresses may not be kept.",
    ),
    demo: flag('DEMO').means(
      'Make the demo workspace and write DATA_DIR/demo.json. Default: true with the embedded database, never in production.',
    ),
    /** Whether /docs and the API description are served. */
    docs: flag('API_DOCS', { default: ({ production }) => !production }).means(
      'Serve Swagger UI under /docs and the description under /openapi.json, /openapi.yaml and /postman.json; of the admin API under /docs/admin and /openapi-admin.json. Default: true, in production false. /docs/errors and /client.tgz are always there.',
    ),
    console: flag('CONSOLE', { default: true }).means('Serve the console under /console.'),
    adminApi: flag('ADMIN_API', { default: true }).means(
      'Serve the admin API under /api/admin/v1. It takes operator keys only, of which none exists before `herald operator-key create`.',
    ),
    mcp: flag('MCP', { default: true }).means('Serve POST /mcp, the tools of agents (Model Context Protocol).'),
    mcpRecipients: oneOf('MCP_RECIPIENTS', ['any', 'window'], { default: 'any' }).means(
      'To whom agents may send: any, or window: only who wrote within the last 24 hours.',
    ),
    mcpCampaigns: flag('MCP_CAMPAIGN_ACTIONS', { default: false }).means(
      'Give agents whose key has messages:write the tools that pause, resume and cancel the messages of a tag.',
    ),
  },
  database: {
    /** null: start the embedded server. */
    url: connectionUrl('DATABASE_URL', 'postgres', 'always').means(
      'PostgreSQL 15 or newer. Default: the embedded server under DATA_DIR.',
    ),
    /** null: the same as `url`. Use `sessionLink`. */
    directUrl: connectionUrl('DATABASE_DIRECT_URL', 'postgres').means(
      'The same database past a pooler that lends connections for a transaction, such as PgBouncer with pool_mode = transaction: for LISTEN, migrations and locks. Default: DATABASE_URL, which then must be PostgreSQL itself or a pooler in session mode.',
    ),
    /** Standbys; empty: none. */
    readUrls: setting('DATABASE_READ_URL', postgresUrls, { default: (): string[] => [], secret: true }).means(
      'Streaming standbys of DATABASE_URL, past any pooler; several separated by commas. Reads that may be late go there: lists, conversations, usage, past events, deliveries. Default: none.',
    ),
    readLagMs: integer('READ_LAG_MS', [2_000, 3_600_000], { default: 5_000 }).means(
      'Milliseconds that a standby of DATABASE_READ_URL may be behind; what is further behind is not read.',
    ),
    afterFailover: oneOf('AFTER_FAILOVER', ['ask', 'continue'], { default: 'ask' }).means(
      'Once a standby is promoted: ask blocks claims until `herald restore`; continue goes on by itself where the standby was synchronous. Only for primaries that never commit without it, such as with synchronous_mode_strict of Patroni.',
    ),
    poolSize: integer('DATABASE_POOL_SIZE', [2, 200], {
      default: 10,
    }).means('Connections of this process for its own statements.'),
    queryTimeoutMs: integer('DATABASE_QUERY_TIMEOUT_MS', [100, 600_000], { default: 10_000 }).means(
      'Milliseconds after which a statement is given up.',
    ),
    connectTimeoutMs: integer('DATABASE_CONNECT_TIMEOUT_MS', [100, 60_000], { default: 5_000 }).means(
      'Milliseconds that a statement waits for a connection, a new one or one that comes free; then the answer is 503.',
    ),
    migrate: flag('DATABASE_MIGRATE', { default: true }).means(
      'Run migrations at start, under a lock. When false, run `herald migrate` before.',
    ),
  },
  queue: {
    redisUrl: connectionUrl('REDIS_URL', 'redis').means(
      'Redis for BullMQ, such as redis://127.0.0.1:6379. Default: none; PostgreSQL notifies the workers.',
    ),
    redisCluster: flag('REDIS_CLUSTER', { default: false }).means('REDIS_URL names one node of a Redis Cluster.'),
    prefix: text('QUEUE_PREFIX', { default: 'herald' }).means(
      'Prefix of the keys in Redis; two installations may share a server under two prefixes.',
    ),
    maxInFlight: integer('WORKER_MAX_IN_FLIGHT', [1, 5_000], { default: 256 }).means(
      'HTTP requests to the platform that one worker keeps open at once.',
    ),
  },
  whatsapp: {
    /** null: the simulator of this process. */
    apiUrl: setting('WHATSAPP_API_URL', httpUrl, { required: 'always' }).means(
      'Base address of the Cloud API: https://graph.facebook.com; in production https:// only. Default: the simulator.',
    ),
    apiVersion: text('WHATSAPP_API_VERSION', { default: GRAPH_VERSION }).means('Graph API version.'),
    /** A notification may be signed with any of these; the simulator signs with the first. */
    appSecrets: setting('WHATSAPP_APP_SECRET', words, { secret: true, required: 'api', leastLength: 16 }).means(
      'Secret of the Meta app, which signs notifications; several separated by commas while one is being replaced. In production at least 16 characters each. Default: generated in DATA_DIR.',
    ),
    verifyToken: text('WHATSAPP_VERIFY_TOKEN', { secret: true, required: 'api', leastLength: 8 }).means(
      "Token of the webhook handshake, as typed into the Meta app's settings; in production at least 8 characters. Default: generated in DATA_DIR.",
    ),
    appId: setting('META_APP_ID', decimalId).means(
      'Id of the Meta app: digits. With it the sample files of templates are uploaded for your callers. Default: none; the simulator needs none.',
    ),
    /** null: there is no embedded signup. Use `signupDialog`. */
    signupConfigId: setting('META_CONFIG_ID', decimalId).means(
      'Id of the configuration of Facebook Login for Business. With META_APP_ID it turns on embedded signup in setup links.',
    ),
    signupAppSecret: text('META_APP_SECRET', { secret: true }).means(
      'Secret of META_APP_ID, for embedded signup. Default: the first of WHATSAPP_APP_SECRET.',
    ),
    setupReturnOrigins: setting('SETUP_RETURN_ORIGINS', origins, { default: (): string[] => [] }).means(
      'Origins to which a setup link may lead back (return_url), such as https://app.example.com, separated by commas. Default: none.',
    ),
    timeoutMs: integer('WHATSAPP_TIMEOUT_MS', [500, 19_000], { default: 15_000 }).means(
      'Milliseconds to wait for the answer to a send; then its outcome is unknown. Less than SEND_LEASE_MS.',
    ),
    simulatorHost: text('SIMULATOR_HOST', { default: '127.0.0.1' }).means(
      'Address on which the simulator listens. Any program that reaches it controls it. It is called by addresses, as localhost, or by the name in WHATSAPP_API_URL.',
    ),
    simulatorPort: integer('SIMULATOR_PORT', PORTS, {
      default: 3_001,
    }).means('Port of the simulator; 0 takes any free port.'),
    simulatorBareNumbers: oneOf('SIMULATOR_BARE_NUMBERS', ['country', 'as-is'], { default: 'country' }).means(
      "What the simulator takes a recipient's number without + for: country puts the sender's country code in front, as the platform's documentation says; as-is takes it as international, as its examples have it.",
    ),
    simulatorSeed: text('SIMULATOR_SEED', { default: 'herald' }).means('Seed of the ids that the simulator makes.'),
  },
  media: {
    /** The first stores new files; the others are only read and removed from. */
    storages: setting('MEDIA_STORAGE', storages, {
      default: (): StorageKind[] => ['folder'],
      fallback: 'folder',
    }).means(
      'Where media files lie: folder (MEDIA_DIR) or s3 (MEDIA_S3_BUCKET). Both, separated by a comma, while files move: new ones go to the first, and what it does not have is looked for in the second (`herald media move`).',
    ),
    /** The folder of the files. */
    dir: text('MEDIA_DIR').means(
      'Folder of the media files, shared by all processes; with s3, of the files on their way there, for each process. Default: media under DATA_DIR.',
    ),
    /** Bytes that uploads leave free on its disk. */
    minFreeBytes: mebibytes('MEDIA_MIN_FREE_MIB', [0, 1_048_576], 256).means(
      'Mebibytes that must stay free on the disk of MEDIA_DIR; uploads are refused with 503 below it.',
    ),
    /** Limit of stored bytes for a workspace without a limit of its own; 0: none. */
    workspaceLimitBytes: mebibytes('MEDIA_WORKSPACE_LIMIT_MIB', [0, 1_073_741_824], 20_480).means(
      "Mebibytes of stored files that a workspace may have, where it has no limit of its own (`herald workspace limits`); further uploads are refused, and customers' files wait. 0: no limit.",
    ),
    /** Limit of a file from a customer; larger ones are not fetched. */
    maxInboundBytes: mebibytes('MEDIA_MAX_INBOUND_MIB', [1, 2_048], 100).means(
      "Mebibytes of a customer's file at most; larger ones are not fetched. The platform itself takes 100 MB.",
    ),
  },
  /** Media files in a bucket of Amazon S3, or of a compatible store. */
  s3: {
    bucket: setting('MEDIA_S3_BUCKET', bucketName).means('Name of the bucket; it must be there already.'),
    prefix: setting('MEDIA_S3_PREFIX', keyPrefix, { default: '' }).means(
      'What the names of all objects begin with, such as herald/; two installations may share a bucket under two prefixes. Default: nothing.',
    ),
    /** null: depends on the kind of endpoint. */
    region: text('MEDIA_S3_REGION').means(
      'Region of the bucket, such as eu-central-1. Default: AWS_REGION or what the AWS configuration of the machine says; with MEDIA_S3_ENDPOINT us-east-1.',
    ),
    /**
     * null: Amazon's. It may be a private address, such as a MinIO beside Herald, and plain HTTP: the operator sets it,
     * so the rule against private addresses chosen by tenants does not apply.
     */
    endpoint: setting('MEDIA_S3_ENDPOINT', httpUrl).means(
      'Address of a store that is not Amazon S3, such as https://minio.internal:9000. It may be private. Default: Amazon S3.',
    ),
    pathStyle: flag('MEDIA_S3_PATH_STYLE').means(
      'Put the bucket into the path (https://host/bucket/key) and not before the host name (https://bucket.host/key). Default: true with MEDIA_S3_ENDPOINT, else false.',
    ),
    accessKeyId: text('MEDIA_S3_ACCESS_KEY_ID', { secret: true }).means(
      'Access key. Default: what the AWS SDK finds: AWS_ACCESS_KEY_ID, a profile, the role of a web identity, container or machine.',
    ),
    secretAccessKey: text('MEDIA_S3_SECRET_ACCESS_KEY', { secret: true }).means('Secret of MEDIA_S3_ACCESS_KEY_ID.'),
    encryption: oneOf('MEDIA_S3_ENCRYPTION', ['none', 'AES256', 'aws:kms'], { default: 'none' }).means(
      'Encryption that the store is asked for with each object: none leaves it to the settings of the bucket.',
    ),
    kmsKeyId: text('MEDIA_S3_KMS_KEY_ID').means(
      'Key for aws:kms, by id or ARN. Default: the key that the store has for it.',
    ),
    timeoutMs: integer('MEDIA_S3_TIMEOUT_MS', [500, 300_000], { default: 30_000 }).means(
      'Milliseconds to wait for an answer of the store, or for it to take or give further bytes.',
    ),
    /** Limit of bytes in files being transferred, in one process. */
    temporaryBytes: mebibytes('MEDIA_S3_TEMPORARY_MIB', [128, 1_048_576], 4_096).means(
      'Mebibytes that files on their way to the store may take in MEDIA_DIR, in one process; uploads beyond it are refused with 503, and files of customers wait.',
    ),
  },
  webhook: {
    /** Development only: webhooks may have private addresses, plain HTTP and any port. */
    allowPrivateTargets: flag('WEBHOOK_ALLOW_PRIVATE_TARGETS', { default: false }).means(
      'Let webhooks point to private addresses, localhost, plain HTTP and other ports. For development only: refused in production.',
    ),
    maxInFlight: integer('WEBHOOK_MAX_IN_FLIGHT', [10, 10_000], { default: 1_024 }).means(
      'Webhook deliveries that one worker keeps open at once.',
    ),
    maxInFlightPerEndpoint: integer('WEBHOOK_MAX_IN_FLIGHT_PER_ENDPOINT', [1, 256], { default: 64 }).means(
      'Webhook deliveries that one endpoint has open at once at the most; it earns them by quick answers.',
    ),
    maxWaiting: integer('WEBHOOK_MAX_WAITING', [1_000, 100_000_000], { default: 1_000_000 }).means(
      'Events that may wait for one endpoint that fails or rests; beyond that those go whose next attempt is furthest away.',
    ),
  },
  destinations: {
    hosts: setting('EVENT_DESTINATION_HOSTS', hostPorts, { default: [], fallback: '' }).means(
      'Hosts and ports, such as rabbitmq:5672,10.0.0.5:4222, that event destinations may connect to although their addresses are private.',
    ),
  },
  security: {
    encryptionKeys: setting('ENCRYPTION_KEYS', encryptionKeys, { secret: true, required: 'always' }).means(
      'Keys that encrypt stored secrets: version:base64 of 32 bytes, separated by commas, from openssl rand -base64 32. The highest version encrypts, all decrypt. Default: generated in DATA_DIR.',
    ),
    /** null: the highest version. Use `sealingVersion`. */
    encryptionKeyVersion: integer('ENCRYPTION_KEY_VERSION', [0, 999_999]).means(
      'Version of ENCRYPTION_KEYS that encrypts. Default: the highest. Name the old one while a new key is brought to every process, so that none meets a secret which it cannot open.',
    ),
    trustProxy: setting('TRUST_PROXY', trustProxy, { default: false }).means(
      'Which proxies may name the caller in X-Forwarded-For: false, a number of hops, or addresses separated by commas. In production not all addresses.',
    ),
    authFailuresPerMinute: integer('AUTH_FAILURES_PER_MINUTE', [1, 100_000], { default: 20 }).means(
      'Requests without a valid key that one address may make in a minute, and notifications without a valid signature.',
    ),
    /** null: only this machine may read the metrics; in production no machine may. */
    metricsToken: text('METRICS_TOKEN', { secret: true, leastLength: 16 }).means(
      'Bearer token with which Prometheus may read /metrics, in production at least 16 characters. Without it only this machine may, and in production none.',
    ),
  },
  /** People who sign in to the console. */
  people: PEOPLE_SETTINGS,
  limits: {
    /** Ask `BillingService`. */
    billing: oneOf('BILLING', ['on', 'off'], { default: 'on' }).means(
      'on: sending needs a subscription of the workspace (`herald subscription set`), and a live one-time code a package for its country (`herald otp-package grant`). off: every workspace may send, every live project may send codes to any country that it allows, and no codes are counted.',
    ),
    ratePerSecond: integer('RATE_LIMIT_PER_SECOND', [1, 1_000_000], { default: 50 }).means(
      'Requests a second of one API key, where the workspace has no limit of its own.',
    ),
    rateBurst: integer('RATE_LIMIT_BURST', [1, 1_000_000], { default: 100 }).means(
      'Requests that one API key may make at once, where the workspace has no limit of its own.',
    ),
    connectionsPerAddress: integer('CONNECTIONS_PER_ADDRESS', [0, 10_000], { default: 1_000 }).means(
      'HTTP connections that one address may have open to one process at once. Proxies that TRUST_PROXY names may have any number. 0: any number for all.',
    ),
    backlog: integer('BACKLOG_LIMIT', [1, 100_000_000], { default: 2_000_000 }).means(
      'Queued messages that one workspace may have, and as many that are scheduled; more are refused with 429.',
    ),
    messageTtlHours: integer('MESSAGE_TTL_HOURS', [1, 720], { default: 24 }).means(
      'Hours after which a message that is still queued fails as expired, where it has no ttl_seconds of its own.',
    ),
    sendLeaseMs: integer('SEND_LEASE_MS', [2_000, 120_000], { default: 20_000 }).means(
      'Milliseconds after which a message that a worker took and never settled, because it died or hangs, is outcome_unknown. At least 10000 in production.',
    ),
    otpSendsPerSecond: integer('OTP_SENDS_PER_SECOND', [1, 1_000_000], { default: 20 }).means(
      'One-time codes a second that one key may ask for; all keys of a project together three times as many.',
    ),
    otpVerifiesPerSecond: integer('OTP_VERIFIES_PER_SECOND', [1, 1_000_000], { default: 20 }).means(
      'Codes a second that one key may have verified; all keys of a project together three times as many.',
    ),
    overloadLoopDelayMs: integer('OVERLOAD_LOOP_DELAY_MS', [0, 60_000], { default: 150 }).means(
      'Mean delay of the event loop in milliseconds from which reads are refused with 503; from twice as many on writes, from four times notifications of the platform. 0: never.',
    ),
    overloadPoolWaiting: integer('OVERLOAD_POOL_WAITING', [0, 1_000_000], { default: 200 }).means(
      'Statements that wait for a connection to PostgreSQL from which reads are refused with 503; from twice as many on writes, from four times notifications of the platform. 0: never.',
    ),
  },
  tracing: {
    endpoint: setting('OTEL_EXPORTER_OTLP_ENDPOINT', httpUrl).means(
      'OpenTelemetry collector that takes traces by OTLP over HTTP, such as http://localhost:4318; /v1/traces is added. Default: no traces.',
    ),
    tracesEndpoint: setting('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', wholeUrl).means(
      'The whole address for traces, in the place of OTEL_EXPORTER_OTLP_ENDPOINT.',
    ),
    protocol: oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', ['http/protobuf', 'http/json'], { default: 'http/protobuf' }).means(
      'How traces are written. grpc is not supported.',
    ),
    headers: setting('OTEL_EXPORTER_OTLP_HEADERS', pairs, { secret: true, default: {}, fallback: '' }).means(
      'Headers for the collector, such as api-key=abc,x-tenant=a; special characters percent-encoded.',
    ),
    timeoutMs: integer('OTEL_EXPORTER_OTLP_TIMEOUT', [100, 60_000], { default: 10_000 }).means(
      'Milliseconds that the collector may take for one export; then its spans are dropped.',
    ),
    serviceName: text('OTEL_SERVICE_NAME', { default: 'herald' }).means('Name of this service in traces.'),
    resourceAttributes: setting('OTEL_RESOURCE_ATTRIBUTES', pairs, { default: {}, fallback: '' }).means(
      'What traces say of this process, such as deployment.environment.name=staging,k8s.pod.name=herald-0.',
    ),
    sampler: oneOf(
      'OTEL_TRACES_SAMPLER',
      [
        'parentbased_always_on',
        'parentbased_traceidratio',
        'parentbased_always_off',
        'always_on',
        'traceidratio',
        'always_off',
      ],
      { default: 'parentbased_always_on' },
    ).means('Which traces are recorded. With parentbased_ the traceparent of a caller decides where there is one.'),
    ratio: setting('OTEL_TRACES_SAMPLER_ARG', ratio, { default: 1 }, 'From 0 to 1.').means(
      'Part of the traces that traceidratio and parentbased_traceidratio record.',
    ),
    maxQueue: integer('OTEL_BSP_MAX_QUEUE_SIZE', [1, 1_000_000], { default: 8_192 }).means(
      'Spans that may wait for their export, some 2 KiB each; more are dropped and counted.',
    ),
    disabled: flag('OTEL_SDK_DISABLED', { default: false }).means('true: no traces, whatever the other settings say.'),
  },
  /** Days; 0: never removed. */
  retention: {
    messageContentDays: integer('MESSAGE_CONTENT_RETENTION_DAYS', DAYS, { default: 180 }).means(
      'Days after which texts and contents of messages are cleared; the journal keeps their states. 0: never.',
    ),
    receivedMediaDays: integer('RECEIVED_MEDIA_RETENTION_DAYS', DAYS, { default: 180 }).means(
      'Days after which files that customers sent are deleted. 0: never.',
    ),
    uploadedMediaDays: integer('UPLOADED_MEDIA_RETENTION_DAYS', DAYS, { default: 0 }).means(
      'Days after which uploaded files are deleted; a message that needs one later fails. 0: when their workspace deletes them.',
    ),
    attemptDays: integer('ATTEMPT_RETENTION_DAYS', [31, 36_500], { default: 400 }).means(
      'Days for which send attempts are kept that a later attempt replaced; the last one stays with the message. The platform may speak of one for 30 days, so it stays longer than that.',
    ),
    webhookDays: integer('WEBHOOK_RETENTION_DAYS', [5, 365], { default: 30 }).means(
      'Days after which webhook events, contents and all, and the log of their delivery attempts are removed.',
    ),
    notificationDays: integer('NOTIFICATION_RETENTION_DAYS', DAYS, { default: 14 }).means(
      "Days for which the platform's notifications are kept as they came, once they are applied. 0: they never expire.",
    ),
    auditDays: integer('AUDIT_RETENTION_DAYS', [31, 36_500], { default: 400 }).means(
      'Days for which the audit trail (`herald audit`) is kept. The database refuses to remove what is younger than 30 days.',
    ),
    otpDays: integer('OTP_RETENTION_DAYS', DAYS, { default: 30 }).means(
      'Days for which one-time codes and the numbers they went to are kept. 0: they never expire.',
    ),
  },
};

/** Settings of commands that call a running service over its API; the service reads neither. */
export const CLIENT_SETTINGS = {
  url: setting('HERALD_URL', httpUrl).means(
    'Where `herald message`, `tail` and `demo` find the service. Default: the address in DATA_DIR/demo.json, else http://127.0.0.1:PORT.',
  ),
  apiKey: text('HERALD_API_KEY', { secret: true }).means(
    'Key with which `herald message` and `tail` call the API. Default: that of DATA_DIR/demo.json.',
  ),
  operatorKey: text('HERALD_OPERATOR_KEY', { secret: true }).means(
    'Operator key with which commands of operators call the admin API of HERALD_URL, or of `--url`. Without it HERALD_URL is not theirs.',
  ),
};

const TITLES: Readonly<Record<keyof typeof SETTINGS, string>> = {
  process: 'Process',
  database: 'PostgreSQL',
  queue: 'Queue',
  whatsapp: 'WhatsApp',
  media: 'Media',
  s3: 'Media in S3',
  webhook: 'Webhooks',
  destinations: 'Event destinations',
  security: 'Security',
  people: 'People',
  limits: 'Limits',
  tracing: 'Traces',
  retention: 'Retention',
};

/** Every setting with the heading that it stands under in `.env.example`. */
export function listSettings(): { section: string; setting: Setting<unknown> }[] {
  const listed = (section: string, settings: object) =>
    Object.values(settings).map((each: Setting<unknown>) => ({ section, setting: each }));
  const sections = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[];
  return [
    ...sections.flatMap((name) => listed(TITLES[name], SETTINGS[name])),
    ...listed('Command line', CLIENT_SETTINGS),
  ];
}

function roles(value: string): Role[] {
  return words(value).map((word) => {
    const role = ROLES.find((each) => each === word);
    if (role === undefined) throw new InvalidSetting(`must be made of ${ROLES.join(', ')}`);
    return role;
  });
}

export const STORAGE_KINDS = ['folder', 's3'] as const;
export type StorageKind = (typeof STORAGE_KINDS)[number];

function storages(value: string): StorageKind[] {
  const kinds = words(value).flatMap((word) => STORAGE_KINDS.find((kind) => kind === word) ?? []);
  if (kinds.length === words(value).length && new Set(kinds).size === kinds.length) return kinds;
  throw new InvalidSetting('must be folder, s3, or both while files move: folder,s3 or s3,folder');
}

function bucketName(value: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{2,254}$/.test(value)) return value;
  throw new InvalidSetting('must be the name of the bucket alone, without s3:// and without a path');
}

/** Ends with a slash, unless empty. */
function keyPrefix(value: string): string {
  if (!/^[A-Za-z0-9!_.*'()-][A-Za-z0-9!_.*'()/-]{0,199}$/.test(value) || /\/\/|(^|\/)\.\.?(\/|$)/.test(value)) {
    throw new InvalidSetting("must be made of letters, digits, slashes and ! _ . * ' ( ) -, such as herald/");
  }
  return value.endsWith('/') ? value : `${value}/`;
}

/** Bytes of a setting in mebibytes. */
function mebibytes<const N extends string>(name: N, [min, max]: readonly [number, number], fallback: number) {
  const bytes = (value: string): number =>
    integer(name, [min, max], { default: fallback }).read(value, { production: false }) * 1_024 * 1_024;
  const options = { default: () => bytes(String(fallback)), fallback: String(fallback) };
  return setting(name, bytes, options, `From ${min} to ${max}.`);
}

/**
 * Midnight UTC of a day such as 2027-12-31. RFC 9745 requires the end to be after the deprecation; see
 * `api-version.ts`.
 */
function aliasSunset(value: string): Date {
  const day = new Date(/^\d{4}-\d{2}-\d{2}$/.test(value) ? `${value}T00:00:00Z` : Number.NaN);
  if (day.getTime() > Date.UTC(2026, 0, 1)) return day;
  throw new InvalidSetting('must be a day after 2026-01-01, such as 2027-12-31');
}

/** A base address to which paths are appended, without a trailing slash. */
function httpUrl(value: string): string {
  const { search, hash } = new URL(wholeUrl(value));
  if (search !== '' || hash !== '') throw new InvalidSetting('must have nothing behind a ? or #');
  return value.replace(/\/+$/, '');
}

/** Addresses are logged and shown, so one with a password is refused. */
function wholeUrl(value: string): string {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) {
    throw new InvalidSetting('must be a URL that begins with http:// or https://');
  }
  const { username, password } = new URL(value);
  if (username !== '' || password !== '') throw new InvalidSetting('must have no user and no password');
  return value;
}
