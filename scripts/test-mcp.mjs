// Runs the conformance suite of the Model Context Protocol against POST /mcp of a running demo: `npm run test:mcp [-- --keep]`.
// The suite needs Node 22 or newer, and both come from the npm registry, so it is not part of `npm test`.
import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildIfStale } from './build-if-stale.mjs';
import { startDemoHerald } from './lib/demo-herald.mjs';
import { forwardTo } from './lib/forward.mjs';
import { installNode, npmInstall } from './lib/npm-install.mjs';
import { ROOT } from './lib/root.mjs';
import { runSteps, scratchFolder, step } from './lib/steps.mjs';

const SCENARIOS = ['tools-list', 'http-header-validation', 'dns-rebinding-protection', 'server-stateless'];
const REVISION = '2026-07-28';
const SCENARIO_MS = 120_000;
/** What a server shows only with a tool that is made for the suite, which no installation of Herald has. */
const NEEDS_A_TEST_TOOL = /^Not testable: server does not list the diagnostic tool 'test_/;

const exec = promisify(execFile);
const scratch = scratchFolder('mcp');

/** The suite sends no key: this stands before Herald and adds it. */
async function withKey({ base_url, api_key }) {
  const server = createServer(forwardTo(base_url, { authorization: `Bearer ${api_key}` }));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** @throws Error that names each check that failed */
function readResults(folder) {
  const checks = readdirSync(folder).flatMap((name) =>
    JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')),
  );
  const failed = checks.filter(
    ({ status, errorMessage = '' }) => status === 'FAILURE' && !NEEDS_A_TEST_TOOL.test(errorMessage),
  );
  if (failed.length > 0) throw new Error(failed.map(({ id, errorMessage }) => `${id}: ${errorMessage}`).join('\n'));
  if (!checks.some(({ status }) => status === 'SUCCESS')) throw new Error('No check was made.');
}

await runSteps(scratch, async () => {
  cpSync(join(ROOT, 'test/mcp/conformance'), scratch, { recursive: true });
  let node = '';
  const ready = await step('install', async () => {
    await buildIfStale();
    npmInstall(scratch);
    node = installNode('24', join(scratch, 'node'));
  });
  if (!ready) return;
  const herald = await startDemoHerald(join(scratch, 'data'));
  const proxy = await withKey(herald.demo);
  const url = `http://127.0.0.1:${proxy.address().port}/mcp`;
  try {
    for (const scenario of SCENARIOS)
      await step(scenario, async () => {
        const results = join(scratch, 'results', scenario);
        const suite = join(scratch, 'node_modules/.bin/conformance');
        const options = ['--url', url, '--scenario', scenario, '--spec-version', REVISION, '--output-dir', results];
        // Not by its exit code, which also counts what needs a test tool.
        await exec(node, [suite, 'server', ...options], { timeout: SCENARIO_MS }).catch(() => undefined);
        readResults(results);
      });
  } finally {
    proxy.closeAllConnections();
    proxy.close();
    await herald.stop();
  }
});
