import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blocksOf } from '../docs/markdown.js';
import { ROOT } from '../support/project-files.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/*
 * The Python client: its own tests, with and without a Herald, its types and the samples of the pages under mypy, and its wheel in
 * an empty environment. REQUIRE_PYTHON_CLIENT=true asks for the Debian packages that it needs.
 */

const CLIENT = join(ROOT, 'clients/python');
/** A Python that a version manager puts first may lack Debian's packages. */
const PYTHONS = ['python3', '/usr/bin/python3'];
const RUNS_WITHIN_MS = 240_000;

const python = PYTHONS.find((program) => spawnSync(program, ['-c', 'import httpx']).status === 0);
const missing = [
  ...(python === undefined ? ['python3-httpx'] : []),
  ...(spawnSync('mypy', ['--version']).status === 0 ? [] : ['mypy']),
  ...(spawnSync('/usr/bin/python3', ['-c', 'import build, wheel, venv, ensurepip']).status === 0
    ? []
    : ['python3-build, python3-wheel or python3-venv']),
];
if (missing.length > 0 && process.env.REQUIRE_PYTHON_CLIENT === 'true')
  throw new Error(`not installed: ${missing.join(', ')}`);
if (missing.length > 0)
  process.stderr.write(`left out, as ${missing.join(' and ')} is not installed: test/client/python-client\n`);

const folder = mkdtempSync(join(tmpdir(), 'herald-python-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the samples take from the reader's program, or from a sample above. */
const GIVEN: Readonly<Record<string, string>> = {
  herald: 'herald: Herald = Any',
  number: 'number: ConnectionResponse = Any',
  message: 'message: SendMessage = Any',
  order: 'order: dict[str, str] = Any',
  typed_by_the_user: 'typed_by_the_user: str = Any',
  send_template_instead: 'def send_template_instead(closed_at: object) -> None: ...',
  stored_cursor: 'def stored_cursor() -> str: return ""',
  handle: 'def handle(event: WebhookEvent, cursor: str) -> None: ...',
  store_event: 'def store_event(event: WebhookEvent) -> None: ...',
};
const PAGES = ['clients/python/README.md', 'docs/events.md', 'docs/campaigns.md', 'docs/webhooks.md'];

/** One sample as a module that mypy reads: the reader's own names before it. */
function moduleOf(sample: string): string {
  const isDefined = (name: string): boolean =>
    new RegExp(`^(?:${name}(?::.*)? =|def ${name}\\(|.* as ${name}:$|\\s*for ${name} in)`, 'm').test(sample);
  const given = Object.entries(GIVEN).filter(([name]) => !isDefined(name) && new RegExp(`\\b${name}\\b`).test(sample));
  return [
    'import os',
    'from typing import Any',
    'from herald import Herald, WebhookEvent',
    'from herald.models import ConnectionResponse, SendMessage',
    '',
    ...given.map(([, line]) => line.replace('= Any', '= os.environ  # type: ignore[assignment]')),
    sample,
  ].join('\n');
}

/** What a program printed, once it has ended well. */
async function run(program: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<string> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, timeout: RUNS_WITHIN_MS });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${String(code)}:\n${output}`);
  return output;
}

(missing.length > 0 ? describe.skip : describe)('the Python client', () => {
  const unittest = (...args: string[]): string[] => ['-W', 'error', '-m', 'unittest', ...args];
  const PATHS = { PYTHONPATH: 'src', PYTHONDONTWRITEBYTECODE: '1' };

  it(
    'passes its tests against a running Herald',
    async () => {
      const test: TestApp = await startTestApp();
      try {
        const sender = await test.sender();
        const customer = (await test.openWindow(sender)).phone ?? '';
        const ran = await run(python ?? '', unittest('tests.test_herald'), CLIENT, {
          ...PATHS,
          HERALD_URL: test.baseUrl,
          HERALD_API_KEY: sender.key.text,
          CONNECTION_ID: sender.connection.id,
          CUSTOMER: customer,
        });
        expect(ran).toMatch(/^Ran 1\d tests in/m);
        expect(ran).toContain('\nOK\n');
      } finally {
        await test.stop();
      }
    },
    RUNS_WITHIN_MS,
  );

  it(
    'passes its tests against a server that fails, and those of webhooks',
    async () => {
      const ran = await run(python ?? '', unittest('tests.test_offline'), CLIENT, PATHS);
      expect(ran).toMatch(/^Ran 2\d tests in/m);
    },
    RUNS_WITHIN_MS,
  );

  it(
    'has types that hold, and so have the samples of the pages',
    async () => {
      const samples = PAGES.flatMap((page) => blocksOf(page)).filter(({ language }) => language === 'python');
      expect(samples.length).toBeGreaterThan(15);
      for (const { document, line, text } of samples) {
        const name = `${document.replaceAll(/\W/g, '_')}_line_${line}.py`;
        writeFileSync(join(folder, name), moduleOf(text));
      }
      writeFileSync(join(folder, 'careless.py'), moduleOf('print(herald.messages.get("m")["words"])\n'));
      const config = ['--config-file', 'pyproject.toml', '--cache-dir', join(folder, '.mypy_cache')];
      const modules = readdirSync(folder).filter((name) => name.endsWith('.py') && name !== 'careless.py');
      const paths = modules.map((name) => join(folder, name));
      expect(await run('mypy', [...config, 'src', 'tests'], CLIENT)).toContain('no issues found');
      expect(await run('mypy', [...config, ...paths], CLIENT)).toContain('no issues found');
      const careless = run('mypy', [...config, join(folder, 'careless.py')], CLIENT);
      await expect(careless).rejects.toThrow('has no key "words"');
    },
    RUNS_WITHIN_MS,
  );

  it(
    'makes a wheel that an empty environment can use',
    async () => {
      const copy = join(folder, 'package');
      cpSync(CLIENT, copy, { recursive: true, filter: (path) => !/__pycache__|\.mypy_cache|\.egg-info/.test(path) });
      await run('/usr/bin/python3', ['-m', 'build', '--wheel', '--no-isolation'], copy);
      const [wheel = ''] = readdirSync(join(copy, 'dist'));
      expect(wheel).toMatch(/^herald_whatsapp-\d+\.\d+\.\d+-py3-none-any\.whl$/);
      const environment = join(folder, 'environment');
      await run('/usr/bin/python3', ['-m', 'venv', '--system-site-packages', environment], folder);
      const own = join(environment, 'bin/python');
      const quiet = ['--quiet', '--disable-pip-version-check', '--no-index'];
      await run(own, ['-m', 'pip', 'install', ...quiet, join(copy, 'dist', wheel)], folder);
      const program =
        'import herald, importlib.resources as r; print(herald.__file__, (r.files(herald) / "py.typed").is_file())';
      const printed = await run(own, ['-c', program], folder);
      expect(printed).toContain(environment);
      expect(printed).toContain('True');
    },
    RUNS_WITHIN_MS,
  );
});
