import { setTimeout as pause } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { codeOf } from '../common/describe-error.js';
import { probeFolder } from '../common/folders.js';
import { changedConfig, type Config } from '../infrastructure/config/config.js';
import type { HeraldLogger } from '../infrastructure/operations/logger.js';
import { Drain } from '../infrastructure/http/drain.js';
import type { Simulator } from '../../simulator/src/simulator.js';
import type { SimulatorOptions } from '../../simulator/src/simulator.types.js';
import { reachableHost, startSimulatorRole } from './simulator-role.js';
import { SIMULATED_APP } from './simulated-app.js';
import { StartError } from './start-error.js';
import type { DemoFile } from './demo-file.js';
import { startEmbeddedDatabase } from './database.js';
import type { Teardown } from './teardown.js';
import type { Timeline } from './timeline.js';

/** Path to which WhatsApp, or the simulator, posts notifications. */
const WEBHOOK_PATH = '/platform/whatsapp/webhook';
/** Part of a stop's time for requests in flight, so that the lanes have time left. */
const HTTP_SHARE = 0.4;
/** Part of a stop's time in which new requests are still accepted, at most. */
const DRAIN_SHARE = 0.3;

export interface StartOptions {
  config: Config;
  logger: HeraldLogger;
  timeline: Timeline;
  /**
   * Every step of the start registers its end here at once, so that a start that fails midway leaves nothing behind.
   */
  teardown: Teardown;
  /** Called when an essential part of this process ended by itself. */
  onFatal: (reason: string) => void;
  /** For tests, which cannot wait a minute for a slow answer. */
  simulatorOptions?: Partial<SimulatorOptions>;
}

/** The running parts of this process, by its roles. */
export interface Herald {
  /** The settings, completed at the start with the addresses of the embedded database and the simulator. */
  config: Config;
  /** Null in a process that is only a simulator. */
  app: NestExpressApplication | null;
  simulator: Simulator | null;
  /** The address of this process's HTTP server; in a process that is only a simulator, the simulator's. */
  baseUrl: string;
  simulatorUrl: string | null;
  /** Null where there is no demo workspace. */
  demo: DemoFile | null;
}

/**
 * Starts the roles of this process: database, simulator, application, in this order.
 *
 * @throws StartError where the operator can fix the problem.
 */
export async function startHerald(options: StartOptions): Promise<Herald> {
  const { logger, timeline, teardown, onFatal } = options;
  const config = copyOf(options.config);
  const { roles } = config.process;
  requireFolders(config);
  if (!roles.includes('api') && !roles.includes('worker')) return startSimulatorOnly(config, options);

  // The application's modules load while the database starts; each takes about half of a start.
  const loading = timeline.measure('load', () => import('./application.js'));
  loading.catch(() => undefined);
  if (config.database.url === null) {
    const database = await timeline.measure('database', () => startEmbeddedDatabase(config, onFatal));
    teardown.add('embedded database', () => database.stop(), true);
    config.database.url = database.url;
  }
  const simulation = roles.includes('simulator') ? await startSimulator(config, options) : null;
  useSimulator(config, `http://127.0.0.1:${config.whatsapp.simulatorPort}`);

  const { createApplication, endWork, startApplication } = await loading;
  const app = await timeline.measure('application', () => createApplication(config, logger));
  teardown.add('application', () => app.close());
  teardown.add('http', () => {
    endWork(app);
    return stopHttp(app, config.process);
  });
  const port = await timeline.measure('listen', () => startApplication(app, config));
  const baseUrl = `http://${reachableHost(config.process.host)}:${port}`;
  simulation?.simulator.courier.setWebhookUrl(`${baseUrl}${WEBHOOK_PATH}`);
  const simulatorUrl = simulation?.url ?? null;
  const makeDemo = async () => (await import('./demo.js')).makeDemo(app, config, baseUrl, simulatorUrl);
  const demo = config.process.demo && roles.includes('api') ? await timeline.measure('demo', makeDemo) : null;
  return { config, app, baseUrl, simulator: simulation?.simulator ?? null, simulatorUrl, demo };
}

/**
 * If files cannot be written, every upload and the simulator's storage fail. A full disk is accepted, since it may have
 * space again later.
 *
 * @throws StartError naming the folder
 */
function requireFolders({ process, media }: Config): void {
  const keepsFiles = process.roles.some((role) => role !== 'simulator');
  const folders = [
    ...(process.roles.includes('simulator') ? [process.dataDir] : []),
    ...(keepsFiles ? [media.dir] : []),
  ];
  for (const folder of folders) {
    try {
      probeFolder(folder);
    } catch (error) {
      if (codeOf(error) === 'ENOSPC') continue;
      const how = 'give this user the right to write there, or set DATA_DIR or MEDIA_DIR';
      throw new StartError(`the folder ${folder} can't be written (${codeOf(error)}): ${how}`, { cause: error });
    }
  }
}

async function startSimulatorOnly(config: Config, options: StartOptions): Promise<Herald> {
  const { simulator, url } = await startSimulator(config, options);
  const { publicUrl, host, port } = config.process;
  simulator.courier.setWebhookUrl(`${publicUrl ?? `http://${reachableHost(host)}:${port}`}${WEBHOOK_PATH}`);
  return { config, app: null, simulator, baseUrl: url, simulatorUrl: url, demo: null };
}

async function startSimulator(config: Config, { timeline, teardown, simulatorOptions }: StartOptions) {
  const role = await timeline.measure('simulator', () => startSimulatorRole(config, simulatorOptions));
  teardown.add('simulator', () => role.simulator.stop());
  useSimulator(config, role.url);
  return role;
}

/** Unless another platform is configured. */
function useSimulator({ whatsapp }: Config, url: string): void {
  if (whatsapp.apiUrl !== null) return;
  Object.assign(whatsapp, { apiUrl: url, ...SIMULATED_APP, signupAppSecret: null });
}

async function stopHttp(app: NestExpressApplication, settings: Config['process']): Promise<void> {
  const { roles, shutdownTimeoutMs, shutdownDrainMs } = settings;
  const drain = app.get(Drain, { strict: false });
  const drainMs = roles.includes('api') ? Math.min(shutdownDrainMs, shutdownTimeoutMs * DRAIN_SHARE) : 0;
  if (drainMs > 0) {
    drain.announce();
    await pause(drainMs);
  }
  await drain.stop(app.getHttpServer(), shutdownTimeoutMs * HTTP_SHARE);
}

/** The start completes a copy, because the given settings may serve another start. */
function copyOf(config: Config): Config {
  const { process, database, whatsapp } = config;
  return changedConfig(config, { process: { ...process }, database: { ...database }, whatsapp: { ...whatsapp } });
}
