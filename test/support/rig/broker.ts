import { spawn, type ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { endProcess, hasEnded } from './programs.js';
import type { Scope } from './scope.js';
import { waitFor } from '../wait-for.js';

const MAX_OUTPUT = 20_000;

export interface BrokerProgram {
  command: string;
  args: readonly string[];
  env?: Record<string, string>;
  port: number;
  /** Whether it takes work, beside listening. */
  isReady?: () => Promise<boolean>;
  /** Beside its own process. */
  afterKill?: () => Promise<void>;
}

/** A broker as a program of its own, on a port of 127.0.0.1, which can be killed and started again; gone when the scope closes. */
export class BrokerProcess {
  private server: ChildProcess | null = null;
  private output = '';

  private constructor(private readonly program: BrokerProgram) {}

  static async start(scope: Scope, program: BrokerProgram): Promise<BrokerProcess> {
    const broker = new BrokerProcess(program);
    scope.defer(() => broker.kill());
    await broker.start();
    return broker;
  }

  async start(): Promise<void> {
    const { command, args, env, port, isReady } = this.program;
    const server = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    this.server = server;
    for (const stream of [server.stdout, server.stderr]) {
      stream.on('data', (bytes: Buffer) => (this.output = (this.output + bytes.toString()).slice(-MAX_OUTPUT)));
    }
    await waitFor(
      async () => {
        if (hasEnded(server)) throw new Error(`${command} ended: ${this.output}`);
        return (await listens(port)) && (isReady === undefined || (await isReady()));
      },
      { what: `${command} to be ready`, everyMs: 100 },
    );
  }

  /** SIGKILL: as at a crash of the machine. */
  async kill(): Promise<void> {
    if (this.server !== null) await endProcess(this.server, 'SIGKILL');
    await this.program.afterKill?.();
    this.server = null;
  }

  /** Stops it without its notice, as a machine that hangs; `go` lets it run on. */
  freeze(): void {
    this.server?.kill('SIGSTOP');
  }

  go(): void {
    this.server?.kill('SIGCONT');
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
