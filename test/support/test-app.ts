import type { NestExpressApplication } from '@nestjs/platform-express';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHerald } from '../../src/bootstrap/herald.js';
import { Teardown } from '../../src/bootstrap/teardown.js';
import { Timeline } from '../../src/bootstrap/timeline.js';
import type { Config } from '../../src/infrastructure/config/config.js';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import type { Role } from '../../src/infrastructure/config/setting.js';
import { Database } from '../../src/infrastructure/database/database.js';
import { HeraldLogger } from '../../src/infrastructure/operations/logger.js';
import { SecretBox } from '../../src/infrastructure/secrets/secret-box.js';
import type { Simulator } from '../../simulator/src/simulator.js';
import type { SimulatorOptions } from '../../simulator/src/simulator.types.js';
import { PgBouncer, SERVER_LIMITS } from './rig/pgbouncer.js';
import { Scope } from './rig/scope.js';
import { ApiClient } from './api-client.js';
import { Factories, type ConnectionRow, type ConversationRow, type KeyRow, type WorkspaceRow } from './factories.js';
import { s3Settings } from './s3-run.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

export interface TestAppOptions {
  /** Default: api, worker and simulator. */
  roles?: readonly Role[];
  /** Settings that differ, by their names in the environment. */
  env?: Record<string, string>;
  /** Another app's, for tests of several processes on one database; that app's `stop` then removes it. */
  shareWith?: TestApp;
  simulator?: Partial<SimulatorOptions>;
  /** Default: one of its own. `stop` removes it. */
  database?: TestDatabase;
}

/** A workspace that can send at once. */
export interface TestSender {
  workspace: WorkspaceRow;
  connection: ConnectionRow;
  key: KeyRow;
  /** Calls the API with `key`. */
  api: ApiClient;
}

export interface TestApp {
  app: NestExpressApplication;
  baseUrl: string;
  config: Config;
  database: Database;
  databaseUrl: string;
  dataDir: string;
  /** Throws in an app without the role simulator. */
  simulator: Simulator;
  simulatorUrl: string | null;
  factories: Factories;
  /** Calls the API without a key; `api.as(text)` with one. */
  api: ApiClient;
  /** A paid workspace with a key and a connected number, which the simulator knows too. */
  sender: (values?: { scopes?: readonly string[]; throughputPerSecond?: number }) => Promise<TestSender>;
  /** A conversation whose window is open. */
  openWindow: (sender: TestSender, phone?: string) => Promise<ConversationRow>;
  stop: () => Promise<void>;
}

const GENEROUS = '1000000';

/** Starts the real application in this process, on a database of its own and free ports. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const testDatabase: TestDatabase =
    options.shareWith === undefined
      ? (options.database ?? (await createTestDatabase()))
      : { url: options.shareWith.databaseUrl, drop: () => Promise.resolve() };
  const dataDir = options.shareWith?.dataDir ?? mkdtempSync(join(tmpdir(), 'herald-app-'));
  const faults: string[] = [];
  const scope = new Scope();
  const teardown = new Teardown((step, error) => faults.push(`${step}: ${String(error)}`));
  const stop = async (): Promise<void> => {
    await teardown.run(20_000);
    await scope.close();
    await testDatabase.drop();
    if (options.shareWith === undefined) rmSync(dataDir, { recursive: true, force: true });
    if (faults.length > 0) throw new Error(`the app did not stop cleanly: ${faults.join('; ')}`);
  };
  try {
    const env = environment(options, testDatabase.url, dataDir);
    const pooled = process.env.TEST_PGBOUNCER === 'true' ? await behindPgBouncer(scope, testDatabase.url) : {};
    const config = loadConfig({ env: { ...env, ...pooled, ...options.env } });
    const logger = new HeraldLogger(config.process, { write: (line) => void process.stderr.write(line) });
    const herald = await startHerald({
      config,
      logger,
      timeline: new Timeline(performance.now()),
      teardown,
      onFatal: (reason) => faults.push(reason),
      simulatorOptions: options.simulator,
    });
    return testApp(herald, { databaseUrl: testDatabase.url, dataDir, stop });
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}

/** Settings of an app whose database is behind a PgBouncer of its own, in transaction mode. */
async function behindPgBouncer(scope: Scope, url: string): Promise<Record<string, string>> {
  const pooler = await PgBouncer.start(scope, url, { connectQuery: SERVER_LIMITS });
  return { DATABASE_URL: pooler.through(url), DATABASE_DIRECT_URL: url };
}

function environment(
  options: TestAppOptions,
  databaseUrl: string,
  dataDir: string,
): Record<string, string | undefined> {
  return {
    NODE_ENV: 'test',
    ROLES: (options.roles ?? ['api', 'worker', 'simulator']).join(','),
    PORT: '0',
    SIMULATOR_PORT: '0',
    DATA_DIR: dataDir,
    DEMO: 'false',
    DATABASE_URL: databaseUrl,
    DATABASE_MIGRATE: 'false',
    DATABASE_POOL_SIZE: '3',
    REDIS_URL: process.env.REDIS_URL,
    QUEUE_PREFIX: options.shareWith?.config.queue.prefix ?? `test-${randomBytes(6).toString('hex')}`,
    RATE_LIMIT_PER_SECOND: GENEROUS,
    RATE_LIMIT_BURST: GENEROUS,
    OTP_SENDS_PER_SECOND: '100000',
    OTP_VERIFIES_PER_SECOND: '100000',
    AUTH_FAILURES_PER_MINUTE: '100000',
    // Other tests hold up the loop and the few connections too: that is no overload of this process.
    OVERLOAD_LOOP_DELAY_MS: '0',
    DATABASE_CONNECT_TIMEOUT_MS: '60000',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'fatal',
    LOG_FORMAT: 'json',
    ...s3Settings(dataDir),
    ...options.env,
  };
}

function testApp(
  herald: Awaited<ReturnType<typeof startHerald>>,
  own: Pick<TestApp, 'databaseUrl' | 'dataDir' | 'stop'>,
): TestApp {
  const { app, baseUrl, config, simulatorUrl } = herald;
  if (app === null) throw new Error('a test app has the role api or worker');
  const database = app.get(Database);
  const factories = new Factories(database, app.get(SecretBox));
  const api = new ApiClient(baseUrl);
  return {
    ...own,
    app,
    baseUrl,
    config,
    database,
    factories,
    api,
    simulatorUrl,
    get simulator() {
      if (herald.simulator === null) throw new Error('this app has not the role simulator');
      return herald.simulator;
    },
    sender: async (values = {}) => {
      const workspace = await factories.workspace();
      const organizationId = workspace.id;
      const connection = await factories.connection({
        organizationId,
        throughputPerSecond: values.throughputPerSecond ?? 1_000,
      });
      const { phoneNumberId, wabaId, phoneNumber } = connection;
      const number = { phoneNumberId, wabaId, displayPhoneNumber: `+${phoneNumber}`, verifiedName: workspace.name };
      herald.simulator?.registerNumber(number);
      const key = await factories.apiKey({ organizationId, scopes: values.scopes });
      return { workspace, connection, key, api: api.as(key.text) };
    },
    openWindow: (sender, phone) => factories.conversation({ connection: sender.connection, phone }),
  };
}
