import { spawnSync } from 'node:child_process';
import { ROOT } from '../support/project-files.js';

describe('generated files', () => {
  it('are what the sources generate; else the failure names the command that fixes it', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/generate.mjs', '--check'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
