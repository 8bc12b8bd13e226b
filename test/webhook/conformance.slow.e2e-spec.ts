import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { answerOf, postTo } from '../../src/cli/commands/webhook-verify.command.js';
import { newWebhookSecret } from '../../src/common/standard-webhooks.js';
import { runConformance } from '../../src/modules/webhook/conformance/conformance.js';
import { EXAMPLE_CURSOR } from '../../src/modules/webhook/dto/event.docs.js';
import { ROOT } from '../support/project-files.js';

describe('the receivers of the guides pass it', () => {
  const secret = newWebhookSecret();
  const context = { organizationId: 'o-1', secrets: [secret], cursor: EXAMPLE_CURSOR };
  const children: ChildProcess[] = [];
  afterEach(() => children.splice(0).forEach((child) => child.kill()));

  const python = ['python3', '/usr/bin/python3'].find((one) => spawnSync(one, ['-c', 'import httpx']).status === 0);
  const PROGRAM = `import os, sys
from wsgiref.simple_server import make_server, WSGIRequestHandler
from herald import webhook_app
class Quiet(WSGIRequestHandler):
    def log_message(self, *_): pass
server = make_server("127.0.0.1", 0, webhook_app([os.environ["WEBHOOK_SECRET"]], lambda event: None, print), handler_class=Quiet)
print("listening on port", server.server_port, flush=True)
server.serve_forever()`;

  it.each([
    ['receiver.mjs', process.execPath, [join(ROOT, 'docs/examples/receiver.mjs')]],
    ['receiver.py', 'python3', [join(ROOT, 'docs/examples/receiver.py')]],
    ['webhook_app of the Python client', python, ['-c', PROGRAM]],
  ])('%s', async (_name, program, args) => {
    // Left out where there is no httpx; test/client/python-client asks for it in CI.
    if (program === undefined) return;
    const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: '0', PYTHONPATH: join(ROOT, 'clients/python/src') };
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    const port = await new Promise<string>((resolve, reject) => {
      child.once('error', reject);
      createInterface({ input: child.stdout }).on('line', (line) => {
        const listening = /listening on port (\d+)/.exec(line)?.[1];
        if (listening !== undefined) resolve(listening);
      });
    });
    const report = await runConformance(context, postTo(`http://127.0.0.1:${port}/`));
    expect(report.results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
    expect(answerOf(report)).toMatchObject({ failed: false });
  });
});
