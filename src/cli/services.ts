import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.js';
import { changedConfig, type Config } from '../platform/config/config.js';
import { migrate } from '../platform/database/data-source.js';
import { HeraldLogger } from '../platform/operations/logger.js';

/** The application as a command uses it: no role, few connections, and silent but for errors. */
export async function createServices(config: Config): Promise<INestApplicationContext> {
  if (config.database.migrate) await migrate(config.database.url ?? '');
  const modest = changedConfig(config, {
    process: { ...config.process, roles: [] },
    database: { ...config.database, poolSize: 2 },
    queue: { ...config.queue, poolSize: 2 },
  });
  const logger = new HeraldLogger({ logLevel: 'error', logFormat: 'json' }, { write: writeError });
  return NestFactory.createApplicationContext(AppModule.with(modest), { logger, abortOnError: false });
}

function writeError(line: string): void {
  globalThis.process.stderr.write(line);
}
