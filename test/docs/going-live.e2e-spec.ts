import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/rig/free-port.js';
import { temporaryDataDir } from '../support/herald-process.js';
import { ROOT } from '../support/project-files.js';
import { createEmptyDatabase } from '../support/test-database.js';
import { scriptOf, stepsOf } from './markdown-script.js';
import { pathWithNpx, realNpx } from './npx.js';

/*
 * An installation without Docker, as docs/operations.md has it, and in it the rehearsal of docs/going-live.md: an empty database,
 * two processes and the simulator, as the page starts them. Nothing of the project is in the folder but what is copied to a server.
 */

const PAGE = 'docs/going-live.md';
const COPIED = ['package.json', 'package-lock.json', 'scripts', 'dist'];
const WITHIN_MS = 240_000;
/** The cache has them since the project's own installation. */
const NPM = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
const curlIsHere = spawnSync('curl', ['--version']).status === 0;
if (!curlIsHere) process.stderr.write('curl is not installed: the rehearsal of going-live is not run\n');

(curlIsHere ? it : it.skip)(
  'the installation and the rehearsal of going live do what they say, with the packages of production only',
  async () => {
    const folder = temporaryDataDir();
    const database = await createEmptyDatabase();
    const outputs = join(folder.path, 'outputs');
    mkdirSync(outputs);
    for (const name of COPIED) cpSync(join(ROOT, name), join(folder.path, name), { recursive: true });
    const install = stepsOf('docs/operations.md').filter(({ text }) => text.startsWith('npm ci '));
    expect(install).toHaveLength(1);
    const steps = [...install, ...stepsOf(PAGE)];
    expect(steps.length).toBeGreaterThan(9);
    let script = scriptOf(steps, outputs).replaceAll('postgres://127.0.0.1:5432/herald_rehearsal', database.url);
    for (const port of ['3000', '3001', '3010']) script = script.replaceAll(port, String(await freePort()));
    writeFileSync(join(folder.path, 'script.sh'), script);
    const child = spawn('sh', ['script.sh'], {
      cwd: folder.path,
      env: { PATH: pathWithNpx(folder.path), HOME: process.env.HOME, LANG: process.env.LANG, ...NPM },
      stdio: 'ignore',
      detached: true,
    });
    try {
      await once(child, 'exit');
      const outputOf = (index: number): string => {
        const file = join(outputs, `${index}.out`);
        return existsSync(file) ? readFileSync(file, 'utf8') : '(not reached)';
      };
      for (const [index, { where, prints, until }] of steps.entries()) {
        const output = outputOf(index);
        const missing = [...prints, ...until].filter((words) => !output.includes(words));
        expect({ where, output, missing }).toEqual({ where, output: expect.not.stringMatching(/^FAIL/m), missing: [] });
      }
      expect(existsSync(join(outputs, 'end'))).toBe(true);
      expect(existsSync(join(folder.path, 'node_modules/typescript'))).toBe(false);
      expect(realNpx(folder.path, '--version')).toMatch(/^\d+\.\d+\.\d+$/m);
    } finally {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // No process is left in it.
      }
      await database.drop();
      folder.remove();
    }
  },
  WITHIN_MS,
);
