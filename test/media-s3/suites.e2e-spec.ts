import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { S3Server } from '../support/rig/s3.js';
import { Scope } from '../support/rig/scope.js';
import { ROOT } from '../support/project-files.js';

/** All that stores, reads or removes files, but for what kills a process and looks into the folder. */
const SUITES = [
  'test/media/',
  'test/media-transfer/fetch',
  'test/media-transfer/simulator',
  'test/media-transfer/upload',
  'test/isolation/delete-workspace',
  'test/messages/media',
];

/** Asked for by name, since it takes minutes: `S3_SUITES=true npm test -- test/media-s3/suites`. */
const itIfAsked = process.env.S3_SUITES === 'true' ? it : it.skip;

describe('with files in S3', () => {
  const scope = new Scope();
  let server: S3Server;

  beforeAll(async () => {
    server = await S3Server.start(scope);
  });

  afterAll(() => scope.close());

  itIfAsked(
    'all suites about files pass',
    async () => {
      const run = { settings: server.settings(), folder: server.folder, bucket: server.bucket };
      const child = spawn(process.execPath, ['scripts/test.mjs', 'e2e', ...SUITES, '--maxWorkers=2'], {
        cwd: ROOT,
        env: { ...process.env, NODE_OPTIONS: '', TEST_S3: JSON.stringify(run) },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
      scope.defer(() => void child.kill());
      await once(child, 'close');
      const failures = output.split('\n').filter((line) => /●|^FAIL|\d failed/.test(line));
      expect([child.exitCode, failures.slice(0, 40)]).toEqual([0, [expect.stringMatching(/ 0 failed/)]]);
      // They did use it.
      expect(server.requests.filter(({ method }) => method === 'PUT').length).toBeGreaterThan(300);
    },
    900_000,
  );
});
