import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express } from 'express';
import { Config } from '../config/config.js';
import { serveDocs } from './docs/docs.js';
import { ExactRoutes } from './exact-routes.js';
import { Reception } from './request-context.middleware.js';
import { routeNotFound, type RouterStack } from './route-not-found.js';

/**
 * What stands behind the routes of the controllers: the documentation, and the answer to everything else. Behind,
 * because each layer in front costs every request; Nest registers the controllers' routes before it calls
 * `onModuleInit`, and its own last layer after.
 */
@Injectable()
export class FallbackRoutes implements OnModuleInit {
  private app: NestExpressApplication | null = null;

  constructor(
    private readonly config: Config,
    private readonly reception: Reception,
  ) {}

  attach(app: NestExpressApplication): void {
    this.app = app;
  }

  onModuleInit(): void {
    if (this.app === null) return; // no HTTP in this process
    serveDocs(this.app, this.config.process.docs);
    const express: Express = this.app.getHttpAdapter().getInstance();
    const router = express.router as unknown as RouterStack;
    this.reception.routes = new ExactRoutes(router);
    this.app.use(routeNotFound(router));
  }
}
