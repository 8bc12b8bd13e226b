import { spawnSync } from 'node:child_process';

const WITHIN_MS = 120_000;
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

/** @throws Error with the output of a command that failed. */
export function run(folder, command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: WITHIN_MS,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${status}:\n${stdout}${stderr}`);
}

/** Installs what the folder's lock file names. @throws Error that says so where the registry cannot be reached */
export function npmInstall(folder) {
  try {
    // A silent `npm run` makes npm below it silent too, and then it does not say why it fails.
    run(folder, 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...FETCHING]);
  } catch (error) {
    const code = /npm error code (\S+)/.exec(error.message)?.[1] ?? error.code;
    if (!UNREACHABLE.has(code)) throw error;
    throw new Error(`The npm registry cannot be reached (${code}): run this where "npm ci" works.`, { cause: error });
  }
}
