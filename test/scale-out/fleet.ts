import { join } from 'node:path';
import type { Simulator } from '../../simulator/src/simulator.js';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/infrastructure/database/data-source.js';
import { Database } from '../../src/infrastructure/database/database.js';
import { SecretBox } from '../../src/infrastructure/secrets/secret-box.js';
import { registerNumber } from '../support/register-number.js';
import { ApiClient } from '../support/api-client.js';
import { Factories, type ConnectionRow, type KeyRow } from '../support/factories.js';
import { HeraldProcess, temporaryDataDir } from '../support/herald-process.js';
import { startRig, type SimulatorRig } from '../support/simulator/simulator-rig.js';
import { createEmptyDatabase, type TestDatabase } from '../support/test-database.js';

/** Four processes at once share the machine. */
const START_WITHIN_MS = 120_000;

const ROLES = ['api', 'api', 'worker', 'worker'] as const;

/** Four processes of the built program on one database, the first two with the role api, and a simulator in this process. */
export class Fleet {
  private constructor(
    readonly apis: readonly [HeraldProcess, HeraldProcess],
    readonly workers: readonly HeraldProcess[],
    readonly database: Database,
    readonly factories: Factories,
    private readonly rig: SimulatorRig,
    private readonly ends: readonly (() => Promise<void> | void)[],
  ) {}

  /** Starts all four at the same moment on a database without a single table. */
  static async start(redisUrl: string | null, roles: readonly string[] = ROLES): Promise<Fleet> {
    const ends: (() => Promise<void> | void)[] = [];
    try {
      const stored: TestDatabase = await createEmptyDatabase();
      ends.push(() => stored.drop());
      const dataDir = temporaryDataDir();
      ends.push(() => dataDir.remove());
      const { appSecrets } = loadConfig({ env: { DATA_DIR: dataDir.path } }).whatsapp;
      const rig = await startRig({ accessTokens: null, appSecret: appSecrets[0], webhookUrl: null });
      ends.push(() => rig.stop());
      const env = {
        NODE_ENV: 'test',
        DEMO: 'false',
        DATABASE_URL: stored.url,
        DATABASE_POOL_SIZE: '4',
        DATA_DIR: dataDir.path,
        MEDIA_DIR: join(dataDir.path, 'media'),
        WHATSAPP_API_URL: rig.url,
        WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
        RATE_LIMIT_PER_SECOND: '100000',
        RATE_LIMIT_BURST: '100000',
        LOG_LEVEL: 'info',
        ...(redisUrl !== null && { REDIS_URL: redisUrl }),
      };
      const start = async (role: string): Promise<HeraldProcess> => {
        const herald = await HeraldProcess.start({ ...env, ROLES: role }, START_WITHIN_MS);
        ends.push(async () => void (await herald.end('SIGKILL')));
        return herald;
      };
      const started = await Promise.allSettled(roles.map(start));
      const [first, second, third, fourth] = started.map((each) => (each.status === 'fulfilled' ? each.value : null));
      const failed = started.find((each) => each.status === 'rejected');
      if (!first || !second || !third || !fourth) throw new Error('not all four started', { cause: failed?.reason });
      rig.simulator.courier.setWebhookUrl(`${first.ready.base_url}/platform/whatsapp/webhook`);
      const dataSource = new DataSource(dataSourceOptions({ url: stored.url, poolSize: 3, queryTimeoutMs: 20_000 }));
      await dataSource.initialize();
      ends.push(() => dataSource.destroy());
      const database = new Database(dataSource);
      const factories = new Factories(database, new SecretBox(loadConfig({ env })));
      return new Fleet([first, second], [third, fourth], database, factories, rig, ends);
    } catch (error) {
      await endAll(ends);
      throw error;
    }
  }

  get simulator(): Simulator {
    return this.rig.simulator;
  }

  get simulatorUrl(): string {
    return this.rig.url;
  }

  /** A workspace with a number that the simulator knows, and a client of each api. */
  async sender(
    throughputPerSecond: number,
  ): Promise<{ connection: ConnectionRow; key: KeyRow; clients: [ApiClient, ApiClient] }> {
    const { id: organizationId } = await this.factories.workspace();
    const connection = await this.factories.connection({ organizationId, throughputPerSecond });
    registerNumber(this.simulator, connection);
    const key = await this.factories.apiKey({ organizationId });
    const [first, second] = this.apis.map((api) => new ApiClient(api.ready.base_url, key.text));
    if (first === undefined || second === undefined) throw new Error('there are two');
    return { connection, key, clients: [first, second] };
  }

  stop(): Promise<void> {
    return endAll(this.ends);
  }
}

async function endAll(ends: readonly (() => Promise<void> | void)[]): Promise<void> {
  for (const end of ends.toReversed()) await end();
}
