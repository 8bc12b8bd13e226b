import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR } from '@nestjs/core';
import { Readiness } from '../operations/readiness.js';
import { DocsDemo } from './docs/docs.js';
import { ApiVersionInterceptor } from './api-version.js';
import { Drain } from './drain.js';
import { ErrorFilter } from './error.filter.js';
import { FallbackRoutes } from './configure-http.js';
import { Overload } from './overload.js';
import { PublicUrl } from './public-url.js';
import { RequestContextMiddleware } from './request-context.middleware.js';

/** Herald's HTTP layer. What needs the application itself is done by `configureHttp`. */
@Global()
@Module({
  providers: [
    Drain,
    PublicUrl,
    Overload,
    RequestContextMiddleware,
    FallbackRoutes,
    DocsDemo,
    ErrorFilter,
    { provide: APP_FILTER, useExisting: ErrorFilter },
    { provide: APP_INTERCEPTOR, useClass: ApiVersionInterceptor },
  ],
  exports: [Drain, PublicUrl, DocsDemo, ErrorFilter, RequestContextMiddleware],
})
export class HttpModule {
  constructor(readiness: Readiness, drain: Drain) {
    // Not ready from the moment the process received the signal to stop.
    const check = async () => (drain.stopping ? { ok: false, detail: 'stopping' } : { ok: true });
    readiness.register('accepting', check, false);
  }
}
