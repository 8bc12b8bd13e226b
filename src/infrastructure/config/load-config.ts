import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { generatedSecrets } from './generated-secrets.js';
import { peopleRules } from './people-settings.js';
import { InvalidSetting, type Setting, type Surroundings } from './setting.js';
import { CLIENT_SETTINGS, SETTINGS } from './settings.js';

/**
 * Minimum of SEND_LEASE_MS: a shorter lease may end while a process pauses, and unsent messages would become unknown.
 */
const MIN_LEASE_MS = 10_000;
/** Random text has fewer different characters once in 10^5. */
const MIN_DIFFERENT_CHARACTERS = 3;
/** Limit of a file with a setting's value; larger than any list of keys. */
const MAX_FILE_BYTES = 65_536;

/** See `poolingOf`. */
type Pooling = 'none' | 'session' | 'transaction';
type Table = typeof SETTINGS;
type ValuesOf<S> = { -readonly [F in keyof S]: S[F] extends Setting<infer T> ? T : never };
/** The value of each setting. */
type Values = { [S in keyof Table]: ValuesOf<Table[S]> };
type NameOf<S> = S extends Record<string, { name: infer N }> ? N : never;
type SettingName = NameOf<Table[keyof Table]>;
type Env = Record<string, string | undefined>;

/** All invalid settings at once, by name, without the values of secrets. */
export class ConfigError extends Error {
  /** @param logFormat the format in which to print it. */
  constructor(
    readonly violations: string[],
    readonly logFormat: 'pretty' | 'json' = 'pretty',
  ) {
    super(`Herald cannot start with these settings:\n${violations.map((each) => `  - ${each}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Reads settings from `.env` in the working folder, if it exists; variables that are already set take precedence. */
export function readEnvFile(): void {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

export interface LoadConfigOptions {
  /** The environment to read. Default: that of this process. */
  env?: Env;
  /**
   * Whether to generate missing secrets and store them under DATA_DIR. False only where nothing is served (documents).
   */
  persistSecrets?: boolean;
  /**
   * The settings that production must have. Default: everything its roles need; a migration needs only the database.
   */
  required?: readonly SettingName[];
}

/** The validated settings of this process, in the sections of the table. */
export type LoadedConfig = ReturnType<typeof complete>;

/**
 * Reads and validates every setting.
 *
 * @throws ConfigError naming all invalid settings together.
 */
export function loadConfig({ env: given = process.env, persistSecrets = true, required }: LoadConfigOptions = {}) {
  const violations: string[] = [];
  const env = withFiles(allSettings(), given, violations);
  const surroundings = { production: env.NODE_ENV?.trim() === 'production' };
  const sections = Object.entries(SETTINGS).map(([section, settings]) => [
    section,
    readSection(settings, env, surroundings, violations),
  ]);
  const values = Object.fromEntries(sections) as Values;
  if (surroundings.production) violations.push(...missingSettings(values, env, required), ...weakSecrets(env));
  violations.push(
    ...rulesOf(values, env, surroundings).flatMap(([isBroken, violation]) => (isBroken ? [violation] : [])),
  );
  if (violations.length > 0) throw new ConfigError(violations, values.process.logFormat);
  return complete(values, surroundings, persistSecrets);
}

/** Settings of commands that call a service over HTTP. Only these are validated. */
export function loadClientConfig(given: Env = process.env) {
  const violations: string[] = [];
  const { dataDir, port } = SETTINGS.process;
  const settings = { ...CLIENT_SETTINGS, dataDir, port };
  const env = withFiles(Object.values(settings), given, violations);
  const config = readSection(settings, env, { production: false }, violations);
  if (violations.length > 0) throw new ConfigError(violations);
  return config;
}

function readSection<S extends object>(settings: S, env: Env, surroundings: Surroundings, violations: string[]) {
  const read = (setting: Setting<unknown>): unknown => {
    const text = textOf(setting, env);
    if (text === undefined) return setting.defaultFor(surroundings);
    try {
      return setting.read(text, surroundings);
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      violations.push(`${setting.name} ${error.message}`);
      return setting.defaultFor(surroundings);
    }
  };
  return Object.fromEntries(Object.entries(settings).map(([field, each]) => [field, read(each)])) as ValuesOf<S>;
}

function textOf({ name }: Setting<unknown>, env: Env): string | undefined {
  return env[name]?.trim() || undefined;
}

/** The file with the value, for secrets that are mounted into containers: DATABASE_URL_FILE=/run/secrets/db. */
function fileOf({ name }: Setting<unknown>, env: Env): string | undefined {
  return env[`${name}_FILE`]?.trim() || undefined;
}

/** The environment with the contents of the files that it refers to. */
function withFiles(settings: readonly Setting<unknown>[], env: Env, violations: string[]): Env {
  const read = settings.flatMap((setting): [string, string][] => {
    const { name } = setting;
    const file = fileOf(setting, env);
    if (file === undefined) return [];
    if (textOf(setting, env) !== undefined) {
      violations.push(`${name} and ${name}_FILE are both set; set one of them`);
      return [];
    }
    try {
      return [[name, readSettingFile(file)]];
    } catch (error) {
      violations.push(`${name}_FILE names ${file}, which ${(error as Error).message}`);
      return [];
    }
  });
  return { ...env, ...Object.fromEntries(read) };
}

function readSettingFile(path: string): string {
  let text: string;
  try {
    const about = statSync(path);
    // A device or a pipe may never end.
    if (!about.isFile()) throw new Error('it is not a regular file');
    if (about.size > MAX_FILE_BYTES) throw new Error(`it has ${about.size} bytes, more than ${MAX_FILE_BYTES}`);
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    // Node appends the path, which the message already has.
    throw new Error(`can't be read: ${(error as Error).message.replace(/, \w+ '.*'$/, '')}`, { cause: error });
  }
  if (text === '') throw new Error('is empty');
  return text;
}

function allSettings(): Setting<unknown>[] {
  return Object.values(SETTINGS).flatMap((section): Setting<unknown>[] => Object.values(section));
}

function missingSettings({ process: { roles } }: Values, env: Env, names?: readonly SettingName[]): string[] {
  const isRequired = ({ name, options: { required: by } }: Setting<unknown>): boolean =>
    (names as readonly string[] | undefined)?.includes(name) ??
    (by === 'always' || (by !== undefined && roles.includes(by)));
  return allSettings()
    .filter((setting) => isRequired(setting) && (textOf(setting, env) ?? fileOf(setting, env)) === undefined)
    .map(({ name }) => `${name} must be set in production`);
}

/** Secrets that are accepted on a laptop but not in production; names only, never values. */
function weakSecrets(env: Env): string[] {
  return allSettings()
    .filter((setting) => isWeak(setting, textOf(setting, env)))
    .map(
      ({ name, options: { leastLength } }) =>
        `${name} must be at least ${leastLength} random characters in production, such as openssl rand -hex 24 makes`,
    );
}

/** Rules between settings, and the rules of production. */
function rulesOf(values: Values, env: Env, { production }: Surroundings): [isBroken: boolean, violation: string][] {
  const { process, webhook, limits, whatsapp, security, media, s3 } = values;
  const { encryptionKeys: keys, encryptionKeyVersion: version } = security;
  return [
    [production && process.demo === true, 'DEMO must not be true in production'],
    [production && webhook.allowPrivateTargets, 'WEBHOOK_ALLOW_PRIVATE_TARGETS must not be true in production'],
    [
      // The text of the setting, since a refused value is replaced by the default.
      production && /\bsimulator\b/.test(textOf(SETTINGS.process.roles, env) ?? ''),
      'ROLES must not contain simulator in production',
    ],
    [
      production && limits.sendLeaseMs < MIN_LEASE_MS,
      `SEND_LEASE_MS must be at least ${MIN_LEASE_MS} in production; shorter ones are for tests`,
    ],
    [
      production && whatsapp.apiUrl !== null && !/^https:/i.test(whatsapp.apiUrl),
      'WHATSAPP_API_URL must begin with https:// in production, for access tokens go there',
    ],
    [
      production && env.NODE_TLS_REJECT_UNAUTHORIZED === '0',
      'NODE_TLS_REJECT_UNAUTHORIZED must not be 0 in production: name a certificate authority of your own in NODE_EXTRA_CA_CERTS',
    ],
    [
      keys !== null && version !== null && !keys.some((key) => key.version === version),
      `ENCRYPTION_KEY_VERSION is ${version}, a version that ENCRYPTION_KEYS does not have`,
    ],
    [
      media.storages.includes('s3') && s3.bucket === null,
      'MEDIA_S3_BUCKET must be set, for MEDIA_STORAGE names s3: the name of a bucket that is there',
    ],
    [
      s3.accessKeyId !== null && s3.secretAccessKey === null,
      'MEDIA_S3_SECRET_ACCESS_KEY must be set with MEDIA_S3_ACCESS_KEY_ID, or neither, so that the AWS SDK looks for both',
    ],
    [
      s3.accessKeyId === null && s3.secretAccessKey !== null,
      'MEDIA_S3_ACCESS_KEY_ID must be set with MEDIA_S3_SECRET_ACCESS_KEY, or neither, so that the AWS SDK looks for both',
    ],
    [
      s3.kmsKeyId !== null && s3.encryption !== 'aws:kms',
      'MEDIA_S3_KMS_KEY_ID is of use with MEDIA_S3_ENCRYPTION=aws:kms only: set it, or leave the key out',
    ],
    [
      production && process.roles.includes('worker') && process.shutdownTimeoutMs <= whatsapp.timeoutMs,
      'SHUTDOWN_TIMEOUT_MS must be more than WHATSAPP_TIMEOUT_MS in production, or a stop cuts off messages in flight',
    ],
    // An answer after the end of the lease would give an accepted message an unknown outcome.
    [limits.sendLeaseMs <= whatsapp.timeoutMs, 'SEND_LEASE_MS must be more than WHATSAPP_TIMEOUT_MS'],
    ...peopleRules(values.people, process.publicUrl, production),
  ];
}

function isWeak({ options: { leastLength } }: Setting<unknown>, text: string | undefined): boolean {
  if (leastLength === undefined || text === undefined) return false;
  const secrets = text.split(',').map((word) => word.trim());
  return secrets.some((word) => word.length < leastLength || new Set(word).size < MIN_DIFFERENT_CHARACTERS);
}

function secretsIn({ dataDir, logFormat }: Values['process'], persist: boolean) {
  try {
    return generatedSecrets(dataDir, persist);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new ConfigError([`DATA_DIR names ${dataDir}, which can't be read or written: ${code}`], logFormat);
  }
}

/** Adds values that depend on several settings, and the generated secrets. */
function complete(values: Values, { production }: Surroundings, persistSecrets: boolean) {
  const { process, database, media, s3, whatsapp, security, tracing } = values;
  const { dataDir } = process;
  const isComplete = security.encryptionKeys && whatsapp.appSecrets && whatsapp.verifyToken;
  const generated = production || isComplete ? null : secretsIn(process, persistSecrets);
  return {
    ...values,
    // Whether a pooler lends the connections of `url` and `directUrl`; detected at the start.
    database: { ...database, pooling: 'none' as Pooling, directPooling: 'none' as Pooling },
    process: { ...process, production, demo: !production && (process.demo ?? database.url === null) },
    media: {
      ...media,
      dir: media.dir ?? join(dataDir, 'media'),
      /** Limit of stored bytes for a workspace without a limit of its own; null: none. */
      workspaceLimitBytes: media.workspaceLimitBytes || null,
    },
    s3: { ...s3, pathStyle: s3.pathStyle ?? s3.endpoint !== null },
    whatsapp: {
      ...whatsapp,
      appSecrets: whatsapp.appSecrets ?? (generated === null ? [] : [generated.appSecret]),
      verifyToken: whatsapp.verifyToken ?? generated?.verifyToken ?? '',
    },
    tracing: {
      ...tracing,
      /** The destination of traces; null: none. */
      url: tracing.disabled ? null : (tracing.tracesEndpoint ?? (tracing.endpoint && `${tracing.endpoint}/v1/traces`)),
    },
    security: {
      ...security,
      encryptionKeys: security.encryptionKeys ?? generated?.encryptionKeys ?? [],
      encryptionKeyVersion: security.encryptionKeys === null ? null : security.encryptionKeyVersion,
    },
  };
}
