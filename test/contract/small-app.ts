import { Global, Module, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditRepository } from '../../src/modules/audit/audit.repository.js';
import { Audit } from '../../src/modules/audit/audit.service.js';
import { AuditEventEntity } from '../../src/modules/audit/entities/audit-event.entity.js';
import { AccessGuard } from '../../src/modules/keys/access.guard.js';
import { OperatorRepeats } from '../../src/modules/keys/operator/operator-repeats.interceptor.js';
import { KeysModule } from '../../src/modules/keys/keys.module.js';
import { PeopleModule } from '../../src/modules/people/people.module.js';
import { WorkspaceReads } from '../../src/modules/workspaces/workspace-reads.interceptor.js';
import { WorkspacesModule } from '../../src/modules/workspaces/workspaces.module.js';
import type { Config } from '../../src/infrastructure/config/config.js';
import { ConfigModule } from '../../src/infrastructure/config/config.module.js';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import { Database } from '../../src/infrastructure/database/database.js';
import { DatabaseModule } from '../../src/infrastructure/database/database.module.js';
import { configureHttp } from '../../src/infrastructure/http/configure-http.js';
import { FixedPrototypeAdapter } from '../../src/infrastructure/http/express-adapter.js';
import { HttpModule } from '../../src/infrastructure/http/http.module.js';
import { AuditTrail } from '../../src/infrastructure/operations/audit-trail.js';
import { HeraldLogger } from '../../src/infrastructure/operations/logger.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { OperationsModule } from '../../src/infrastructure/operations/operations.module.js';
import { SecretsModule } from '../../src/infrastructure/secrets/secrets.module.js';
import { RatesModule } from '../../src/infrastructure/rates/rates.module.js';
import { ApiClient } from '../support/api-client.js';
import { Factories } from '../support/factories.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

export interface SmallApp {
  app: NestExpressApplication;
  config: Config;
  api: ApiClient;
  baseUrl: string;
  port: number;
  factories: Factories;
  database: Database;
  /** What was logged, as text. */
  logged: string[];
  close(): Promise<void>;
}

export interface SmallAppOptions {
  controllers: Type[];
  env?: Record<string, string>;
  /** Another process beside the first shares its database. */
  beside?: SmallApp;
}

/** Without its retention, which needs lanes; the sweeps of other modules are registered and never run. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEventEntity])],
  providers: [AuditRepository, Audit, { provide: AuditTrail, useExisting: Audit }, Sweeps],
  exports: [Audit, AuditTrail, Sweeps],
})
class TrailModule {}

/** The modules http, access and operations with controllers of the test's own: everything but the product. */
export async function startSmallApp({ controllers, env = {}, beside }: SmallAppOptions): Promise<SmallApp> {
  const cloned: TestDatabase | null = beside === undefined ? await createTestDatabase() : null;
  const config = loadConfig({
    env: {
      NODE_ENV: 'test',
      ROLES: 'api',
      PORT: '0',
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'json',
      DATABASE_POOL_SIZE: '3',
      OVERLOAD_LOOP_DELAY_MS: '0',
      DATABASE_URL: cloned?.url ?? beside?.config.database.url ?? '',
      ...env,
    },
    persistSecrets: false,
  });
  const logged: string[] = [];
  const logger = new HeraldLogger(config.process, { write: (text) => void logged.push(...text.split(/(?<=\n)/)) });
  const testing = await Test.createTestingModule({
    imports: [
      ConfigModule.of(config),
      DatabaseModule,
      OperationsModule,
      TrailModule,
      RatesModule,
      SecretsModule,
      WorkspacesModule,
      KeysModule,
      PeopleModule,
      HttpModule.with(AccessGuard, WorkspaceReads, OperatorRepeats),
    ],
    controllers,
  })
    .overrideProvider(HeraldLogger)
    .useValue(logger)
    .setLogger(logger)
    .compile();
  const app = testing.createNestApplication<NestExpressApplication>(new FixedPrototypeAdapter(), { bodyParser: false });
  app.useLogger(logger);
  configureHttp(app, config);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as { port: number };
  const baseUrl = `http://127.0.0.1:${port}`;
  const database = app.get(Database);
  return {
    app,
    config,
    baseUrl,
    port,
    api: new ApiClient(baseUrl),
    factories: new Factories(database),
    database,
    logged,
    close: async () => {
      app.getHttpServer().closeAllConnections();
      await app.close();
      await cloned?.drop();
    },
  };
}
