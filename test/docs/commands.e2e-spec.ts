import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/rig/free-port.js';
import { HeraldProcess, temporaryDataDir } from '../support/herald-process.js';
import { readProjectFile, ROOT } from '../support/project-files.js';
import { waitFor } from '../support/wait-for.js';
import { missingFrom, scriptOf, stepsOf } from './markdown-script.js';
import { pathWithNpx, realNpx } from './npx.js';

/** Whose commands are run, in this order against one Herald. The last ones set faults and change numbers. */
const DOCUMENTS = [
  'README.md',
  'docs/quick-start.md',
  'docs/coming-from-twilio.md',
  'docs/sending.md',
  'docs/scheduling.md',
  'docs/campaigns.md',
  'docs/opt-outs.md',
  'docs/usage.md',
  'docs/statuses-and-retries.md',
  'docs/unknown-outcomes.md',
  'docs/templates.md',
  'docs/media.md',
  'docs/support-chat.md',
  'docs/one-time-codes.md',
  'docs/admin-api.md',
  'docs/setup-links.md',
  'docs/order-confirmations.md',
  'docs/coexistence.md',
  'docs/webhooks.md',
  'docs/events.md',
  'docs/versioning.md',
  'docs/simulator.md',
];

const WITHIN_MS = 240_000;
const START_WITHIN_MS = 90_000;

const has = (program: string): boolean => spawnSync(program, ['-c', ':']).status === 0;
const shells = ['bash', 'dash'].filter(has);
const curlIsHere = spawnSync('curl', ['--version']).status === 0;
if (!curlIsHere) process.stderr.write('curl is not installed: the commands of the documents are not run\n');

// Without curl there is nothing to run; it says so above.
(curlIsHere ? describe : describe.skip)('the commands of', () => {
  const folder = temporaryDataDir();
  let herald: HeraldProcess | undefined;
  let replaced: [string, string][];
  let path: string;

  beforeAll(async () => {
    // What a reader has: the clone, and in it the demo's data.
    for (const name of ['package.json', 'scripts', 'dist', 'docs', 'node_modules'])
      symlinkSync(join(ROOT, name), join(folder.path, name));
    path = pathWithNpx(folder.path);
    const dataDir = join(folder.path, '.data');
    herald = await HeraldProcess.start({ DATA_DIR: dataDir, WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' }, START_WITHIN_MS);
    const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Record<string, string>;
    replaced = [
      ['http://127.0.0.1:3000', demo.base_url ?? ''],
      ['http://127.0.0.1:3001', demo.simulator_url ?? ''],
      ['8080', String(await freePort())],
    ];
  });

  afterAll(async () => {
    await herald?.end();
    folder.remove();
  });

  it('begin with npx herald, which finds the program in the clone', () => {
    expect(realNpx(folder.path, '--version')).toBe(
      `${(JSON.parse(readProjectFile('package.json')) as { version: string }).version}\n`,
    );
  });

  it.each(DOCUMENTS.map((document, index) => [document, shells[index % shells.length] ?? 'sh']))(
    '%s do in %s what it says',
    async (document, shell) => {
      const steps = stepsOf(document);
      expect(steps.length).toBeGreaterThan(0);
      const outputs = join(folder.path, 'outputs', document.replaceAll('/', '-'));
      mkdirSync(outputs, { recursive: true });
      let script = scriptOf(steps, outputs);
      for (const [from, to] of replaced) script = script.replaceAll(from, to);
      writeFileSync(join(outputs, 'script.sh'), script);
      const child = spawn(shell, [join(outputs, 'script.sh')], {
        cwd: folder.path,
        env: { PATH: path, HOME: process.env.HOME, LANG: process.env.LANG },
        stdio: 'ignore',
        // With a group of its own, what it leaves behind can be ended with it.
        detached: true,
      });
      try {
        await once(child, 'exit');
        const outputOf = (index: number): string => {
          const file = join(outputs, `${index}.out`);
          return existsSync(file) ? readFileSync(file, 'utf8') : '(not reached)';
        };
        if (!existsSync(join(outputs, 'end'))) {
          const last = steps.findLastIndex((_, index) => existsSync(join(outputs, `${index}.out`)));
          throw new Error(`${steps[last]?.where ?? document} failed:\n${outputOf(last)}`);
        }
        for (const [index, { where, prints, until, later, shown }] of steps.entries()) {
          for (const words of later) await waitFor(() => outputOf(index).includes(words), { what: `"${words}"` });
          const output = outputOf(index);
          const promised = [...prints, ...until];
          expect({ where, output, missing: promised.filter((words) => !output.includes(words)) }).toMatchObject({
            missing: [],
          });
          const errors = [...output.matchAll(/"code": ?"([A-Z_]{4,})"/g)].map((match) => match[1] ?? '');
          expect({ where, output, errors: errors.filter((code) => !promised.includes(code)) }).toMatchObject({
            errors: [],
          });
          expect({ where, output, missing: shown === null ? null : missingFrom(output, shown) }).toMatchObject({
            missing: null,
          });
        }
      } finally {
        endGroup(child.pid);
      }
    },
    WITHIN_MS,
  );
});

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // No process is left in it.
  }
}
