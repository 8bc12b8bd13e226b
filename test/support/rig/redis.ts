import { spawn, type ChildProcess } from 'node:child_process';
import { temporaryFolder } from './folder.js';
import { freePort } from './free-port.js';
import { endProcess, isInstalled } from './programs.js';
import type { Scope } from './scope.js';

/** Whether `redis-server` is installed. */
export function hasRedis(): Promise<boolean> {
  return isInstalled('redis-server');
}

/** A Redis with the settings that BullMQ asks for, append-only file and all; stopped when the scope closes. */
export class BenchRedis {
  private constructor(
    private readonly port: number,
    private readonly args: readonly string[],
    private server: ChildProcess,
  ) {}

  /** @param port where nothing listens; default: any such */
  static async start(scope: Scope, port?: number): Promise<BenchRedis> {
    port ??= await freePort();
    const dir = temporaryFolder(scope, 'bench-redis');
    const settings = { bind: '127.0.0.1', port, dir, save: '', appendonly: 'yes', 'maxmemory-policy': 'noeviction' };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const redis = new BenchRedis(port, args, await launch(args));
    scope.defer(() => endProcess(redis.server, 'SIGTERM'));
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** kill -9. */
  kill(): Promise<void> {
    return endProcess(this.server, 'SIGKILL');
  }

  /** Starts it again on the same data. */
  async restart(): Promise<void> {
    this.server = await launch(this.args);
  }
}

/** Its URL. */
export async function startRedis(scope: Scope): Promise<string> {
  return (await BenchRedis.start(scope)).url;
}

async function launch(args: readonly string[]): Promise<ChildProcess> {
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  for await (const chunk of server.stdout) {
    output += String(chunk);
    // Leaving the loop closes its output; its later output is discarded.
    if (output.includes('Ready to accept connections')) return server;
  }
  throw new Error(`redis-server ended:\n${output.slice(-2_000)}`);
}
