import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express } from 'express';
import { Config } from '../config/config.js';
import { serveDocs } from './docs/docs.js';
import { routeNotFound, type RouterStack } from './route-not-found.js';

/**
 * What stands behind the routes of the controllers: the documentation, and the answer to everything else. Behind,
 * because each layer in front costs every request; Nest registers the controllers' routes before it calls
 * `onModuleInit`, and its own last layer after.
 */
@Injectable()
export class HttpTail implements OnModuleInit {
  private app: NestExpressApplication | null = null;

  constructor(private readonly config: Config) {}

  attach(app: NestExpressApplication): void {
    this.app = app;
  }

  onModuleInit(): void {
    if (this.app === null) return; // no HTTP in this process
    serveDocs(this.app, this.config.process.docs);
    const express: Express = this.app.getHttpAdapter().getInstance();
    this.app.use(routeNotFound(() => express.router as unknown as RouterStack));
  }
}
