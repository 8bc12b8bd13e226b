import { hostname, userInfo } from 'node:os';
import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from '../app.module.js';
import { requireDatabase } from './database.js';
import { runningSimulator } from './demo-file.js';
import { SIMULATED_APP } from './simulated-app.js';
import { OtpPackagesService } from '../modules/billing/otp-packages.service.js';
import { ConnectionsService } from '../modules/connections/connections.service.js';
import { MediaMoveService } from '../modules/media/media-move.service.js';
import { OtpProjectsService } from '../modules/otp/otp-projects.service.js';
import { OtpSenderService } from '../modules/otp/otp-sender.service.js';
import { Audit } from '../modules/audit/audit.service.js';
import { OperatorKeysService } from '../modules/keys/operator/operator-keys.service.js';
import { ApiKeysService } from '../modules/keys/keys.service.js';
import { WorkspacesService } from '../modules/workspaces/workspaces.service.js';
import { changedConfig, type Config } from '../infrastructure/config/config.js';
import { migrate, requireSchema } from '../infrastructure/database/migrate.js';
import { sessionLink } from '../infrastructure/database/pooler.js';
import { fetchWithin } from '../infrastructure/http/command-calls.js';
import { configureCommandCalls } from '../infrastructure/http/configure-http.js';
import { FixedPrototypeAdapter } from '../infrastructure/http/express-adapter.js';
import { WorkspaceErasure } from '../modules/workspaces/erasure/workspace-erasure.service.js';
import { Restoration } from '../infrastructure/queue/restoration.js';
import { HeraldLogger } from '../infrastructure/operations/logger.js';
import { SecretRotation } from '../infrastructure/secrets/secret-rotation.js';

/**
 * The application for a command: no roles, few connections, and only errors in its log. It never changes the schema of
 * a running service; only if the command itself started the embedded database does it migrate a new one.
 *
 * @throws Error where the schema is not this build's.
 */
export async function createServices(config: Config, ownsDatabase: boolean): Promise<NestExpressApplication> {
  const database = { ...config.database };
  await requireDatabase(database);
  const isNew = await requireSchema(database.url ?? '', ownsDatabase);
  if (isNew) await migrate(sessionLink(database));
  const simulator = config.whatsapp.apiUrl === null ? runningSimulator(config.process.dataDir) : null;
  const modest = changedConfig(config, {
    process: { ...config.process, roles: [] },
    database: { ...database, poolSize: 2, migrate: isNew },
    // The simulator of the service in this data folder, whose port this command may not know.
    whatsapp: { ...config.whatsapp, ...(simulator !== null && { apiUrl: simulator, ...SIMULATED_APP }) },
  });
  const logger = new HeraldLogger({ logLevel: 'error', logFormat: 'json' }, process.stderr);
  const options = { logger, bodyParser: false, abortOnError: false };
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.with(modest),
    new FixedPrototypeAdapter(),
    options,
  );
  configureCommandCalls(app);
  await app.init();
  app.get(Audit).actAs(accountName(), hostname());
  return app;
}

/** Calls the application of a command over its API, without a port. */
export function fetchOf(app: NestExpressApplication): typeof fetch {
  return fetchWithin(app.getHttpServer()) as typeof fetch;
}

/** The services for commands and the demo. They are loaded only here, so that a command without them starts at once. */
export type Services = ReturnType<typeof servicesOf>;

export function servicesOf(app: INestApplicationContext) {
  return {
    workspaces: app.get(WorkspacesService),
    apiKeys: app.get(ApiKeysService),
    operatorKeys: app.get(OperatorKeysService),
    connections: app.get(ConnectionsService),
    otpProjects: app.get(OtpProjectsService),
    otpPackages: app.get(OtpPackagesService),
    otpSender: app.get(OtpSenderService),
    workspaceErasure: app.get(WorkspaceErasure),
    restoration: app.get(Restoration),
    secretRotation: app.get(SecretRotation),
    mediaMove: app.get(MediaMoveService, { strict: false }),
  };
}

/** In a container the user may have a number but no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${globalThis.process.getuid?.() ?? '?'}`;
  }
}
