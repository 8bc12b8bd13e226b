import { join } from 'node:path';
import { run } from './run.mjs';

// A silent `npm run` makes npm below it silent too, and then it does not say why it fails.
const SAYING_WHY = ['--no-audit', '--no-fund', '--loglevel=error'];
// npm's own waits between tries add up to a minute where there is no network.
const FETCHING = ['--prefer-offline', '--fetch-retry-mintimeout=500', '--fetch-retry-factor=3'];
const UNREACHABLE = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'ERR_SOCKET_TIMEOUT',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ENOTCACHED',
]);

/** Installs what the folder's lock file names. @throws Error that says so where the registry cannot be reached */
export function npmInstall(folder) {
  try {
    run('npm', ['ci', '--ignore-scripts', ...SAYING_WHY, ...FETCHING], { cwd: folder });
  } catch (error) {
    const code = /npm error code (\S+)/.exec(error.message)?.[1] ?? error.code;
    if (!UNREACHABLE.has(code)) throw error;
    throw new Error(`The npm registry cannot be reached (${code}): run this where "npm ci" works.`, { cause: error });
  }
}

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
  run('npm', ['install', '--no-save', ...SAYING_WHY, '--prefix', folder, `${name}@${version}`]);
  return join(folder, 'node_modules', name, 'bin/node');
}
