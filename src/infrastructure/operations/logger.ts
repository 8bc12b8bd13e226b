import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import pino, { type DestinationStream, type Logger as Pino } from 'pino';
import pinoPretty from 'pino-pretty';
import { Config } from '../config/config.js';
import { type HeraldRequest, pathOfRoute } from '../http/herald-request.js';
import { loggable, maskSecrets } from './log-fields.js';

/** The request that is served here; log lines take their id from it. */
export const requestContext = new AsyncLocalStorage<
  Pick<HeraldRequest, 'id'> &
    Partial<Pick<HeraldRequest, 'span' | 'apiKeyId' | 'personId' | 'operator' | 'setupLinkId' | 'ip'>>
>();

export type LogSettings = Pick<Config['process'], 'logLevel' | 'logFormat'>;

/** Contexts in which Nest logs every step of its own start: sixty lines without information in a normal start. */
const STEPS = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/** Routes of balancers and monitoring. */
const PROBES = new Set(['/health/live', '/health/ready', '/metrics']);

/** Where lines go, one or several at once; anything with `write`. Default: standard output. */
export type LogDestination = Pick<DestinationStream, 'write'>;

/**
 * Nest's logger on pino: JSON lines, or coloured text on a terminal. Every line that is written while a request is
 * served contains its `request_id`, and its `trace_id` where traces are recorded.
 */
export class HeraldLogger implements LoggerService {
  private readonly pino: Pino;
  /** The level of one line an answered request: on a terminal it would drown everything else. */
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

  /** True where one line an answered request is wanted. */
  get logsAccess(): boolean {
    return this.pino.isLevelEnabled(this.accessLevel);
  }

  /** True where the probes of balancers and monitoring are logged as well. */
  get logsProbes(): boolean {
    return this.pino.isLevelEnabled('debug');
  }

  /** A line about an answered request. Never give it a body, a token or a phone number. */
  access(fields: Readonly<Record<string, unknown>>): void {
    this.pino[this.accessLevel](fields, 'request');
  }

  private at(level: pino.Level) {
    return (message: unknown, ...rest: unknown[]): void => this.write(level, message, rest);
  }

  /** Nest hands over the context's name as the last argument, and for errors a stack before it. */
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

// One writer to standard output, however many loggers: two would tear each other's lines apart.
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

/** One line an answered request: never its body, its query, a token or a number, so the route and not the path. */
@Injectable()
export class AccessLog {
  /** True while Herald makes its own demo, whose requests are not to be read before the welcome. */
  paused = false;

  constructor(
    @Inject(HeraldLogger) private readonly logger: HeraldLogger,
    private readonly config: Config,
  ) {}

  write(req: HeraldRequest, res: ServerResponse): void {
    if (this.paused || !this.logger.logsAccess) return;
    const route = pathOfRoute(req);
    // Probes ask several times a second: only what goes wrong is of interest. Why a process is not ready the log says once.
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

/** What a proxy hands on may be anything; only an address is logged. */
function addressOf({ ip = '' }: HeraldRequest): string | undefined {
  return isIP(ip) === 0 ? undefined : ip;
}
