const MIN_VERSION = [20, 19];

/**
 * Why nothing here can run, in one sentence that says what to do; null where nothing is in the way. What it needs
 * itself is little: it must run where nothing else does.
 *
 * @param {string} version of Node, such as `20.19.0`
 * @param {boolean} isInstalled whether the packages are there
 */
export function obstacleTo(version, isInstalled) {
  const [major, minor] = version.split('.').map(Number);
  if (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1])) {
    return `Herald cannot start: it needs Node.js ${MIN_VERSION.join('.')} or newer, and this is ${version}. Install a newer one from https://nodejs.org, or with your version manager ("nvm install 24").`;
  }
  if (!isInstalled) return 'Herald cannot start: its packages are not installed. Run "npm ci" first.';
  return null;
}
