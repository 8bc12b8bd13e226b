import type { ChildProcess } from 'node:child_process';
import { runAs, SELF } from './account.js';
import { EmbeddedPostgresError } from './embedded-postgres.errors.js';
import type { RuntimeAccount } from './runtime-account.js';
import { isAlive, signalTo, waitUntil } from './postmaster.js';

const FAST_STOP_MS = 60_000;
const HARD_STOP_MS = 10_000;
const ADOPTED_POLL_MS = 500;

export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Servers that end with this process if it ends without stopping them. */
const owned = new Set<Server>();

/** A running PostgreSQL that this process answers for, whether it started it or found it. */
export class Server {
  private stopping: Promise<void> | undefined;
  private gone = false;

  private constructor(
    readonly pid: number,
    private readonly clusterPath: string,
    private readonly pgCtl: string | undefined,
    private readonly log: (line: string) => void,
  ) {
    if (owned.size === 0) process.on('exit', stopOwned);
    owned.add(this);
  }

  static ofChild(
    child: ChildProcess & { pid: number },
    runtime: RuntimeAccount,
    clusterPath: string,
    log: (line: string) => void,
    onExit: (exit: ServerExit) => void,
  ): Server {
    const server = new Server(child.pid, clusterPath, runtime.programs.pgCtl, log);
    const ended = (code: number | null, signal: NodeJS.Signals | null): void => server.end({ code, signal }, onExit);
    if (child.exitCode !== null || child.signalCode !== null) ended(child.exitCode, child.signalCode);
    else child.once('exit', ended);
    return server;
  }

  /** Takes charge of a server that another process started: its end is not told by the system, but seen by looking. */
  static adopted(
    pid: number,
    clusterPath: string,
    pgCtl: string | undefined,
    log: (line: string) => void,
    onExit: (exit: ServerExit) => void,
  ): Server {
    const server = new Server(pid, clusterPath, pgCtl, log);
    const look = async (): Promise<void> => {
      if (await isAlive(pid)) return;
      clearInterval(timer);
      server.end({ code: null, signal: null }, onExit);
    };
    const timer = setInterval(() => void look(), ADOPTED_POLL_MS);
    timer.unref();
    return server;
  }

  private end(exit: ServerExit, onExit: (exit: ServerExit) => void): void {
    if (this.gone) return;
    this.gone = true;
    this.release();
    if (this.stopping === undefined) onExit(exit);
  }

  private release(): void {
    owned.delete(this);
    if (owned.size === 0) process.removeListener('exit', stopOwned);
  }

  /** Ends it in order: connections are cut, everything is written, and the process is gone when this returns. */
  stop(): Promise<void> {
    this.stopping ??= this.shutDown().finally(() => this.release());
    return this.stopping;
  }

  /** For the last moment of a process, where nothing can be awaited. */
  signalStop(): void {
    if (process.platform !== 'win32' && !this.gone && this.stopping === undefined) signalTo(this.pid, 'SIGINT');
  }

  private async shutDown(): Promise<void> {
    if (await this.hasEnded()) return;
    if (process.platform === 'win32' && this.pgCtl !== undefined) {
      await runAs(SELF, this.pgCtl, ['stop', '-D', this.clusterPath, '-m', 'fast', '-w'], FAST_STOP_MS + HARD_STOP_MS);
      return;
    }
    const steps = [
      ['SIGINT', FAST_STOP_MS],
      ['SIGQUIT', HARD_STOP_MS],
      ['SIGKILL', HARD_STOP_MS],
    ] as const;
    for (const [signal, withinMs] of steps) {
      if (signal !== 'SIGINT') this.log(`PostgreSQL (process ${this.pid}) does not stop; sending ${signal}`);
      if (!signalTo(this.pid, signal)) return;
      if (await waitUntil(() => this.hasEnded(), { withinMs, everyMs: 5 })) return;
    }
    throw new EmbeddedPostgresError(`PostgreSQL (process ${this.pid}) cannot be stopped.`);
  }

  private async hasEnded(): Promise<boolean> {
    return this.gone || !(await isAlive(this.pid));
  }
}

function stopOwned(): void {
  for (const server of owned) server.signalStop();
}
