import { Logger } from '@nestjs/common';
import { describeError } from '../common/describe-error.js';
import { within } from '../common/within.js';
import type { Config } from '../infrastructure/config/config.js';
import { ConfigError, loadConfig, readEnvFile } from '../infrastructure/config/load-config.js';
import { HeraldLogger } from '../infrastructure/operations/logger.js';
import { type Herald, startHerald } from './herald.js';
import { StartError } from './start-error.js';
import { Teardown } from './teardown.js';
import { Timeline } from './timeline.js';
import { welcome } from './demo-file.js';

/** The exit code of sysexits.h for a configuration error. */
const EXIT_CONFIG = 78;
/** Part of SHUTDOWN_TIMEOUT_MS reserved for the database, which ends last. */
const DATABASE_RESERVE_MS = 1_500;
const HALT_WITHIN_MS = 5_000;

/** The whole life of a Herald process: settings, start, signals, stop. Ends the process. */
export async function runHerald(): Promise<void> {
  readEnvFile();
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    refuse(error.message, error.logFormat);
    process.exit(EXIT_CONFIG);
  }
  const logger = new HeraldLogger(config.process);
  Logger.overrideLogger(logger);
  await new HeraldProcess(config, logger).run();
}

/** Prints the reason to standard error, which is written synchronously before the process ends. */
function refuse(message: string, format: Config['process']['logFormat']): void {
  const line = { level: 'fatal', time: new Date().toISOString(), context: 'Herald', msg: message };
  process.stderr.write(`${format === 'json' ? JSON.stringify(line) : message}\n`);
}

class HeraldProcess {
  private readonly timeline = new Timeline();
  private readonly teardown: Teardown;
  private starting: Promise<Herald> | null = null;
  private ending = false;

  constructor(
    private readonly config: Config,
    private readonly logger: HeraldLogger,
  ) {
    this.teardown = new Teardown((step, error) =>
      this.logger.warn(`stopping: ${step}: ${describeError(error)}`, 'Herald'),
    );
  }

  async run(): Promise<void> {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.onSignal(signal));
    process.on('uncaughtException', (error) => this.onFatal('an uncaught error', error));
    process.on('unhandledRejection', (error) => this.onFatal('an unhandled rejection', error));
    const { config, logger, timeline, teardown } = this;
    const onFatal = (reason: string): void => this.onFatal(reason, null);
    this.starting = startHerald({ config, logger, timeline, teardown, onFatal });
    try {
      const herald = await this.starting;
      if (this.ending) return;
      logger.log(
        {
          msg: 'ready',
          ms: timeline.elapsedMs,
          roles: config.process.roles,
          base_url: herald.baseUrl,
          phases: timeline.summary(),
        },
        'Herald',
      );
      // To standard error, since standard output may be a file of JSON lines.
      if (herald.demo !== null) process.stderr.write(welcome(herald.demo, config.process.dataDir));
    } catch (error) {
      if (this.ending) return;
      if (error instanceof StartError) refuse(`Herald cannot start: ${error.message}`, this.config.process.logFormat);
      else this.logger.fatal(error, 'Herald');
      await this.end(1);
    }
  }

  private onSignal(signal: string): void {
    if (this.ending) {
      this.logger.warn(`second ${signal}: stopping at once`, 'Herald');
      void this.haltAndExit(signal === 'SIGINT' ? 130 : 143);
      return;
    }
    this.logger.log(`${signal}: finishing what is under way`, 'Herald');
    void this.end(0);
  }

  private onFatal(what: string, error: unknown): void {
    // While stopping, aborted work may still report its closed connections.
    if (this.ending) {
      this.logger.debug(`${what} while stopping: ${describeError(error)}`, 'Herald');
      return;
    }
    this.ending = true;
    if (error instanceof Error) this.logger.fatal(error, 'Herald');
    else this.logger.fatal(error === null ? what : `${what}: ${describeError(error)}`, 'Herald');
    void this.haltAndExit(1);
  }

  private async end(code: number): Promise<void> {
    this.ending = true;
    const from = performance.now();
    const withinMs = Math.max(this.config.process.shutdownTimeoutMs - DATABASE_RESERVE_MS, 50);
    // Waits for a running start, so that it can be stopped as a whole.
    if (this.starting !== null)
      await within(
        withinMs,
        this.starting.catch(() => undefined),
      );
    await this.teardown.run(Math.max(withinMs - (performance.now() - from), 50));
    this.logger.log(`stopped in ${Math.round(performance.now() - from)} ms`, 'Herald');
    process.exit(code);
  }

  private async haltAndExit(code: number): Promise<void> {
    await within(HALT_WITHIN_MS, this.teardown.halt());
    process.exit(code);
  }
}
