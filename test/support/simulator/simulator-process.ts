import { transformFileSync } from '@swc/core';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(import.meta.dirname, '../../..');

/** The simulator as a program of its own, so that a test can kill it like a machine would. */
export class SimulatorProcess {
  private child: ChildProcess | null = null;
  private readonly program: string;

  constructor() {
    // Below node_modules, where the compiled files still find their packages.
    const cache = join(ROOT, 'node_modules/.cache');
    mkdirSync(cache, { recursive: true });
    this.program = mkdtempSync(join(cache, 'simulator-'));
    const source = join(ROOT, 'simulator/src');
    for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.spec.ts')) continue;
      const file = join(entry.parentPath, entry.name);
      const target = join(this.program, relative(source, file).replace(/\.ts$/, '.js'));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, transformFileSync(file, { swcrc: true, root: ROOT, sourceMaps: false }).code);
    }
    cpSync(join(ROOT, 'package.json'), join(this.program, 'package.json'));
  }

  /** Starts it; gives its address. */
  async start(...args: string[]): Promise<string> {
    const child = spawn(process.execPath, [join(this.program, 'main.js'), '--port', '0', ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.child = child;
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /listens on (\S+)$/.exec(line)?.[1];
      if (url !== undefined) return url;
    }
    throw new Error('the simulator ended before it listened');
  }

  /** Gives the exit code, or null after a signal that can't be caught. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const { child } = this;
    this.child = null;
    if (child === null || child.exitCode !== null) return child?.exitCode ?? null;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = (await exited) as [number | null];
    return code;
  }

  async dispose(): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.program, { recursive: true, force: true });
  }
}
