import type { NestExpressApplication } from '@nestjs/platform-express';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import 'reflect-metadata';
import { AppModule } from '../app.module.js';
import type { Config } from '../infrastructure/config/config.js';
import { migrate } from '../infrastructure/database/migrate.js';
import { sessionLink } from '../infrastructure/database/pooler.js';
import { configureHttp } from '../infrastructure/http/configure-http.js';
import { FixedPrototypeAdapter } from '../infrastructure/http/express-adapter.js';
import { QueueWorkers } from '../infrastructure/queue/queue-workers.js';
import { Failover } from '../infrastructure/queue/failover.js';
import { Restoration } from '../infrastructure/queue/restoration.js';
import { Sweeps } from '../infrastructure/queue/sweeps.js';
import type { HeraldLogger } from '../infrastructure/operations/logger.js';
import { SecretRotation } from '../infrastructure/secrets/secret-rotation.js';
import { requireDatabase, requireOwnSchema } from './database.js';
import { listenError, StartError } from './start-error.js';

/** Interval of checks whether this is another database than before; claims check each time. */
const NOTICE_EVERY_MS = 1_000;

/** Migrates if configured, and creates the application; it does not listen or work yet. */
export async function createApplication(config: Config, logger: HeraldLogger): Promise<NestExpressApplication> {
  await requireDatabase(config.database);
  await requireOwnSchema(config.database);
  if (config.database.migrate) {
    const migrations = new Logger('Migrations');
    await migrate(sessionLink(config.database), { say: (line, level) => migrations[level](line) });
  }
  const app = await NestFactory.create<NestExpressApplication>(AppModule.with(config), new FixedPrototypeAdapter(), {
    logger,
    bodyParser: false,
    abortOnError: false,
  });
  configureHttp(app, config);
  try {
    await app.init();
    await proveKeys(app.get(SecretRotation));
    // Before anything is accepted: if this is another database than last time, messages that already wait may have been
    // sent.
    const restoration = app.get(Restoration);
    await restoration.checkAtStart();
    const sweeps = app.get(Sweeps);
    const failover = app.get(Failover);
    if (failover.continues) {
      sweeps.add({ name: 'primary', everyMs: NOTICE_EVERY_MS, everywhere: true, run: () => failover.beat() });
    }
    sweeps.add({
      name: 'server',
      everyMs: NOTICE_EVERY_MS,
      // In every worker, because not each of them knows the previous database.
      everywhere: failover.continues,
      hasWork: restoration.unnoticed,
      run: () => restoration.notice(),
    });
    sweeps.start();
  } catch (error) {
    await app.close().catch(() => undefined);
    throw error;
  }
  return app;
}

/**
 * Checks that stored secrets can be decrypted: otherwise each message would fail, one by one.
 *
 * @throws StartError where no stored secret can.
 */
async function proveKeys(secrets: SecretRotation): Promise<void> {
  const { opened, closed } = await secrets.proveKeys();
  if (closed.length === 0) return;
  const what = `stored secrets of key version ${closed.join(', ')}`;
  if (opened.length === 0) {
    throw new StartError(`ENCRYPTION_KEYS does not open the ${what}: set the keys that encrypted them`);
  }
  new Logger('Secrets').error(`ENCRYPTION_KEYS does not open the ${what}; what needs them fails: add their key`);
}

/** Listens, and starts the work of a worker. Returns the port. */
export async function startApplication(app: NestExpressApplication, config: Config): Promise<number> {
  const { host, port, roles } = config.process;
  try {
    await app.listen(port, host);
  } catch (error) {
    throw listenError(error, host, port, 'PORT');
  }
  if (roles.includes('worker')) await app.get(QueueWorkers).start();
  const address = app.getHttpServer().address() as { port: number };
  return address.port;
}

/** A worker accepts no more work. Its work in flight ends while other parts stop; `app.close()` waits for it. */
export function endWork(app: NestExpressApplication): void {
  app.get(QueueWorkers).beginStop();
}
