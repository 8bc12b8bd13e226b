import {
  type ArgumentMetadata,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  Catch,
  type ExceptionFilter,
  type ExecutionContext,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestMiddleware,
  type PipeTransform,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import type { Express, NextFunction, Request, Response } from 'express';
import { tap, type Observable } from 'rxjs';
import { AppModule } from '../../src/app.module.js';
import { newId } from '../../src/common/ids.js';
import { OUTSIDE_THE_API } from '../../src/infrastructure/http/api-version.js';
import { configureHttp } from '../../src/infrastructure/http/configure-http.js';
import { FixedPrototypeAdapter } from '../../src/infrastructure/http/express-adapter.js';
import { connectionAtSimulator } from '../messages/fixture.js';
import { otpApp } from '../otp/fixture.js';
import { ApiClient } from '../support/api-client.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const responseOf = (context: ArgumentsHost): Response => context.switchToHttp().getResponse<Response>();
const requestOf = (context: ArgumentsHost): Request => context.switchToHttp().getRequest<Request>();

class Teapot extends Error {}

@Injectable()
class TeammatesMiddleware implements NestMiddleware {
  use(_req: Request, res: Response, next: NextFunction): void {
    res.setHeader('X-Middleware', 'passed');
    next();
  }
}

@Injectable()
class TeammatesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (requestOf(context).headers['x-teapot'] !== undefined) throw new Teapot();
    responseOf(context).setHeader('X-Guard', context.getHandler().name);
    return true;
  }
}

@Injectable()
class TeammatesInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const res = responseOf(context);
    res.setHeader('X-Interceptor', context.getHandler().name);
    return next.handle().pipe(tap(() => !res.headersSent && res.setHeader('X-Answered', 'true')));
  }
}

@Injectable()
class TeammatesPipe implements PipeTransform {
  static seen: string[] = [];
  transform(value: unknown, { type }: ArgumentMetadata): unknown {
    TeammatesPipe.seen.push(type);
    return value;
  }
}

@Catch(Teapot)
class TeammatesFilter implements ExceptionFilter<Teapot> {
  catch(_error: Teapot, host: ArgumentsHost): void {
    responseOf(host).status(418).json({ teapot: true });
  }
}

/** As someone would add it to the list of `AppModule`. */
@Module({
  providers: [
    { provide: APP_GUARD, useClass: TeammatesGuard },
    { provide: APP_INTERCEPTOR, useClass: TeammatesInterceptor },
    { provide: APP_PIPE, useClass: TeammatesPipe },
    { provide: APP_FILTER, useClass: TeammatesFilter },
  ],
})
class TeammatesModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(TeammatesMiddleware).forRoutes('*path');
  }
}

let test: TestApp;
let app: NestExpressApplication;
let workspace: ApiClient;
let otp: ApiClient;
let message: Record<string, unknown>;
let routes: { method: string; path: string }[];

beforeAll(async () => {
  test = await startTestApp({ roles: ['api', 'simulator'] });
  const testing = await Test.createTestingModule({ imports: [AppModule.with(test.config), TeammatesModule] }).compile();
  app = testing.createNestApplication<NestExpressApplication>(new FixedPrototypeAdapter(), {
    bodyParser: false,
    logger: false,
  });
  configureHttp(app, test.config);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as { port: number };
  const api = new ApiClient(`http://127.0.0.1:${port}`);
  const { id: organizationId } = await test.factories.workspace({ ratePerSecond: 100_000, rateBurst: 100_000 });
  workspace = api.as((await test.factories.apiKey({ organizationId })).text);
  otp = api.as((await otpApp(test, 'sandbox')).key);
  const connection = await connectionAtSimulator(test, organizationId);
  const phone = testPhone();
  await test.factories.conversation({ connection, phone });
  message = { connection_id: connection.id, to: phone, type: 'text', text: { body: 'hello' } };
  const express: Express = app.getHttpAdapter().getInstance();
  const outside = new Set(OUTSIDE_THE_API.map((path) => `/${path}`));
  routes = express.router.stack.flatMap(({ route }) => {
    // That of the console is no text.
    if (typeof route?.path !== 'string' || !(route.path.startsWith('/api/v1/') || outside.has(route.path))) return [];
    const methods = Object.keys((route as unknown as { methods: object }).methods);
    // Nest's own answers to what is not found are routes of every method.
    return methods.length > 1 ? [] : methods.map((method) => ({ method: method.toUpperCase(), path: route.path }));
  });
});

afterAll(async () => {
  await app?.close();
  await test?.stop();
});

function call({ method, path }: { method: string; path: string }, headers: Record<string, string> = {}) {
  const api = /\/otp\/|\/usage\/codes$/.test(path) ? otp : workspace;
  const body = method === 'GET' || method === 'DELETE' ? undefined : {};
  return api.request({ method, path: path.replaceAll(/:\w+/g, newId()), body, headers });
}

describe("a teammate's own guard, interceptor, middleware and filter", () => {
  it('run on every route', async () => {
    const passed: string[] = [];
    for (const route of routes) {
      const { headers } = await call(route);
      const by = ['x-middleware', 'x-guard', 'x-interceptor'].map((name) => headers.get(name) !== null);
      passed.push(`${route.method} ${route.path}: ${by.join()}`);
    }
    expect(passed).toEqual(routes.map(({ method, path }) => `${method} ${path}: true,true,true`));
    expect(passed.length).toBeGreaterThan(40);
  });

  it('answer in the place of every route', async () => {
    const statuses = await Promise.all(routes.map(async (route) => (await call(route, { 'x-teapot': '1' })).status));
    expect(statuses).toEqual(routes.map(() => 418));
  });

  it('see the busiest route as any other: an accepted message passes guard, interceptor and pipe', async () => {
    TeammatesPipe.seen = [];
    const answer = await workspace.post('/messages', message, { headers: { 'idempotency-key': newId() } });
    expect(answer.status).toBe(202);
    expect(answer.headers.get('x-guard')).toBe('send');
    expect(answer.headers.get('x-interceptor')).toBe('send');
    expect(answer.headers.get('x-answered')).toBe('true');
    expect(TeammatesPipe.seen).toContain('body');
  });
});
