import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './folder.js';
import { freePort } from './free-port.js';
import type { HeraldProcess } from './herald.js';
import { ROOT } from './paths.js';
import { endProcess, hasEnded, isInstalled } from './programs.js';
import type { Scope } from './scope.js';
import { waitFor } from './wait.js';

const READY_MS = 60_000;
const OUTPUT_KEPT = 4_000;

/** Whether `prometheus` is installed. */
export function hasPrometheus(): Promise<boolean> {
  return isInstalled('prometheus');
}

/** A Prometheus with the rules of deploy/prometheus over some processes; stopped when the scope closes. */
export class Prometheus {
  private constructor(private readonly url: string) {}

  /** It scrapes and evaluates every five seconds. `role` of each process is as `deploy/prometheus/prometheus.yml` gives it. */
  static async start(scope: Scope, processes: readonly HeraldProcess[], caddyPort?: number): Promise<Prometheus> {
    const folder = temporaryFolder(scope, 'prometheus');
    const port = await freePort();
    const file = join(folder, 'prometheus.yml');
    const targets = processes.map(({ port: at, roles }) => ({ targets: [`127.0.0.1:${at}`], labels: { role: roles } }));
    const caddy =
      caddyPort === undefined ? [] : [{ job_name: 'caddy', static_configs: [{ targets: [`127.0.0.1:${caddyPort}`] }] }];
    // JSON is YAML.
    const config = {
      global: { scrape_interval: '5s', evaluation_interval: '5s' },
      rule_files: [join(ROOT, 'deploy/prometheus/herald.rules.yml')],
      scrape_configs: [{ job_name: 'herald', static_configs: targets }, ...caddy],
    };
    writeFileSync(file, JSON.stringify(config));
    const args = [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const server = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    scope.defer(() => endProcess(server, 'SIGTERM'));
    const prometheus = new Prometheus(`http://127.0.0.1:${port}`);
    await prometheus.ready(server);
    return prometheus;
  }

  /** Names of the alerts that fire. */
  async firing(): Promise<string[]> {
    const { alerts } = (await this.ask('/api/v1/alerts')) as {
      alerts: { state: string; labels: { alertname: string } }[];
    };
    const names = alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
    return [...new Set(names)].sort();
  }

  /** Of how many targets the last scrape succeeded. */
  async up(): Promise<number> {
    const { activeTargets } = (await this.ask('/api/v1/targets')) as { activeTargets: { health: string }[] };
    return activeTargets.filter(({ health }) => health === 'up').length;
  }

  private async ready(server: ChildProcess): Promise<void> {
    let output = '';
    server.stderr?.on('data', (chunk: Buffer) => (output = (output + String(chunk)).slice(-OUTPUT_KEPT)));
    await waitFor(
      'Prometheus to be ready',
      async () => {
        if (hasEnded(server)) throw new Error(`prometheus ended:\n${output}`);
        const response = await fetch(`${this.url}/-/ready`).catch(() => null);
        await response?.arrayBuffer();
        return response?.ok === true ? true : null;
      },
      { timeoutMs: READY_MS },
    );
  }

  private async ask(path: string): Promise<unknown> {
    const response = await fetch(`${this.url}${path}`, { signal: AbortSignal.timeout(10_000) });
    if (!response.ok) throw new Error(`Prometheus answered ${response.status}: ${await response.text()}`);
    return ((await response.json()) as { data: unknown }).data;
  }
}
