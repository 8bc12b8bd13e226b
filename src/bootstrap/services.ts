import { hostname, userInfo } from 'node:os';
import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.js';
import { requireDatabase } from './database.js';
import { runningSimulator } from './demo-file.js';
import { SIMULATED_APP } from './simulated-app.js';
import { OtpPackagesService } from '../modules/billing/otp-packages.service.js';
import { ConnectionCheckService } from '../modules/connections/connection-check.service.js';
import { ConnectionsService } from '../modules/connections/connections.service.js';
import { HistoryImportService } from '../modules/inbound/history-import.service.js';
import { MessagesService } from '../modules/messages/messages.service.js';
import { MediaMoveService } from '../modules/media/media-move.service.js';
import { OptOutsService } from '../modules/opt-outs/opt-outs.service.js';
import { OtpProjectsService } from '../modules/otp/otp-projects.service.js';
import { OtpSenderService } from '../modules/otp/otp-sender.service.js';
import { Audit } from '../modules/audit/audit.service.js';
import { OperatorKeysService } from '../modules/keys/operator/operator-keys.service.js';
import { ApiKeysService } from '../modules/keys/keys.service.js';
import { SetupLinksService } from '../modules/setup/setup-links.service.js';
import { UsageByWorkspaceService } from '../modules/usage/usage-by-workspace.service.js';
import { UsageService } from '../modules/usage/usage.service.js';
import { WorkspacesService } from '../modules/workspaces/workspaces.service.js';
import { changedConfig, type Config } from '../infrastructure/config/config.js';
import { migrate, requireSchema } from '../infrastructure/database/data-source.js';
import { sessionLink } from '../infrastructure/database/pooler.js';
import { Erasure } from '../modules/workspaces/erasure/erasure.service.js';
import { WorkspaceErasure } from '../modules/workspaces/erasure/workspace-erasure.service.js';
import { Restoration } from '../infrastructure/queue/restoration.js';
import { Backlogs } from '../infrastructure/operations/backlogs.js';
import { HeraldLogger } from '../infrastructure/operations/logger.js';
import { SecretRotation } from '../infrastructure/secrets/secret-rotation.js';

/**
 * The application as a command uses it: no role, few connections, and silent but for errors. It never changes a schema that
 * a service works on; only where the command itself started the embedded database, a new one is made ready.
 *
 * @throws Error where the schema is another one than this build's.
 */
export async function createServices(config: Config, ownsDatabase: boolean): Promise<INestApplicationContext> {
  const database = { ...config.database };
  await requireDatabase(database);
  const isNew = await requireSchema(database.url ?? '', ownsDatabase);
  if (isNew) await migrate(sessionLink(database));
  const simulator = config.whatsapp.apiUrl === null ? runningSimulator(config.process.dataDir) : null;
  const modest = changedConfig(config, {
    process: { ...config.process, roles: [] },
    database: { ...database, poolSize: 2, migrate: isNew },
    // That of the service in this data folder, perhaps with a port that this command was not given.
    whatsapp: { ...config.whatsapp, ...(simulator !== null && { apiUrl: simulator, ...SIMULATED_APP }) },
  });
  const logger = new HeraldLogger({ logLevel: 'error', logFormat: 'json' }, process.stderr);
  const app = await NestFactory.createApplicationContext(AppModule.with(modest), { logger, abortOnError: false });
  app.get(Audit).actAs(accountName(), hostname());
  return app;
}

/** What commands and the demo call. Only here are the services loaded, so that a command which needs none starts at once. */
export type Services = ReturnType<typeof servicesOf>;

export function servicesOf(app: INestApplicationContext) {
  return {
    workspaces: app.get(WorkspacesService),
    apiKeys: app.get(ApiKeysService),
    operatorKeys: app.get(OperatorKeysService),
    connections: app.get(ConnectionsService),
    setupLinks: app.get(SetupLinksService, { strict: false }),
    connectionCheck: app.get(ConnectionCheckService),
    otpProjects: app.get(OtpProjectsService),
    otpPackages: app.get(OtpPackagesService),
    otpSender: app.get(OtpSenderService),
    queueStatus: app.get(MessagesService),
    backlogs: app.get(Backlogs),
    erasure: app.get(Erasure),
    workspaceErasure: app.get(WorkspaceErasure),
    restoration: app.get(Restoration),
    audit: app.get(Audit),
    optOuts: app.get(OptOutsService, { strict: false }),
    usage: app.get(UsageService, { strict: false }),
    usageByWorkspace: app.get(UsageByWorkspaceService, { strict: false }),
    secretRotation: app.get(SecretRotation),
    historyImport: app.get(HistoryImportService, { strict: false }),
    mediaMove: app.get(MediaMoveService, { strict: false }),
  };
}

/** A container may run as a number without a name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${globalThis.process.getuid?.() ?? '?'}`;
  }
}
