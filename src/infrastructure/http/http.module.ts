import {
  type CanActivate,
  type DynamicModule,
  Global,
  Module,
  type NestInterceptor,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import {
  APP_FILTER,
  APP_GUARD,
  APP_INTERCEPTOR,
  APP_PIPE,
  DiscoveryModule,
  DiscoveryService,
  HttpAdapterHost,
  MetadataScanner,
} from '@nestjs/core';
import type { Express } from 'express';
import { Readiness } from '../operations/readiness.js';
import { AddressMiddleware } from './address.middleware.js';
import { ApiVersionInterceptor } from './api-version.js';
import { BodyGuard } from './body.guard.js';
import { DocsDemo } from './docs/docs.js';
import { LateReads } from './late-reads.interceptor.js';
import { Drain } from './drain.js';
import { ErrorFilter } from './error.filter.js';
import { Overload } from './overload.js';
import { PublicUrl } from './public-url.js';
import { QueryGuard } from './query.guard.js';
import { RequestContextMiddleware } from './request-context.middleware.js';
import { routeNotFound } from './route-not-found.js';
import { routesWithoutPolicy } from './routes.js';
import { RequestValidationPipe } from './validation.pipe.js';

/**
 * Herald's HTTP layer: what every route passes, in this order. Middleware, and configuration that needs the
 * application, are in `configureHttp`.
 */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [RequestContextMiddleware, Overload, AddressMiddleware, Drain, PublicUrl, DocsDemo, LateReads],
  exports: [Drain, PublicUrl, DocsDemo, LateReads],
})
export class HttpModule implements OnModuleInit {
  /**
   * @param admission decides who may call; a provider of a global module.
   * @param around interceptors around routes: reads from a standby, a workspace's share of the process, and repeats.
   */
  static with(admission: Type<CanActivate>, ...around: Type<NestInterceptor>[]): DynamicModule {
    return {
      module: HttpModule,
      providers: [
        // Guards, so that the query is checked and the body read only after admission.
        { provide: APP_GUARD, useExisting: admission },
        { provide: APP_GUARD, useClass: QueryGuard },
        { provide: APP_GUARD, useClass: BodyGuard },
        { provide: APP_INTERCEPTOR, useClass: ApiVersionInterceptor },
        ...around.map((each) => ({ provide: APP_INTERCEPTOR, useExisting: each })),
        { provide: APP_PIPE, useClass: RequestValidationPipe },
        { provide: APP_FILTER, useClass: ErrorFilter },
      ],
    };
  }

  constructor(
    readiness: Readiness,
    drain: Drain,
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly host: HttpAdapterHost,
  ) {
    // Not ready from the moment the process received the signal to stop.
    const check = async () => (drain.stopping ? { ok: false, detail: 'stopping' } : { ok: true });
    readiness.register('accepting', check, false);
  }

  /** @throws Error naming routes that declare neither who may call them nor that they are public. */
  onModuleInit(): void {
    const open = routesWithoutPolicy(this.discovery, this.scanner);
    if (open.length > 0) throw new Error(`these routes have neither @RequireScope nor @Public: ${open.join(', ')}`);
    // After the controllers' routes, which Nest has registered by now. A command has no HTTP.
    const adapter = this.host.httpAdapter as HttpAdapterHost['httpAdapter'] | null;
    adapter?.use(routeNotFound(adapter.getInstance<Express>()));
  }
}
