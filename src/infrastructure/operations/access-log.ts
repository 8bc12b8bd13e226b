import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { HeraldLogger } from './logger.js';

/** What the line tells of a request; the router and the guard fill it in on the way. */
interface Logged extends IncomingMessage {
  id: string;
  /** The caller's address, by the proxies that TRUST_PROXY names. */
  ip?: string;
  apiKeyId?: string;
  organizationId?: string;
  route?: { path?: unknown };
}

/** One line an answered request: never its body, its query, a token or a number, so the route and not the path. */
@Injectable()
export class AccessLog {
  /** True while Herald makes its own demo, whose requests nobody wants to read before the welcome. */
  paused = false;

  constructor(
    @Inject(HeraldLogger) private readonly logger: HeraldLogger,
    private readonly config: Config,
  ) {}

  write(req: IncomingMessage, res: ServerResponse, startedAt: number): void {
    if (this.paused || !this.logger.logsAccess) return;
    const logged = req as Logged;
    const { id, apiKeyId, organizationId, route, method } = logged;
    this.logger.access({
      request_id: id,
      address: this.config.process.logsAddress ? addressOf(logged) : undefined,
      method,
      route: typeof route?.path === 'string' ? route.path : null,
      status: res.statusCode,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      key_id: apiKeyId,
      organization_id: organizationId,
      aborted: res.writableFinished ? undefined : true,
    });
  }
}

/** What a proxy hands on in X-Forwarded-For may be anything; only an address is logged. */
function addressOf({ ip = '' }: Logged): string | undefined {
  return isIP(ip) === 0 ? undefined : ip;
}
