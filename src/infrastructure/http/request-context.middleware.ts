import { Injectable } from '@nestjs/common';
import type { Express, Response } from 'express';
import { commonErrors, invalidField } from '../../common/common.errors.js';
import { AccessLog, requestContext } from '../operations/logger.js';
import { Metrics } from '../operations/metrics/metrics.js';
import { Tracing } from '../operations/tracing.js';
import { Config } from '../config/config.js';
import { aliasHeaders, readAddress, setApiVersion, SUPPORTED_VERSIONS } from './api-version.js';
import { Drain } from './drain.js';
import type { FlatHeaders } from './express-adapter.js';
import { ErrorFilter, errorBody } from './error.filter.js';
import type { ExactRoutes, RouteHandler } from './exact-routes.js';
import { type HeraldRequest, REQUEST_ID_HEADER, requestIdOf } from './herald-request.js';
import { Overload } from './overload.js';
import { PublicUrl } from './public-url.js';
import { drainUnreadBody } from './server-limits.js';

type MarkAlias = ReturnType<typeof aliasHeaders>;

/**
 * What every request meets first, before Express. A route that `routes` knows is called at once; Express's router finds
 * all others.
 */
@Injectable()
export class RequestContextMiddleware {
  /** Set once the controllers' routes are there. */
  routes: ExactRoutes | null = null;
  /** Handlers of `DirectRoutes` by method and path; the routes take them in the place of Nest's. */
  readonly direct = new Map<string, RouteHandler>();
  private readonly onClose: (this: Response) => void;
  private readonly markAlias: MarkAlias;

  constructor(
    private readonly drain: Drain,
    private readonly accessLog: AccessLog,
    private readonly metrics: Metrics,
    private readonly overload: Overload,
    private readonly publicUrl: PublicUrl,
    private readonly errors: ErrorFilter,
    private readonly tracing: Tracing,
    config: Config,
  ) {
    this.markAlias = aliasHeaders(config.process.aliasSunset);
    const gone = (res: Response): void => this.gone(res.req as HeraldRequest, res);
    // One listener for all responses, which finds its own by `this`: a closure for each is a measurable cost.
    this.onClose = function onClose() {
      gone(this);
    };
  }

  receive(req: HeraldRequest, res: Response, express: Express): void {
    const requestId = requestIdOf(req.headers['x-request-id']);
    req.id = requestId;
    req.startedAt = performance.now();
    req.res = res;
    res.setHeader(REQUEST_ID_HEADER, requestId);
    (res as FlatHeaders & Response).addHeaders(SECURITY_HEADERS);
    if (this.drain.stopping) res.setHeader('Connection', 'close');
    this.drain.enter();
    res.on('close', this.onClose);
    if (this.overload.shedding !== 0 && this.shed(req, res)) return;
    if (this.tracing.on) req.span = this.tracing.request(req);
    requestContext.run(req, this.route, req, res, express);
  }

  /** Answers by hand: a refusal must cost next to nothing, and no line of the log each. */
  private shed(req: HeraldRequest, res: Response): boolean {
    const refusal = this.overload.refusal(req.method, req.url);
    if (refusal === null) return false;
    setApiVersion(res);
    const address = readAddress(req.url);
    if (address.kind === 'alias') this.markAlias(res, address.url);
    for (const [name, value] of Object.entries(refusal.headers)) res.setHeader(name, value);
    res.status(refusal.status).json(errorBody(refusal, req.id, this.publicUrl.value));
    return true;
  }

  private gone(req: HeraldRequest, res: Response): void {
    this.drain.leave();
    drainUnreadBody(req);
    this.accessLog.write(req, res);
    this.metrics.http.observe(req, res);
    if (this.tracing.on) this.tracing.requestEnded(req, res);
  }

  private readonly route = (req: HeraldRequest, res: Response, express: Express): void => {
    const address = readAddress(req.url);
    if (address.kind === 'unsupported') {
      this.errors.answer(commonErrors.API_VERSION_NOT_SUPPORTED({ supported: SUPPORTED_VERSIONS }), req, res);
      return;
    }
    if (req.headers.host === undefined && req.httpVersion === '1.1') {
      this.errors.answer(invalidField('Host', 'required', 'The header Host is missing.'), req, res);
      return;
    }
    if (hasTwoHosts(req)) {
      this.errors.answer(invalidField('Host', 'single', 'The header Host is there more than once.'), req, res);
      return;
    }
    if (address.kind === 'alias') this.markAlias(res, address.url);
    req.originalUrl = req.url;
    if (address.url !== req.url) req.url = address.url;
    const found = this.routes?.find(req.method, req.url);
    if (found === undefined) {
      express(req, res);
      return;
    }
    // As the router would leave it.
    req.route = found.route;
    req.params = {};
    found.handle(req, res, (error: unknown) => this.errors.answer(error, req, res));
  };
}

/** Headers of every answer that is no web page: nothing of it may be framed, sniffed, cached or run. */
const SECURITY_HEADERS = Object.entries({
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
}).flat();

/** Node keeps the first of them, and a proxy in front may have followed the last one (RFC 9112, 3.2). */
function hasTwoHosts({ rawHeaders }: HeraldRequest): boolean {
  let found = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') found += 1;
  }
  return found > 1;
}
