import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import type { Observable } from 'rxjs';
import { setApiVersion } from './api-version.js';

/**
 * Names the version of the API in the answer of every route. What no interceptor sees names it too: `ErrorFilter`,
 * `DirectRoutes`, the pages behind the controllers, and what is refused before a route is looked for.
 */
@Injectable()
export class ApiVersionInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    setApiVersion(context.switchToHttp().getResponse<ServerResponse>());
    return next.handle();
  }
}
