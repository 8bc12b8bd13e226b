import { randomUUID } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express, NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import type { Config } from '../config/config.js';
import { Counters } from '../operations/counters.js';
import { requestContext } from '../operations/logger.js';
import { AddressMiddleware } from './address.middleware.js';
import { setApiPrefix } from './api-version.js';
import { serveConsole } from './console.js';
import { serveDocs } from './docs/docs.js';
import type { HeraldRequest } from './herald-request.js';
import { Overload } from './overload.js';
import { PublicUrl } from './public-url.js';
import { RequestContextMiddleware } from './request-context.middleware.js';
import { serveSetupPage } from './setup-page.js';
import { limitServer } from './server-limits.js';

/** What every request passes before its route, in this order. Each may refuse it; the error filter answers. */
const MIDDLEWARE = [RequestContextMiddleware, AddressMiddleware, Overload];

/**
 * Configures HTTP of a Nest application. Call it once, before `init`, on an application made with `bodyParser: false`
 * that imports `HttpModule`.
 */
export function configureHttp(app: NestExpressApplication, config: Config): void {
  const express: Express = app.getHttpAdapter().getInstance();
  express.disable('x-powered-by');
  express.disable('etag');
  // An answer without a validator matches no condition (RFC 9110, 13.1); Express would answer "If-None-Match: *" with
  // 304.
  Object.defineProperty(express.request, 'fresh', { value: false });
  express.set('query parser', 'simple');
  express.set('trust proxy', config.security.trustProxy);
  (express.router as unknown as { caseSensitive: boolean }).caseSensitive = true;

  setApiPrefix(app);
  app.use(securityHeaders);
  // By `app.use` instead of a module's `configure`, because Nest would apply those only below the prefix of the API.
  for (const middleware of MIDDLEWARE) {
    const instance = app.get(middleware, { strict: false });
    app.use((req: HeraldRequest, res: Response, next: NextFunction) => instance.use(req, res, next));
  }
  if (!config.process.roles.includes('api')) app.use(operationsOnly);
  serveSetupPage(app, config);
  serveDocs(app, config.process, serveConsole(app, config));
  const publicUrl = app.get(PublicUrl, { strict: false });
  const counters = app.get(Counters, { strict: false });
  const isTrusted = express.get('trust proxy fn') as (address: string, hops: number) => boolean;
  limitServer(app.getHttpServer(), () => publicUrl.value, {
    perAddress: config.limits.connectionsPerAddress,
    isProxy: (address) => isTrusted(address, 0),
    onRefused: () => counters.increment('connections_refused'),
  });
}

/**
 * Configures a Nest application that answers only the calls of its own command: it has no port, so it has no rate
 * limits and no access log.
 */
export function configureCommandCalls(app: NestExpressApplication): void {
  setApiPrefix(app);
  app.use((req: HeraldRequest, _res: Response, next: NextFunction) => {
    Object.assign(req, { id: randomUUID(), startedAt: performance.now() });
    requestContext.run(req, next);
  });
}

/** For every answer that is not a web page: it must not be framed, sniffed or run. */
const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  strictTransportSecurity: { maxAge: 31_536_000, includeSubDomains: true },
  referrerPolicy: { policy: 'no-referrer' },
  // This header is for pages and scripts, which answers of the API are not.
  crossOriginOpenerPolicy: false,
  crossOriginResourcePolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

const OPERATIONS = /^\/(health\/(live|ready)|metrics)$/;

/** A process without the role api answers only monitoring on its port. */
function operationsOnly(req: Request, res: Response, next: NextFunction): void {
  if (OPERATIONS.test(req.path)) next();
  else res.status(404).type('text/plain').send('This process does not have the role api.\n');
}
