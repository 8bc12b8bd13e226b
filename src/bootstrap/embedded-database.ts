import { Logger } from '@nestjs/common';
import { resolve } from 'node:path';
import type { Config } from '../infrastructure/config/config.js';
import type { RunningPostgres } from '../infrastructure/database/embedded/embedded-postgres.js';
import { StartError } from './start-error.js';

/**
 * Starts the embedded PostgreSQL of DATA_DIR.
 *
 * @param onExit called when the server ends and nobody asked it to.
 * @throws StartError in production, or where it cannot run; says what to do.
 */
export async function startEmbeddedDatabase(
  config: Config,
  onExit: (reason: string) => void,
): Promise<RunningPostgres> {
  if (config.process.production) throw new StartError('DATABASE_URL must be set in production');
  const logger = new Logger('EmbeddedDatabase');
  // Only here: in production the package is not installed.
  const { startEmbeddedPostgres } = await import('../infrastructure/database/embedded/embedded-postgres.js');
  const { EmbeddedPostgresError } = await import('../infrastructure/database/embedded/embedded-postgres.errors.js');
  try {
    return await startEmbeddedPostgres({
      dataDir: resolve(config.process.dataDir),
      log: (line) => logger.debug(line),
      onExit: ({ code, signal }) => onExit(`the embedded PostgreSQL ended by itself (${signal ?? `code ${code}`})`),
    });
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}
