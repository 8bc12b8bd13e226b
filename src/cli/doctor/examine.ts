import { describeError } from '../../common/describe-error.js';
import { ConfigError, loadConfig } from '../../infrastructure/config/load-config.js';
import { openDatabase } from '../session.js';
import { checkDatabase } from './database-checks.js';
import { fail, guarded, ok, type Finding } from './finding.js';
import { checkDataDir, checkDisk, checkEncryptionKeys, checkPlatform, checkQueue } from './surroundings-checks.js';

/** Every check in its order; what one finds keeps no other from being made. */
export async function examine(): Promise<Finding[]> {
  let config;
  try {
    config = loadConfig();
  } catch (error) {
    if (error instanceof ConfigError) return error.violations.map((violation) => fail('settings', violation));
    return [fail('settings', describeError(error))];
  }
  const findings = [
    ok('settings', `${config.process.environment}, all valid`),
    checkDataDir(config),
    await guarded('disk', () => Promise.resolve().then(() => checkDisk(config))),
    checkEncryptionKeys(config),
  ];
  const database = await openDatabase(config).catch((error: unknown) => error);
  if (database instanceof Error) return [...findings, fail('database', database.message), await checkPlatform(config)];
  const session = database as Awaited<ReturnType<typeof openDatabase>>;
  try {
    findings.push(...(await checkDatabase(session.config, session.url)));
    findings.push(await guarded('queue', () => checkQueue(session.config)));
    findings.push(await checkPlatform(config));
    return findings;
  } finally {
    await session.close();
  }
}
