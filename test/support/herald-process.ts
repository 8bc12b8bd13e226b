import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../src/common/describe-error.js';
import { ROOT } from './project-files.js';
import { s3Settings } from './s3-run.js';
import type { TestApp } from './test-app.js';
import { WAIT_LIMIT_MS, waitFor } from './wait-for.js';

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

interface Ready {
  ms: number;
  phases: Record<string, number>;
}

/** What a child needs to run at all; settings of this process must not leak into it. */
function bareEnvironment(): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  return { PATH, HOME, TMPDIR, LANG };
}

/** A folder for DATA_DIR that an ordinary user, as whom the database may run, can reach. */
export function temporaryDataDir(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'herald-data-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The built program in a process of its own. */
export class HeraldProcess {
  private output = { stdout: '', stderr: '' };

  private constructor(
    private readonly child: ChildProcess,
    private readonly ended: Promise<unknown>,
  ) {
    child.stdout?.on('data', (chunk) => (this.output.stdout += String(chunk)));
    child.stderr?.on('data', (chunk) => (this.output.stderr += String(chunk)));
  }

  /**
   * Begins a start; `env` adds to free ports and JSON logs. Other tests hold up the processor too: that is no overload
   * of this process.
   */
  static launch(env: Record<string, string>): HeraldProcess {
    const child = spawn(process.execPath, ['--enable-source-maps', join(ROOT, 'dist/src/main.js')], {
      cwd: tmpdir(),
      env: {
        ...bareEnvironment(),
        ...s3Settings(env.DATA_DIR),
        PORT: '0',
        SIMULATOR_PORT: '0',
        LOG_FORMAT: 'json',
        OVERLOAD_LOOP_DELAY_MS: '0',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new HeraldProcess(child, once(child, 'close'));
  }

  /** A worker beside an app of the tests, on its database, folder and queue. */
  static startWorker(
    { databaseUrl, dataDir, config }: Pick<TestApp, 'databaseUrl' | 'dataDir' | 'config'>,
    env: Record<string, string> = {},
  ): Promise<HeraldProcess> {
    return HeraldProcess.start({
      NODE_ENV: 'test',
      ROLES: 'worker',
      DATABASE_URL: databaseUrl,
      DATABASE_MIGRATE: 'false',
      DATA_DIR: dataDir,
      DEMO: 'false',
      // It must take the jobs of the app's queue, whatever the environment of the tests.
      QUEUE_PREFIX: config.queue.prefix,
      ...(process.env.REDIS_URL === undefined ? {} : { REDIS_URL: process.env.REDIS_URL }),
      ...env,
    });
  }

  /** As `launch`, and waits until it is ready. */
  static async start(env: Record<string, string>, timeoutMs = WAIT_LIMIT_MS): Promise<HeraldProcess> {
    const herald = HeraldProcess.launch(env);
    try {
      await waitFor(() => herald.child.exitCode !== null || herald.readyLine() !== null, { timeoutMs });
      if (herald.readyLine() === null) throw new Error('it ended');
    } catch (error) {
      herald.child.kill('SIGKILL');
      throw new Error(`Herald did not start: ${JSON.stringify(herald.output)}`, { cause: error });
    }
    return herald;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get stderr(): string {
    return this.output.stderr;
  }

  /** What the line "ready" says. */
  get ready(): Ready & { base_url: string } {
    const line = this.readyLine();
    if (line === null) throw new Error('Herald is not ready');
    return line;
  }

  /** Sends a signal and waits for the end. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.child.kill(signal);
    return this.untilEnded();
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async untilEnded(): Promise<Ended> {
    await this.ended;
    const { exitCode: code, signalCode: signal } = this.child;
    return { code, signal, ...this.output };
  }

  private readyLine(): (Ready & { base_url: string }) | null {
    for (const line of this.output.stdout.split('\n')) {
      if (line.includes('"msg":"ready"')) return JSON.parse(line) as Ready & { base_url: string };
    }
    return null;
  }
}

/** Runs the command line to its end. */
export async function runHerald(
  args: string[],
  env: Record<string, string>,
  input = '',
  program = join(ROOT, 'dist/src/cli/main.js'),
): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: tmpdir(),
    env: { ...bareEnvironment(), ...s3Settings(env.DATA_DIR), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  child.stdin.end(input);
  await once(child, 'close');
  return { code: child.exitCode, signal: child.signalCode, ...output };
}

/** Process id of the embedded PostgreSQL of a data folder; null where none runs. */
export function embeddedPostgresPid(dataDir: string): number | null {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  if (!existsSync(file)) return null;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  // Not written out yet; 0 would stand for this process and all that it started.
  if (!(pid > 0)) return null;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    // EPERM: it runs, as another user.
    return codeOf(error) === 'EPERM' ? pid : null;
  }
}
