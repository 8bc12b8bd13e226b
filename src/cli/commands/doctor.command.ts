import { describeError } from '../../common/describe-error.js';
import type { Command } from 'commander';
import { ConfigError, loadConfig } from '../../platform/config/load-config.js';
import type { Answer } from '../answer.js';
import { checkDatabase } from '../doctor/database-checks.js';
import { fail, guarded, ok, type Finding } from '../doctor/finding.js';
import {
  checkDataDir,
  checkDisk,
  checkEncryptionKeys,
  checkPlatform,
  checkQueue,
} from '../doctor/surroundings-checks.js';
import { does } from '../runner.js';
import { openDatabase } from '../session.js';

const MARKS = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const;

/** `doctor`. */
export function addDoctorCommand(program: Command): void {
  does(program.command('doctor').description('check every dependency and setting, one line each'), async () =>
    answerOf(await examine()),
  );
}

async function examine(): Promise<Finding[]> {
  let config;
  try {
    config = loadConfig();
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map((fault) => fail('settings', fault));
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

function answerOf(findings: Finding[]): Answer {
  const width = Math.max(...findings.map((finding) => finding.check.length));
  return {
    data: findings,
    text: findings.map(({ check, status, detail }) => `${MARKS[status]} ${check.padEnd(width)}  ${detail}`).join('\n'),
    failed: findings.some((finding) => finding.status === 'fail'),
  };
}
