import type { Command } from 'commander';
import type { Answer } from '../answer.js';
import type { Finding } from '../doctor/finding.js';
import { action } from '../runner.js';

const MARKS = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const;

/** `doctor`. */
export function addDoctorCommand(program: Command): void {
  action(program.command('doctor').description('check every dependency and setting, one line each'), async () => {
    // Loaded only for this command: every other one would wait for it.
    const { examine } = await import('../doctor/examine.js');
    return answerOf(await examine());
  });
}

function answerOf(findings: Finding[]): Answer {
  const width = Math.max(...findings.map((finding) => finding.check.length));
  return {
    data: findings,
    text: findings.map(({ check, status, detail }) => `${MARKS[status]} ${check.padEnd(width)}  ${detail}`).join('\n'),
    failed: findings.some((finding) => finding.status === 'fail'),
  };
}
