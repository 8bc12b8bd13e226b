import type { LoggerService } from '@nestjs/common';

/** Contexts in which Nest tells every step of its own start: sixty lines that say nothing when all is well. */
const STEPS = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/** The same logger, with Nest's own steps at the level debug. */
export function withoutNestsOwnSteps(logger: Required<Omit<LoggerService, 'setLogLevels'>>): LoggerService {
  return {
    log: (message: unknown, ...rest: unknown[]) => {
      const level = STEPS.has(String(rest.at(-1))) ? 'debug' : 'log';
      logger[level](message, ...rest);
    },
    warn: (message: unknown, ...rest: unknown[]) => logger.warn(message, ...rest),
    error: (message: unknown, ...rest: unknown[]) => logger.error(message, ...rest),
    fatal: (message: unknown, ...rest: unknown[]) => logger.fatal(message, ...rest),
    debug: (message: unknown, ...rest: unknown[]) => logger.debug(message, ...rest),
    verbose: (message: unknown, ...rest: unknown[]) => logger.verbose(message, ...rest),
  };
}
