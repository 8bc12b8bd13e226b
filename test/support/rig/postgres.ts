import { chmodSync, realpathSync } from 'node:fs';
import { totalmem } from 'node:os';
import {
  startEmbeddedPostgres,
  type RunningPostgres,
} from '../../../src/infrastructure/database/embedded/embedded-postgres.js';
import { processesOn } from '../../../src/infrastructure/database/embedded/server.js';
import { temporaryFolder } from './folder.js';
import { clusterProcessorMs } from './processor-time.js';
import type { Scope } from './scope.js';
import { waitFor } from './wait.js';

/** Durable, whatever the server's defaults are: a figure without these settings would be worthless. */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '400',
  // A quarter of the memory, as docs/operations.md recommends, and no more than the long forms need.
  shared_buffers: `${Math.min(4_096, Math.floor(totalmem() / 2 ** 22))}MB`,
  max_wal_size: '4GB',
};

/** The embedded PostgreSQL with durable settings, in a folder of its own; stopped when the scope closes. */
export class BenchPostgres {
  private constructor(
    private readonly dataDir: string,
    private readonly settings: Record<string, string>,
    private server: RunningPostgres,
    private ended: Promise<unknown>,
  ) {}

  /**
   * @param folder an empty one where its data go instead, such as a small disk
   * @param settings where nothing is timed: others than the durable ones
   */
  static async start(scope: Scope, folder?: string, settings: Record<string, string> = {}): Promise<BenchPostgres> {
    const dataDir = folder ?? temporaryFolder(scope, 'bench-postgres');
    // Under root the server runs as another user, who must get in.
    chmodSync(dataDir, 0o755);
    const all = { ...SETTINGS, ...settings };
    const { server, ended } = await startServer(dataDir, all);
    const postgres = new BenchPostgres(dataDir, all, server, ended);
    scope.defer(() => postgres.server.stop());
    return postgres;
  }

  /** An administrator's. The same after a restart. */
  get url(): string {
    return this.server.url;
  }

  /** Whether any of its processes lives; a full disk may end them. */
  async isRunning(): Promise<boolean> {
    return (await processesOn(realpathSync(`${this.dataDir}/postgres`))).length > 0;
  }

  /** Milliseconds of processor time that the server and all its children have used (Linux). */
  processorMs(): number {
    return clusterProcessorMs(realpathSync(`${this.dataDir}/postgres`));
  }

  /** kill -9 of the server and all its children. */
  async crash(): Promise<void> {
    const cluster = realpathSync(`${this.dataDir}/postgres`);
    // The first is not always the postmaster: one killed earlier would be restarted by it, so look until none is left.
    await waitFor(
      'PostgreSQL to die',
      async () => {
        const pids = await processesOn(cluster);
        for (const pid of pids) {
          try {
            process.kill(pid, 'SIGKILL');
          } catch {
            // It ended by itself meanwhile.
          }
        }
        return pids.length === 0 ? true : null;
      },
      { timeoutMs: 60_000, everyMs: 5 },
    );
  }

  /** Starts it again on the same data, once it has ended. @throws Error where it got another port */
  async restart(): Promise<void> {
    const before = this.server.port;
    await this.ended;
    ({ server: this.server, ended: this.ended } = await startServer(this.dataDir, this.settings));
    if (this.server.port !== before) throw new Error('PostgreSQL came back on another port');
  }
}

/** `ended`: once it has ended without having been stopped, and may be started again. */
async function startServer(
  dataDir: string,
  settings: Record<string, string>,
): Promise<{ server: RunningPostgres; ended: Promise<unknown> }> {
  let end: (exit: unknown) => void = () => undefined;
  const ended = new Promise<unknown>((resolve) => (end = resolve));
  const server = await startEmbeddedPostgres({ dataDir, settings, onExit: end });
  return { server, ended };
}
