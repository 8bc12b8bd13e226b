import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import pino, { type DestinationStream, type Logger as Pino } from 'pino';
import pinoPretty from 'pino-pretty';
import { Config } from '../config/config.js';
import { type HeraldRequest, pathOfRoute } from '../http/herald-request.js';
import { loggable, maskSecrets } from './log-fields.js';

/** The current request; log lines take their id from it. */
export const requestContext = new AsyncLocalStorage<
  Pick<HeraldRequest, 'id'> &
    Partial<Pick<HeraldRequest, 'span' | 'apiKeyId' | 'personId' | 'operator' | 'setupLinkId' | 'ip'>>
>();

export type LogSettings = Pick<Config['process'], 'logLevel' | 'logFormat'>;

/** Contexts in which Nest logs every step of its start: sixty lines without information. */
const STEPS = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/** Routes for balancers and monitoring. */
const PROBES = new Set(['/health/live', '/health/ready', '/metrics']);

/** The destinations of log lines; anything with `write`. Default: standard output. */
export type LogDestination = Pick<DestinationStream, 'write'>;

/**
 * Nest's logger on pino: JSON lines, or coloured text on a terminal. Every line during a request contains its
 * `request_id`, and its `trace_id` where traces are recorded.
 */
export class HeraldLogger implements LoggerService {
  private readonly pino: Pino;
  /** The level of access-log lines: on a terminal they would hide everything else. */
  readonly accessLevel: 'info' | 'debug';

  constructor(settings: LogSettings, destination: LogDestination = standardOutput(settings.logFormat)) {
    this.accessLevel = settings.logFormat === 'json' ? 'info' : 'debug';
    this.pino = pino(
      {
        level: settings.logLevel,
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        mixin: () => {
          const request = requestContext.getStore();
          if (request === undefined) return {};
          const { id, span } = request;
          return { request_id: id, ...(span && { trace_id: span.spanContext().traceId }) };
        },
      },
      { write: (line) => destination.write(maskSecrets(line)) },
    );
  }

  readonly log = (message: unknown, ...rest: unknown[]): void =>
    this.write(STEPS.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  readonly warn = this.at('warn');
  readonly error = this.at('error');
  readonly fatal = this.at('fatal');
  readonly debug = this.at('debug');
  readonly verbose = this.at('trace');

  /** Whether each answered request is logged. */
  get logsAccess(): boolean {
    return this.pino.isLevelEnabled(this.accessLevel);
  }

  /** Whether probes of balancers and monitoring are logged too. */
  get logsProbes(): boolean {
    return this.pino.isLevelEnabled('debug');
  }

  /** Logs an answered request. Never pass a body, a token or a phone number. */
  access(fields: Readonly<Record<string, unknown>>): void {
    this.pino[this.accessLevel](fields, 'request');
  }

  private at(level: pino.Level) {
    return (message: unknown, ...rest: unknown[]): void => this.write(level, message, rest);
  }

  /** Nest passes the context's name as the last argument, and for errors a stack before it. */
  private write(level: pino.Level, message: unknown, rest: unknown[]): void {
    if (!this.pino.isLevelEnabled(level)) return;
    const fields: Record<string, unknown> = {};
    const others = [...rest];
    if (typeof others.at(-1) === 'string') fields.context = others.pop();
    let text = message;
    if (message instanceof Error) {
      fields.err = message;
      text = message.message;
    }
    for (const other of others) {
      if (other instanceof Error) fields.err ??= other;
      else if (typeof other === 'string') fields.stack = other;
      else if (isRecord(other)) Object.assign(fields, other);
    }
    if (isRecord(text)) this.pino[level](loggable({ ...text, ...fields }));
    else this.pino[level](loggable(fields), String(text));
  }
}

// One writer to standard output for all loggers: two would mix parts of lines.
const outputs = new Map<string, LogDestination>();

function standardOutput(format: 'pretty' | 'json'): LogDestination {
  const known = outputs.get(format);
  if (known !== undefined) return known;
  const output =
    format === 'json'
      ? pino.destination({ dest: 1, sync: false })
      : pinoPretty({ colorize: process.stdout.isTTY, translateTime: 'SYS:HH:MM:ss.l' });
  outputs.set(format, output);
  return output;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Error);
}

/**
 * One line per answered request. It never contains the body, the query, a token or a number, so it has the route
 * instead of the path.
 */
@Injectable()
export class AccessLog {
  /** True while Herald prepares its demo, so that those requests are not logged before the welcome. */
  paused = false;

  constructor(
    @Inject(HeraldLogger) private readonly logger: HeraldLogger,
    private readonly config: Config,
  ) {}

  write(req: HeraldRequest, res: ServerResponse): void {
    if (this.paused || !this.logger.logsAccess) return;
    const route = pathOfRoute(req);
    // Probes come several times a second, so only failures are logged. The log reports once why a process is not ready.
    const isAnswer = res.statusCode < 400 || res.statusCode === 503;
    if (PROBES.has(route ?? '') && isAnswer && !this.logger.logsProbes) return;
    this.logger.access({
      request_id: req.id,
      trace_id: req.span?.spanContext().traceId,
      address: this.config.process.logsAddress ? addressOf(req) : undefined,
      method: req.method,
      route: route ?? null,
      status: res.statusCode,
      ms: Math.round((performance.now() - req.startedAt) * 10) / 10,
      key_id: req.apiKeyId,
      person_id: req.personId,
      organization_id: req.organizationId,
      aborted: res.writableFinished ? undefined : true,
    });
  }
}

/** A proxy may pass on anything; only an address is logged. */
function addressOf({ ip = '' }: HeraldRequest): string | undefined {
  return isIP(ip) === 0 ? undefined : ip;
}
