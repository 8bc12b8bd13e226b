import { resolve } from 'node:path';
import { changedConfig, type Config } from '../infrastructure/config/config.js';
import { loadConfig } from '../infrastructure/config/load-config.js';
import type { Services } from '../bootstrap/services.js';

export interface DatabaseSession {
  config: Config;
  /** Address of the database, embedded or not. */
  url: string;
  /** The embedded one, started for this session: no service uses it. */
  started: boolean;
  close: () => Promise<void>;
}

export interface ServiceSession extends DatabaseSession {
  services: Services;
}

/**
 * The database of these settings. Where it is the embedded one, that of the running service, or one started for as
 * long as the session lasts.
 */
export async function openDatabase(given: Config = loadConfig()): Promise<DatabaseSession> {
  if (given.database.url !== null) {
    return { config: given, url: given.database.url, started: false, close: () => Promise.resolve() };
  }
  const { EmbeddedPostgresInUseError, startEmbeddedPostgres } =
    await import('../infrastructure/database/embedded/embedded-postgres.js');
  try {
    const server = await startEmbeddedPostgres({ dataDir: resolve(given.process.dataDir) });
    return { config: withUrl(given, server.url), url: server.url, started: true, close: () => server.stop() };
  } catch (error) {
    if (!(error instanceof EmbeddedPostgresInUseError) || error.url === undefined) throw error;
    return { config: withUrl(given, error.url), url: error.url, started: false, close: () => Promise.resolve() };
  }
}

/** The services of the application without HTTP, workers or sweeps, on a schema that they know. */
export async function openServices(): Promise<ServiceSession> {
  const database = await openDatabase();
  try {
    const { createServices, servicesOf } = await import('../bootstrap/services.js');
    const app = await createServices(database.config, database.started);
    const close = async (): Promise<void> => {
      await app.close();
      await database.close();
    };
    return { ...database, services: servicesOf(app), close };
  } catch (error) {
    await database.close();
    throw error;
  }
}

function withUrl(config: Config, url: string): Config {
  return changedConfig(config, { database: { ...config.database, url } });
}
