import { platformUrl } from '../../platform/whatsapp/api-root.js';
import { describeError } from '../../common/describe-error.js';
import { accessSync, constants, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { changedConfig, type Config } from '../../platform/config/config.js';
import { QueueConnection } from '../../platform/lanes/queue-connection.js';
import { fail, ok, warn, type Finding } from './finding.js';

const REACH_WITHIN_MS = 5_000;

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
  const versions = config.security.encryptionKeys.map((key) => key.version).sort((a, b) => b - a);
  const [newest] = versions;
  if (newest === undefined) return fail('encryption keys', 'there are none: set ENCRYPTION_KEYS');
  return ok('encryption keys', `version ${newest} seals, ${versions.length} open`);
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
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${where} did not answer within 5 s`)), REACH_WITHIN_MS);
  });
  try {
    await Promise.race([connection.ping(), timeout]);
    return ok('queue', `${where} answers`);
  } finally {
    clearTimeout(timer);
    await connection.onApplicationShutdown();
  }
}

/** Any answer will do, whatever its status: the path leads nowhere, and no token is shown. */
export async function checkPlatform(config: Config): Promise<Finding> {
  const { apiUrl, apiVersion } = config.whatsapp;
  const url = platformUrl(config.whatsapp);
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
