import { accessSync, constants, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import { platformUrl } from '../../infrastructure/whatsapp/api-root.js';
import { within } from '../../common/within.js';
import { describeError } from '../../common/describe-error.js';
import { type Config, changedConfig } from '../../infrastructure/config/config.js';
import { sealingVersion } from '../../infrastructure/config/encryption-keys.js';
import { QueueConnection } from '../../infrastructure/lanes/queue-connection.js';
import { ConfigError, loadConfig } from '../../infrastructure/config/load-config.js';
import { runningSimulator } from '../../bootstrap/demo-file.js';
import { openDatabase } from '../session.js';
import { checkDatabase, EMPTY_DATABASE, fail, type Finding, guarded, ok, warn } from './database-checks.js';

const REACH_WITHIN_MS = 5_000;
const MIB = 1_024 * 1_024;
/** Of 32 random bytes fewer than 16 are different once in 10^9 keys. */
const LEAST_DIFFERENT_BYTES = 16;

export function checkDataDir(config: Config): Finding {
  const dataDir = resolve(config.process.dataDir);
  const probe = join(dataDir, `.doctor-${process.pid}`);
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
    writeFileSync(probe, 'x');
    return ok('data folder', `${dataDir} can be written`);
  } catch (error) {
    return fail('data folder', `${dataDir} can't be written: ${describeError(error)}`);
  } finally {
    rmSync(probe, { force: true });
  }
}

export function checkEncryptionKeys(config: Config): Finding {
  const { encryptionKeys } = config.security;
  if (encryptionKeys.length === 0) return fail('encryption keys', 'there are none: set ENCRYPTION_KEYS');
  const text = `active key ${sealingVersion(config.security)}, ${encryptionKeys.length} loaded`;
  if (encryptionKeys.some(({ key }) => new Set(key).size < LEAST_DIFFERENT_BYTES)) {
    return warn('encryption keys', `${text}; one of them is not random: make it with openssl rand -base64 32`);
  }
  return ok('encryption keys', text);
}

export function checkBilling({ limits }: Config): Finding {
  return limits.billing === 'off'
    ? ok('billing', 'off: no workspace needs a subscription, no live project a package of codes')
    : ok('billing', 'on: sending needs a subscription, a live code a package; BILLING=off asks for neither');
}

/** Uploads are refused below MEDIA_MIN_FREE_MIB; an embedded database stops at nothing left. */
export function checkDisk(config: Config): Finding {
  const { dir, minFreeBytes } = config.media;
  mkdirSync(dir, { recursive: true });
  const { bavail, bsize } = statfsSync(dir);
  const free = bavail * bsize;
  const text = `${Math.floor(free / MIB)} MiB free where media files lie (${resolve(dir)})`;
  if (free < minFreeBytes) return fail('disk', `${text}: uploads are refused below ${minFreeBytes / MIB} MiB`);
  return free < minFreeBytes * 4 ? warn('disk', `${text}: uploads will be refused soon`) : ok('disk', text);
}

/** Writes, reads, lists and removes one object, as the service does with files. */
export async function checkBucket(config: Config): Promise<Finding> {
  const { S3Storage } = await import('../../infrastructure/storage/s3-storage.js');
  const { bucket, endpoint, prefix } = config.s3;
  const where = `${bucket}${prefix === '' ? '' : `/${prefix}`} at ${endpoint ?? 'Amazon S3'}`;
  const storage = new S3Storage(config);
  // What fails is the finding; its log lines would stand among the answers.
  Logger.overrideLogger(false);
  try {
    const note = await storage.probe();
    const text = `${where}: an object was written, read, listed and removed`;
    return note === null ? ok('bucket', text) : warn('bucket', `${text}; ${note}`);
  } catch (error) {
    return fail('bucket', `${where}: ${describeError(error)}`);
  } finally {
    await storage.close();
  }
}

/** Asks the queue's own server; its tables are made by `herald migrate` or by a start. */
export async function checkQueue(config: Config): Promise<Finding> {
  const where = config.queue.redisUrl === null ? 'PostgreSQL' : 'Redis';
  const connection = await QueueConnection.open(
    changedConfig(config, {
      database: { ...config.database, migrate: false },
      queue: { ...config.queue, poolSize: 2 },
    }),
  );
  try {
    const answered = connection.ping().then(() => true);
    if ((await within(REACH_WITHIN_MS, answered)) === null) {
      const reason = connection.error === null ? '' : ` (${connection.error})`;
      throw new Error(`${where} did not answer within 5 s${reason}: check REDIS_URL`);
    }
    const redis = await connection.redisFacts();
    if (redis === null) return ok('queue', `${where} answers`);
    const text = `Redis ${redis.version} answers`;
    if (redis.evicts) return warn('queue', `${text}, but may evict keys: set maxmemory-policy noeviction`);
    return ok('queue', text);
  } finally {
    await connection.onApplicationShutdown();
  }
}

/** Any answer will do, whatever its status: the path leads nowhere, and no token is shown. */
export async function checkPlatform(config: Config): Promise<Finding> {
  const { apiUrl, apiVersion } = config.whatsapp;
  const running = apiUrl === null ? runningSimulator(config.process.dataDir) : null;
  const url = running ?? platformUrl(config.whatsapp);
  try {
    const response = await fetch(`${url}/${apiVersion}/`, { signal: AbortSignal.timeout(REACH_WITHIN_MS) });
    await response.body?.cancel();
    return ok('WhatsApp', `${url} answers`);
  } catch (error) {
    const { cause, message } = error as Error;
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message;
    if (apiUrl === null) return warn('WhatsApp', `the simulator does not run (it starts with npm start): ${reason}`);
    return fail('WhatsApp', `${url} can't be reached: ${reason}`);
  }
}

/** What callers are given as the service's address: the links to files and to error codes. */
export function checkPublicUrl({ process }: Config): Finding {
  const { publicUrl, production } = process;
  if (publicUrl !== null) return ok('address', publicUrl);
  const text = 'PUBLIC_URL is not set: links to files and to error codes lead to this machine';
  return production ? warn('address', `${text}; set the https address that callers use`) : ok('address', text);
}

/** Every check in its order; what one finds keeps no other from being made. */
export async function examine(): Promise<Finding[]> {
  let config;
  try {
    config = loadConfig();
  } catch (error) {
    if (error instanceof ConfigError) return error.violations.map((violation) => fail('settings', violation));
    return [fail('settings', describeError(error))];
  }
  const { storages } = config.media;
  const findings = [
    ok('settings', `${config.process.environment}, all valid`),
    checkDataDir(config),
    ...(storages.includes('folder') ? [await guarded('disk', async () => checkDisk(config))] : []),
    ...(storages.includes('s3') ? [await guarded('bucket', () => checkBucket(config))] : []),
    checkEncryptionKeys(config),
    checkBilling(config),
    checkPublicUrl(config),
  ];
  let session;
  try {
    session = await openDatabase(config);
  } catch (error) {
    return [...findings, fail('database', (error as Error).message), await checkPlatform(config)];
  }
  try {
    findings.push(...(await checkDatabase(session.config)));
    const isEmpty = findings.some(({ detail }) => detail === EMPTY_DATABASE);
    // In PostgreSQL the queue has tables of its own, which come with the others.
    const queue =
      isEmpty && config.queue.redisUrl === null
        ? warn('queue', 'its tables are made by herald migrate too')
        : await guarded('queue', () => checkQueue(session.config));
    return [...findings, queue, await checkPlatform(config)];
  } finally {
    await session.close();
  }
}
