import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/project-files.js';

const FOLDER = join(ROOT, 'deploy/prometheus');
const installed = spawnSync('promtool', ['--version']).error === undefined;

function promtool(...args: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: FOLDER, encoding: 'utf8', timeout: 30_000 });
  return { status, said: stdout + stderr };
}

// Debian's package prometheus has the program; `npm run test:alerts` makes the faults themselves.
(installed ? describe : describe.skip)('the alerts of deploy/prometheus', () => {
  it('are rules that Prometheus takes', () => {
    expect(promtool('check', 'rules', 'herald.rules.yml')).toMatchObject({ status: 0 });
  });

  it('fire where their unit tests say, and not otherwise', () => {
    expect(promtool('test', 'rules', 'herald.rules.test.yml')).toMatchObject({ status: 0 });
  });
});
