import { resolve } from 'node:path';
import type { Services } from '../bootstrap/services.js';
import { changedConfig, type Config } from '../infrastructure/config/config.js';
import { loadConfig } from '../infrastructure/config/load-config.js';

interface DatabaseSession {
  /** The settings, with the address of the database, embedded or not. */
  config: Config;
  /** The embedded database was started for this session, so no service uses it. */
  started: boolean;
  close: () => Promise<void>;
}

/** The database of these settings. An embedded one is that of the running service, or is started for the session. */
export async function openDatabase(given: Config = loadConfig()): Promise<DatabaseSession> {
  const running = { started: false, close: () => Promise.resolve() };
  if (given.database.url !== null) return { config: given, ...running };
  const { EmbeddedPostgresInUseError, startEmbeddedPostgres } =
    await import('../infrastructure/database/embedded/embedded-postgres.js');
  const at = (url: string): Config => changedConfig(given, { database: { ...given.database, url } });
  try {
    const server = await startEmbeddedPostgres({ dataDir: resolve(given.process.dataDir) });
    return { config: at(server.url), started: true, close: () => server.stop() };
  } catch (error) {
    if (!(error instanceof EmbeddedPostgresInUseError) || error.url === undefined) throw error;
    return { config: at(error.url), ...running };
  }
}

/** The application of this machine without a port, workers or sweeps, on a schema of this build. */
export interface Session {
  services: Services;
  /** Calls its API, as the account that runs the command. */
  fetch: typeof fetch;
  close: () => Promise<void>;
}

export async function openSession(): Promise<Session> {
  const database = await openDatabase();
  try {
    const { createServices, fetchOf, servicesOf } = await import('../bootstrap/services.js');
    const app = await createServices(database.config, database.started);
    return { services: servicesOf(app), fetch: fetchOf(app), close: () => app.close().then(database.close) };
  } catch (error) {
    await database.close();
    throw error;
  }
}
