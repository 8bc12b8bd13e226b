import type { BenchDatabase } from './database.js';
import { createDatabase } from './database.js';
import { temporaryFolder } from './folder.js';
import { APP_SECRET, HeraldProcess, type HeraldPlace } from './herald.js';
import type { BenchPostgres } from './postgres.js';
import type { Scope } from './scope.js';
import { SimulatorProcess, type SimulatorOptions } from './simulator.js';
import { Workspaces, type SeededWorkspace } from './workspace.js';

/** A database, a simulator and what is needed to start processes of the service between them. */
export class Stage {
  readonly workspaces: Workspaces;

  private constructor(
    private readonly scope: Scope,
    readonly database: BenchDatabase,
    readonly simulator: SimulatorProcess,
    private readonly dataDir: string,
    private readonly settings: Record<string, string>,
  ) {
    this.workspaces = new Workspaces(database.pool);
  }

  static async set(
    scope: Scope,
    postgres: Pick<BenchPostgres, 'url'>,
    purpose: string,
    options: { simulator?: SimulatorOptions; settings?: Record<string, string> } = {},
  ): Promise<Stage> {
    const [database, simulator] = await Promise.all([
      createDatabase(scope, postgres.url, purpose),
      SimulatorProcess.start(scope, { appSecret: APP_SECRET, ...options.simulator }),
    ]);
    return new Stage(scope, database, simulator, temporaryFolder(scope, purpose), options.settings ?? {});
  }

  /**
   * Starts a process with the given roles and waits until it is ready.
   *
   * @param place its port, or what else is different for it, such as addresses of proxies and settings
   */
  herald(roles: string, place: number | Partial<HeraldPlace> = {}): Promise<HeraldProcess> {
    const given = typeof place === 'number' ? { port: place } : place;
    return HeraldProcess.start(this.scope, roles, {
      databaseUrl: this.database.url,
      dataDir: this.dataDir,
      simulatorUrl: this.simulator.url,
      ...given,
      settings: { ...this.settings, ...given.settings },
    });
  }

  /** A workspace whose numbers the simulator knows too. */
  async workspace(connections = 1, throughputPerSecond = 80): Promise<SeededWorkspace> {
    const workspace = await this.workspaces.create(connections, throughputPerSecond);
    for (const connection of workspace.connections) await this.simulator.addNumber(connection);
    return workspace;
  }
}
