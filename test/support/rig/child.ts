import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { processorMs } from './processor-time.js';
import type { Scope } from './scope.js';

export interface ChildOptions {
  /** For messages about it. */
  name: string;
  /** Arguments of `node`. */
  args: string[];
  env?: Record<string, string>;
  /** Text that goes to its standard input, which is then closed. */
  input?: string;
}

const STOP_MS = 15_000;
const OUTPUT_KEPT = 8_000;

/** A node process that this run started. */
export class Child {
  private output = '';
  private readonly gone: Promise<void>;

  private constructor(
    readonly name: string,
    private readonly process: ChildProcess,
  ) {
    const keep = (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-OUTPUT_KEPT));
    this.process.stdout?.on('data', keep);
    this.process.stderr?.on('data', keep);
    this.gone = new Promise((resolve) => {
      this.process.once('close', () => resolve());
      this.process.once('error', () => resolve());
    });
  }

  /** Starts it with nothing of our environment but the path; it is stopped when the scope closes. */
  static start(scope: Scope, options: ChildOptions): Child {
    const spawned = spawn(process.execPath, options.args, {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env },
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const child = new Child(options.name, spawned);
    spawned.stdin?.end(options.input);
    scope.defer(() => child.stop());
    return child;
  }

  get pid(): number {
    if (this.process.pid === undefined) throw new Error(`${this.name} did not start`);
    return this.process.pid;
  }

  get isRunning(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  /** The end of what it wrote. */
  get tail(): string {
    return this.output.trim();
  }

  /** Waits for a line of its output. @throws Error when it ends or stays silent */
  async line(pattern: RegExp, timeoutMs = 60_000): Promise<RegExpExecArray> {
    const until = performance.now() + timeoutMs;
    for (;;) {
      const match = pattern.exec(this.output);
      if (match !== null) return match;
      if (!this.isRunning) throw new Error(`${this.name} ended:\n${this.tail}`);
      if (performance.now() > until) throw new Error(`${this.name} did not say ${pattern.source}:\n${this.tail}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Calls back with each whole line of its standard output from now on. */
  eachLine(take: (line: string) => void): void {
    if (this.process.stdout !== null) createInterface({ input: this.process.stdout }).on('line', take);
  }

  /** Asks it to end, and makes it after 15 s. */
  async stop(): Promise<void> {
    if (!this.isRunning) return;
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), STOP_MS);
    await this.gone;
    clearTimeout(timer);
  }

  /** SIGSTOP, SIGCONT and the like; nothing where it has ended. */
  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.process.kill(signal);
  }

  /** kill -9. */
  async kill(): Promise<void> {
    if (this.isRunning) this.process.kill('SIGKILL');
    await this.gone;
  }

  /** Resolves with everything that it wrote, once it has ended. @throws Error where it failed */
  async result(): Promise<string> {
    let whole = '';
    this.process.stdout?.on('data', (chunk: Buffer) => (whole += chunk.toString()));
    await this.gone;
    if (this.process.exitCode !== 0) throw new Error(`${this.name} failed:\n${this.tail}`);
    return whole;
  }

  /** Milliseconds of processor time that it has used (Linux). */
  processorMs(): number {
    return processorMs(this.pid);
  }

  /** Bytes of memory that it holds (Linux); null where the system does not report it. */
  residentBytes(): number | null {
    try {
      const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'));
      return match === null ? null : Number(match[1]) * 1_024;
    } catch {
      return null;
    }
  }
}
