import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express, NextFunction, Request, Response } from 'express';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Counters } from '../operations/counters.js';
import { setApiPrefix, setApiVersion } from './api-version.js';
import { type FixedPrototypeAdapter, sendJson } from './express-adapter.js';
import type { HeraldRequest } from './herald-request.js';
import { PublicUrl } from './public-url.js';
import { RequestContextMiddleware } from './request-context.middleware.js';
import { limitServer } from './server-limits.js';
import { prepareRoutes } from './validated-request.pipe.js';
import { serveDocs } from './docs/docs.js';
import { ExactRoutes, routeNotFound, type RouterStack } from './exact-routes.js';

/**
 * Configures HTTP of a Nest application as Herald needs it. Call it once, before `init`, on an application made with
 * `bodyParser: false` and a `FixedPrototypeAdapter` that imports `HttpModule`.
 */
export function configureHttp(app: NestExpressApplication, config: Config): void {
  const express: Express = app.getHttpAdapter().getInstance();
  express.disable('x-powered-by');
  express.disable('etag');
  express.set('query parser', 'simple');
  express.set('trust proxy', config.security.trustProxy);
  (express.router as unknown as { caseSensitive: boolean }).caseSensitive = true;
  express.response.json = sendJson;

  setApiPrefix(app);
  prepareRoutes(app);
  const requestContext = app.get(RequestContextMiddleware, { strict: false });
  const adapter = app.getHttpAdapter() as unknown as FixedPrototypeAdapter;
  adapter.beforeExpress = (req, res) => requestContext.receive(req as HeraldRequest, res as Response, express);
  app.get(FallbackRoutes, { strict: false }).attach(app);
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
 * Handlers behind the routes of the controllers: the documentation, and the answer to everything else. Behind,
 * because each layer in front costs every request; Nest registers the controllers' routes before it calls
 * `onModuleInit`, and its own last layer after.
 */
@Injectable()
export class FallbackRoutes implements OnModuleInit {
  private app: NestExpressApplication | null = null;

  constructor(
    private readonly config: Config,
    private readonly requestContext: RequestContextMiddleware,
  ) {}

  attach(app: NestExpressApplication): void {
    this.app = app;
  }

  onModuleInit(): void {
    if (this.app === null) return; // no HTTP in this process
    const express: Express = this.app.getHttpAdapter().getInstance();
    const router = express.router as unknown as RouterStack;
    this.requestContext.routes = new ExactRoutes(router, this.requestContext.direct);
    this.app.use((_req: Request, res: Response, next: NextFunction) => {
      setApiVersion(res);
      next();
    });
    serveDocs(this.app, this.config.process.docs);
    this.app.use(routeNotFound(router));
  }
}
