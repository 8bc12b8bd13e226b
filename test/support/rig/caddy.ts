import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LeftOut } from './fault-result.js';
import { temporaryFolder } from './folder.js';
import { freePort } from './free-port.js';
import { endProcess, hasEnded, isInstalled } from './programs.js';
import type { Scope } from './scope.js';
import { waitFor } from './wait.js';

export interface Caddy {
  /** Of the service behind it. */
  url: string;
  /** Where its own metrics are. */
  metricsPort: number;
}

/**
 * Caddy with the project's own Caddyfile, of which only the ports of the api processes and of Caddy's administration are others. `herald-api-1` and the
 * following names lead to `addresses`, as Compose's name server has it; stopped when the scope closes.
 *
 * @throws LeftOut where Caddy is not installed, or this process may not give it a file of names of its own
 */
export async function startCaddy(scope: Scope, addresses: readonly string[], apiPort: number): Promise<Caddy> {
  if (!(await isInstalled('caddy', 'version'))) throw new LeftOut('caddy is not installed');
  const folder = temporaryFolder(scope, 'caddy');
  const [hosts, caddyfile] = [join(folder, 'hosts'), join(folder, 'Caddyfile')];
  const [port, admin, metricsPort] = [await freePort(), await freePort(), await freePort()];
  const changes = [
    [':3000 ', `:${apiPort} `],
    [':3000\n', `:${apiPort}\n`],
    ['\tservers {', `\tadmin 127.0.0.1:${admin}\n\tservers {`],
  ] as const;
  let text = readFileSync('deploy/Caddyfile', 'utf8');
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`deploy/Caddyfile has no "${from}"`);
    text = text.replaceAll(from, to);
  }
  writeFileSync(caddyfile, text);
  writeFileSync(hosts, addresses.map((address, index) => `${address} herald-api-${index + 1}\n`).join(''));
  const script = 'mount --bind "$1" /etc/hosts && exec caddy run --config "$2" --adapter caddyfile';
  const server = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', hosts, caddyfile], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
      HERALD_SITE: `:${port}`,
      CADDY_METRICS_SITE: `:${metricsPort}`,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  server.stderr.on('data', (chunk: Buffer) => (output = (output + String(chunk)).slice(-4_000)));
  // A program that cannot be started shows in its silence.
  server.once('error', () => undefined);
  scope.defer(() => endProcess(server, 'SIGTERM'));
  const url = `http://127.0.0.1:${port}`;
  await waitFor(
    'Caddy to answer',
    async () => {
      if (/unshare failed|mount: /.test(output))
        throw new LeftOut('this process may not mount (unshare --mount needs root)');
      if (hasEnded(server)) throw new Error(`caddy ended:\n${output}`);
      // Of itself: this address is for the inside only.
      const answer = await fetch(`${url}/metrics`).catch(() => null);
      await answer?.arrayBuffer();
      return answer?.status === 404 ? true : null;
    },
    { timeoutMs: 30_000, everyMs: 20 },
  );
  return { url, metricsPort };
}
