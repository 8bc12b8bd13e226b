import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config.js';
import { HeraldLogger } from './logger.js';
import { maskSecrets } from './mask-secrets.js';

/** What the line tells of a request; the router and the guard fill it in on the way. */
interface Logged extends IncomingMessage {
  id: string;
  /** The caller's address, by the proxies that TRUST_PROXY names. */
  ip?: string;
  apiKeyId?: string;
  organizationId?: string;
  route?: { path?: unknown };
}

/**
 * One line an answered request: never its body, its query, a token or a number, so the route and not the path. The line
 * is put together by hand, because every request passes here; nothing in it but the caller's own id needs a mask.
 */
@Injectable()
export class AccessLog implements OnApplicationShutdown {
  /** True while Herald makes its own demo, whose requests are not to be read before the welcome. */
  paused = false;
  private timeText = '';
  private timeMs = 0;

  constructor(
    @Inject(HeraldLogger) private readonly logger: HeraldLogger,
    private readonly config: Config,
  ) {}

  onApplicationShutdown(): void {
    this.logger.flushAccess();
  }

  write(req: IncomingMessage, res: ServerResponse, startedAt: number): void {
    if (this.paused || !this.logger.logsAccess) return;
    const logged = req as Logged;
    const { apiKeyId, organizationId, route } = logged;
    const id = req.headers['x-request-id'] === logged.id ? maskSecrets(logged.id) : logged.id;
    const address = this.config.process.logsAddress ? addressOf(logged) : undefined;
    let line = `{"level":"${this.logger.accessLevel}","time":"${this.time()}","request_id":"${id}"`;
    if (address !== undefined) line += `,"address":${JSON.stringify(address)}`;
    // Node's parser knows its methods, and routes come from our own code: neither holds a quote.
    line += `,"method":"${req.method}","route":${typeof route?.path === 'string' ? `"${route.path}"` : 'null'}`;
    line += `,"status":${res.statusCode},"ms":${Math.round((performance.now() - startedAt) * 10) / 10}`;
    if (apiKeyId !== undefined) line += `,"key_id":"${apiKeyId}"`;
    if (organizationId !== undefined) line += `,"organization_id":"${organizationId}"`;
    if (!res.writableFinished) line += ',"aborted":true';
    this.logger.access(`${line},"msg":"request"}\n`);
  }

  /** As `toISOString`, which is made once a millitimeText. */
  private time(): string {
    const now = Date.now();
    if (now !== this.timeMs) {
      this.timeMs = now;
      this.timeText = new Date(now).toISOString();
    }
    return this.timeText;
  }
}

/** What a proxy hands on in X-Forwarded-For may be anything; only an address is logged. */
function addressOf({ ip = '' }: Logged): string | undefined {
  return isIP(ip) === 0 ? undefined : ip;
}
