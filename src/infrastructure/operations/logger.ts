import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { Inject, Injectable, type LoggerService, type OnApplicationShutdown } from '@nestjs/common';
import pino, { type DestinationStream, type Logger as Pino } from 'pino';
import pinoPretty from 'pino-pretty';
import { Config } from '../config/config.js';
import { type HeraldRequest, pathOfRoute } from '../http/herald-request.js';
import { loggable, maskSecrets } from './log-fields.js';

/** The request that is served here; log lines take their id from it. */
export const requestContext = new AsyncLocalStorage<
  Pick<HeraldRequest, 'id'> & Partial<Pick<HeraldRequest, 'span' | 'apiKeyId' | 'ip'>>
>();

export type LogSettings = Pick<Config['process'], 'logLevel' | 'logFormat'>;

/** Contexts in which Nest logs every step of its own start: sixty lines without information in a normal start. */
const STEPS = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/** Routes of balancers and monitoring. */
const PROBES = new Set(['/health/live', '/health/ready', '/metrics']);

/** How long and how many characters of access lines are gathered. */
const GATHER_MS = 50;
const MOST_GATHERED = 16_384;

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
  private accessLines = '';
  private flushing: NodeJS.Timeout | null = null;

  constructor(
    settings: LogSettings,
    private readonly destination: LogDestination = standardOutput(settings.logFormat),
  ) {
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

  /**
   * A line about an answered request, as JSON. It is written with those of the next moment, because a write each is dear: a
   * process that is killed loses them. Never give it a body, a token or a phone number.
   */
  access(line: string): void {
    if (!this.logsAccess) return;
    this.accessLines += line;
    if (this.accessLines.length >= MOST_GATHERED) this.flushAccess();
    else this.flushing ??= setTimeout(() => this.flushAccess(), GATHER_MS);
  }

  /** Writes the lines of `access` that are not written yet. */
  flushAccess(): void {
    if (this.flushing !== null) clearTimeout(this.flushing);
    this.flushing = null;
    const lines = this.accessLines;
    this.accessLines = '';
    if (lines !== '') this.destination.write(lines);
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

/**
 * One line an answered request: never its body, its query, a token or a number, so the route and not the path. The line
 * is put together without pino, because every request passes here; nothing in it but the caller's own id needs a mask.
 */
@Injectable()
export class AccessLog implements OnApplicationShutdown {
  /** True while Herald makes its own demo, whose requests are not to be read before the welcome. */
  paused = false;
  private readonly addresses = new WeakMap<Socket, { forwarded: unknown; address: string | undefined }>();
  private timeText = '';
  private timeMs = 0;

  constructor(
    @Inject(HeraldLogger) private readonly logger: HeraldLogger,
    private readonly config: Config,
  ) {}

  onApplicationShutdown(): void {
    this.logger.flushAccess();
  }

  write(req: HeraldRequest, res: ServerResponse): void {
    if (this.paused || !this.logger.logsAccess) return;
    const { apiKeyId, organizationId, span } = req;
    const route = pathOfRoute(req);
    // Probes ask every few seconds: only what goes wrong is of interest.
    if (PROBES.has(route ?? '') && res.statusCode < 400 && !this.logger.logsProbes) return;
    const id = req.headers['x-request-id'] === req.id ? maskSecrets(req.id) : req.id;
    const address = this.config.process.logsAddress ? this.addressOf(req) : undefined;
    let line = `{"level":"${this.logger.accessLevel}","time":"${this.time()}","request_id":"${id}"`;
    if (span !== undefined) line += `,"trace_id":"${span.spanContext().traceId}"`;
    if (address !== undefined) line += `,"address":"${address}"`;
    // Node's parser knows its methods, and routes come from our own code: neither holds a quote.
    line += `,"method":"${req.method}","route":${route === undefined ? 'null' : `"${route}"`}`;
    line += `,"status":${res.statusCode},"ms":${Math.round((performance.now() - req.startedAt) * 10) / 10}`;
    if (apiKeyId !== undefined) line += `,"key_id":"${apiKeyId}"`;
    if (organizationId !== undefined) line += `,"organization_id":"${organizationId}"`;
    if (!res.writableFinished) line += ',"aborted":true';
    this.logger.access(`${line},"msg":"request"}\n`);
  }

  /** What Express tells from the connection and X-Forwarded-For each time that it is asked: found once while they are the same. */
  private addressOf(req: HeraldRequest): string | undefined {
    const forwarded = req.headers['x-forwarded-for'];
    const known = this.addresses.get(req.socket);
    if (known !== undefined && known.forwarded === forwarded) return known.address;
    const { ip = '' } = req;
    // What a proxy hands on may be anything; only an address is logged.
    const address = isIP(ip) === 0 ? undefined : ip;
    this.addresses.set(req.socket, { forwarded, address });
    return address;
  }

  /** As `toISOString`, made once a millisecond. */
  private time(): string {
    const now = Date.now();
    if (now !== this.timeMs) {
      this.timeMs = now;
      this.timeText = new Date(now).toISOString();
    }
    return this.timeText;
  }
}
