import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from '../../support/project-files.js';

const run = promisify(execFile);
const CLIENTS = /node_modules\/(@nats-io|amqplib|@aws-sdk\/client-sqs)\//;

const HOOK = `import { writeSync } from 'node:fs';
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  if (/destinations.sinks|@nats-io|amqplib|client-sqs/.test(found.url)) writeSync(1, found.url + '\\n');
  return found;
}`;
const REGISTER = `import { register } from 'node:module';
register('data:text/javascript,' + ${JSON.stringify(encodeURIComponent(HOOK))});`;

/** What of the clients, and of what uses them, is loaded by `import` in a process of its own. */
async function loadedBy(code: string): Promise<string[]> {
  const hook = `data:text/javascript,${encodeURIComponent(REGISTER)}`;
  const args = ['--import', hook, '--input-type=module', '-e', code];
  const { stdout } = await run(process.execPath, args, {
    cwd: ROOT,
    env: { PATH: process.env.PATH },
    maxBuffer: 2 ** 26,
  });
  return stdout.split('\n');
}

it('the application loads no client of a broker before a destination connects', async () => {
  const loaded = await loadedBy(`await import('./dist/src/app.module.js'); process.exit(0);`);
  expect(loaded.filter((url) => url.includes('/destinations/sinks/'))).not.toEqual([]);
  expect(loaded.filter((url) => CLIENTS.test(url))).toEqual([]);
});

it.each(['@nats-io/transport-node', '@nats-io/jetstream', 'amqplib', '@aws-sdk/client-sqs'])(
  'would notice %s',
  async (name) => {
    const loaded = await loadedBy(`await import('${name}'); process.exit(0);`);
    expect(loaded.filter((url) => CLIENTS.test(url))).not.toEqual([]);
  },
);
