import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import {
  type EmbeddedPostgresOptions,
  type RunningPostgres,
  startEmbeddedPostgres,
} from '../../src/infrastructure/database/embedded/embedded-postgres.js';
import { processesOn, readPostmaster } from '../../src/infrastructure/database/embedded/server.js';
import { type ChildOptions, EmbeddedChild, makeClone } from './embedded-clone.js';

/** Server settings for disposable data. */
export const QUICK = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** Folders in which one spec starts embedded servers, here and in processes of their own, and what it started there. */
export class EmbeddedSite {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'herald-embedded-')));
  /** See `makeClone`. */
  readonly clone = join(this.root, 'clone');
  dataDir = '';
  private count = 0;
  private readonly running: RunningPostgres[] = [];
  private readonly children: EmbeddedChild[] = [];

  get clusterPath(): string {
    return join(this.dataDir, 'postgres');
  }

  /** For `beforeAll`. */
  async prepare(): Promise<void> {
    // The server's user, another than ours where we are root, must reach its data.
    chmodSync(this.root, 0o755);
    makeClone(this.clone);
    const made = await startEmbeddedPostgres({ dataDir: join(this.root, 'made'), settings: QUICK });
    await made.stop();
  }

  /** Goes on in a data folder where Herald ran and stopped. Copying it is quicker than making it. */
  useMade(): void {
    this.useNew();
    execFileSync('cp', ['-a', join(this.root, 'made'), this.dataDir]);
  }

  /** Goes on in a data folder where Herald never ran. */
  useNew(): void {
    this.dataDir = join(this.root, `data-${++this.count}`);
  }

  async start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<RunningPostgres> {
    const postgres = await startEmbeddedPostgres({ dataDir: this.dataDir, settings: QUICK, ...options });
    this.running.push(postgres);
    return postgres;
  }

  spawn(options: Partial<ChildOptions> = {}): EmbeddedChild {
    const child = new EmbeddedChild(this.clone, { dataDir: this.dataDir, settings: QUICK, ...options });
    this.children.push(child);
    return child;
  }

  /** @throws Error where no server runs */
  async postmasterPid(): Promise<number> {
    const postmaster = await readPostmaster(this.clusterPath);
    if (postmaster === undefined) throw new Error('no server runs');
    return postmaster.pid;
  }

  /** For `afterEach`: ends what the test left, whatever its outcome. */
  async clear(): Promise<void> {
    for (const child of this.children.splice(0)) await child.kill();
    for (const postgres of this.running.splice(0)) await postgres.stop();
    for (const pid of await processesOn(this.clusterPath)) killIfAlive(pid);
  }

  /** For `afterAll`. */
  remove(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A process that was listed a moment ago may have ended by itself. */
function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Runs one statement on a connection of its own. */
export async function queryOn(url: string | undefined, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
