import { join } from 'node:path';
import { parseUrl } from '../../common/parse-url.js';
import { Config, type EncryptionKey } from './config.js';
import { generatedSecrets } from './generated-secrets.js';
import { productionFaults, weakKeyFaults } from './production-faults.js';
import { ROLES, type Role, type Setting } from './setting.js';
import { SETTINGS } from './settings.js';
import { trustProxy, trustProxyFaults } from './trust-proxy.js';

/** RFC 9745 wants the end after the deprecation; see `api-version.ts`. */
const ALIAS_DEPRECATED_SINCE = Date.UTC(2026, 0, 1);

/** All faults of the settings at once; names them, never a secret's value. */
export class ConfigError extends Error {
  constructor(readonly faults: string[]) {
    super(`Herald cannot start with these settings:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

export interface LoadConfigOptions {
  /** The environment to read. Default: that of this process. */
  env?: Record<string, string | undefined>;
  /** Generate missing secrets and keep them under DATA_DIR. False only where nothing is served (documents). */
  persistSecrets?: boolean;
  /** What production must name. Default: everything that its roles need; a migration needs the database alone. */
  required?: readonly string[];
}

/**
 * Reads and validates every setting.
 *
 * @throws ConfigError naming all faulty settings together.
 */
export function loadConfig(options: LoadConfigOptions = {}): Config {
  const env = options.env ?? process.env;
  const faults: string[] = [];
  const values = new Map<string, string | null>();
  const production = env.NODE_ENV === 'production';
  for (const setting of SETTINGS) {
    const raw = env[setting.name]?.trim();
    const value = raw === undefined || raw === '' ? setting.fallback : raw;
    if (value !== null) faults.push(...faultsOf(setting, value));
    values.set(setting.name, value);
  }
  const text = (name: string): string | null => values.get(name) ?? null;
  const number = (name: string): number => Number(text(name));
  const list = (name: string): string[] | null =>
    text(name)
      ?.split(',')
      .map((item) => item.trim())
      .filter(Boolean) ?? null;
  const flag = (name: string): boolean | null => (text(name) === null ? null : text(name) === 'true');

  const roles = (list('ROLES') ?? [...ROLES]) as Role[];
  const isRequired = ({ name, requiredInProduction: by }: Setting): boolean =>
    options.required?.includes(name) ?? (by === 'always' || (by !== undefined && roles.includes(by)));
  if (production) {
    const missing = SETTINGS.filter((setting) => text(setting.name) === null && isRequired(setting));
    faults.push(...missing.map(({ name }) => `${name} must be set in production`));
    faults.push(...productionFaults({ text, list }, SETTINGS, env));
  }
  const keys = list('ENCRYPTION_KEYS') === null ? null : encryptionKeys(list('ENCRYPTION_KEYS') ?? [], faults);
  if (production) faults.push(...weakKeyFaults(keys ?? []));
  const keyVersion = text('ENCRYPTION_KEY_VERSION') === null ? null : number('ENCRYPTION_KEY_VERSION');
  if (keys !== null && keyVersion !== null && !keys.some(({ version }) => version === keyVersion)) {
    faults.push(`ENCRYPTION_KEY_VERSION is ${keyVersion}, a version that ENCRYPTION_KEYS does not have`);
  }
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'WHATSAPP_API_URL', 'PUBLIC_URL']) {
    const value = text(name);
    if (value !== null && parseUrl(value) === null) faults.push(`${name} must be a URL`);
  }
  const aliasSunset = dayOf(text('API_ALIAS_SUNSET'));
  if (aliasSunset !== null && !(aliasSunset.getTime() > ALIAS_DEPRECATED_SINCE))
    faults.push('API_ALIAS_SUNSET must be a day after 2026-01-01, such as 2027-12-31');
  faults.push(...trustProxyFaults(text('TRUST_PROXY') ?? 'false', production));
  // An answer that comes after the lease makes a doubt of a message that was taken.
  if (number('SEND_LEASE_MS') <= number('WHATSAPP_TIMEOUT_MS'))
    faults.push('SEND_LEASE_MS must be more than WHATSAPP_TIMEOUT_MS');
  if (faults.length > 0) throw new ConfigError(faults);

  const dataDir = text('DATA_DIR') ?? '.data';
  const needsSecrets =
    !production && (keys === null || list('WHATSAPP_APP_SECRET') === null || text('WHATSAPP_VERIFY_TOKEN') === null);
  const generated = needsSecrets ? generatedSecrets(dataDir, options.persistSecrets ?? true) : null;
  const databaseUrl = text('DATABASE_URL');
  const loaded: Config = {
    process: {
      environment: (text('NODE_ENV') ?? 'development') as Config['process']['environment'],
      production,
      roles,
      host: text('HOST') ?? (production ? '0.0.0.0' : '127.0.0.1'),
      port: number('PORT'),
      publicUrl: text('PUBLIC_URL')?.replace(/\/+$/, '') ?? null,
      aliasSunset,
      dataDir,
      shutdownTimeoutMs: number('SHUTDOWN_TIMEOUT_MS'),
      shutdownDrainMs: Number(text('SHUTDOWN_DRAIN_MS') ?? (production ? 2_000 : 0)),
      logLevel: text('LOG_LEVEL') ?? 'info',
      logFormat: (text('LOG_FORMAT') ?? (process.stdout.isTTY ? 'pretty' : 'json')) as 'pretty' | 'json',
      logsAddress: flag('LOG_ADDRESSES') ?? true,
      demo: !production && (flag('DEMO') ?? databaseUrl === null),
      docs: flag('API_DOCS') ?? !production,
    },
    database: {
      url: databaseUrl,
      poolSize: number('DATABASE_POOL_SIZE'),
      queryTimeoutMs: number('DATABASE_QUERY_TIMEOUT_MS'),
      connectTimeoutMs: number('DATABASE_CONNECT_TIMEOUT_MS'),
      migrate: flag('DATABASE_MIGRATE') ?? true,
    },
    queue: {
      redisUrl: text('REDIS_URL'),
      redisCluster: flag('REDIS_CLUSTER') ?? false,
      prefix: text('QUEUE_PREFIX') ?? 'herald',
      poolSize: number('QUEUE_POOL_SIZE'),
      concurrency: number('WORKER_CONCURRENCY'),
      maxInFlight: number('WORKER_MAX_IN_FLIGHT'),
    },
    whatsapp: {
      apiUrl: text('WHATSAPP_API_URL')?.replace(/\/+$/, '') ?? null,
      apiVersion: text('WHATSAPP_API_VERSION') ?? '',
      appSecrets: list('WHATSAPP_APP_SECRET') ?? (generated === null ? [] : [generated.appSecret]),
      verifyToken: text('WHATSAPP_VERIFY_TOKEN') ?? generated?.verifyToken ?? '',
      timeoutMs: number('WHATSAPP_TIMEOUT_MS'),
      simulatorHost: text('SIMULATOR_HOST') ?? '',
      simulatorPort: number('SIMULATOR_PORT'),
      simulatorSeed: text('SIMULATOR_SEED') ?? 'herald',
    },
    webhook: {
      allowPrivateTargets: flag('WEBHOOK_ALLOW_PRIVATE_TARGETS') ?? false,
      maxInFlight: number('WEBHOOK_MAX_IN_FLIGHT'),
      maxWaiting: number('WEBHOOK_MAX_WAITING'),
    },
    media: {
      dir: text('MEDIA_DIR') ?? join(dataDir, 'media'),
      minFreeBytes: number('MEDIA_MIN_FREE_MIB') * 1_024 * 1_024,
      workspaceLimitBytes: number('MEDIA_WORKSPACE_LIMIT_MIB') * 1_024 * 1_024 || null,
      maxInboundBytes: number('MEDIA_MAX_INBOUND_MIB') * 1_024 * 1_024,
    },
    security: {
      encryptionKeys: keys ?? generated?.encryptionKeys ?? [],
      encryptionKeyVersion: keys === null ? null : keyVersion,
      trustProxy: trustProxy(text('TRUST_PROXY') ?? 'false'),
      authFailuresPerMinute: number('AUTH_FAILURES_PER_MINUTE'),
      metricsToken: text('METRICS_TOKEN'),
    },
    retention: {
      messageContentDays: number('MESSAGE_CONTENT_RETENTION_DAYS'),
      receivedMediaDays: number('RECEIVED_MEDIA_RETENTION_DAYS'),
      uploadedMediaDays: number('UPLOADED_MEDIA_RETENTION_DAYS'),
      attemptDays: number('ATTEMPT_RETENTION_DAYS'),
      webhookDays: number('WEBHOOK_RETENTION_DAYS'),
      notificationDays: number('NOTIFICATION_RETENTION_DAYS'),
      otpDays: number('OTP_RETENTION_DAYS'),
    },
    limits: {
      ratePerSecond: number('RATE_LIMIT_PER_SECOND'),
      rateBurst: number('RATE_LIMIT_BURST'),
      backlog: number('BACKLOG_LIMIT'),
      messageTtlHours: number('MESSAGE_TTL_HOURS'),
      sendLeaseMs: number('SEND_LEASE_MS'),
      otpSendsPerSecond: number('OTP_SENDS_PER_SECOND'),
      otpVerifiesPerSecond: number('OTP_VERIFIES_PER_SECOND'),
      connectionsPerAddress: number('CONNECTIONS_PER_ADDRESS'),
      overloadLoopDelayMs: number('OVERLOAD_LOOP_DELAY_MS'),
      overloadPoolWaiting: number('OVERLOAD_POOL_WAITING'),
    },
  };
  return loaded;
}

/** Midnight UTC of a day such as 2027-12-31; an invalid date for any other text. */
function dayOf(text: string | null): Date | null {
  if (text === null) return null;
  return new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : Number.NaN);
}

function faultsOf(setting: Setting, value: string): string[] {
  switch (setting.type) {
    case 'integer': {
      const valid = /^-?\d+$/.test(value) && Number.isSafeInteger(Number(value));
      if (!valid) return [`${setting.name} must be a whole number`];
      const tooSmall = setting.min !== undefined && Number(value) < setting.min;
      const tooLarge = setting.max !== undefined && Number(value) > setting.max;
      return tooSmall || tooLarge ? [`${setting.name} must be from ${setting.min} to ${setting.max}`] : [];
    }
    case 'boolean':
      return value === 'true' || value === 'false' ? [] : [`${setting.name} must be true or false`];
    case 'list':
    case 'string': {
      const words =
        setting.type === 'list'
          ? value
              .split(',')
              .map((word) => word.trim())
              .filter(Boolean)
          : [value];
      const allowed = setting.oneOf;
      if (words.length === 0) return [`${setting.name} must not be empty`];
      if (allowed === undefined || words.every((word) => allowed.includes(word))) return [];
      return [`${setting.name} must be ${setting.type === 'list' ? 'made of' : 'one of'} ${allowed.join(', ')}`];
    }
  }
}

function encryptionKeys(items: string[], faults: string[]): EncryptionKey[] {
  const keys: EncryptionKey[] = [];
  for (const item of items) {
    const match = /^(\d{1,6}):([A-Za-z0-9+/]{43}=)$/.exec(item);
    if (match === null) {
      faults.push('ENCRYPTION_KEYS must be made of version:base64 of 32 bytes, such as 1:<openssl rand -base64 32>');
      return [];
    }
    keys.push({ version: Number(match[1]), key: Buffer.from(match[2] ?? '', 'base64') });
  }
  if (new Set(keys.map((key) => key.version)).size !== keys.length) {
    faults.push('ENCRYPTION_KEYS must not name a version twice');
  }
  return keys;
}
