import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Response } from 'express';
import { AccessLog, requestContext } from '../operations/logger.js';
import { Metrics } from '../operations/metrics/metrics.js';
import { Tracing } from '../operations/tracing.js';
import { Drain } from './drain.js';
import { type HeraldRequest, REQUEST_ID_HEADER, requestIdOf } from './herald-request.js';
import { drainUnreadBody } from './server-limits.js';

/** Gives each request its id and its context, and records it once it is answered or aborted. */
@Injectable()
export class RequestContextMiddleware implements NestMiddleware<HeraldRequest, Response> {
  constructor(
    private readonly drain: Drain,
    private readonly accessLog: AccessLog,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
  ) {}

  use(req: HeraldRequest, res: Response, next: NextFunction): void {
    req.id = requestIdOf(req.headers['x-request-id']);
    req.startedAt = performance.now();
    res.setHeader(REQUEST_ID_HEADER, req.id);
    // Caches must not store answers of the API.
    res.setHeader('Cache-Control', 'no-store');
    if (this.drain.stopping) res.setHeader('Connection', 'close');
    this.drain.enter();
    res.on('close', () => this.closed(req, res));
    if (this.tracing.on) req.span = this.tracing.request(req);
    requestContext.run(req, next);
  }

  /** Only this event also reports an aborted answer. */
  private closed(req: HeraldRequest, res: Response): void {
    this.drain.leave();
    drainUnreadBody(req);
    this.accessLog.write(req, res);
    this.metrics.http.observe(req, res);
    if (this.tracing.on) this.tracing.requestEnded(req, res);
  }
}
