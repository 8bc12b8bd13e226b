import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import type { Express, NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import { declaredErrors } from '../../common/define-errors.js';
import { errorsPage } from './errors-page.js';
import { ExampleValues } from './example-values.js';
import { buildOpenApiDocument } from './swagger.js';

/** Swagger UI brings its own scripts and styles, and draws its icons as data. */
const pageHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      objectSrc: ["'none'"],
    },
  },
});

/**
 * Runs in the page: a call with the example's Idempotency-Key gets a new one, since whoever tries a second example means
 * another message. Self-contained, for it is sent as text.
 */
function freshKey(request: { headers: Record<string, string> }): unknown {
  const header = 'Idempotency-Key';
  if (request.headers[header] === '0b7f5a0e-5c1d-4f39-9d8e-2a4c6b8d0e1f') request.headers[header] = crypto.randomUUID();
  return request;
}

/** Serves /docs, /docs/errors, /openapi.json and /openapi.yaml. The description is made when it is first asked for. */
export function serveDocs(app: NestExpressApplication): void {
  app.use('/docs', (req: Request, res: Response, next: NextFunction) => {
    res.removeHeader('Cache-Control');
    pageHeaders(req, res, next);
  });
  const express: Express = app.getHttpAdapter().getInstance();
  express.get('/docs/errors', (_req, res) => {
    res.type('html').send(errorsPage(declaredErrors()));
  });
  const examples = app.get(ExampleValues, { strict: false });
  SwaggerModule.setup('docs', app, () => examples.applyTo(buildOpenApiDocument(app)), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Herald API',
    swaggerOptions: {
      persistAuthorization: true,
      displayRequestDuration: true,
      defaultModelsExpandDepth: 0,
      requestInterceptor: freshKey,
    },
  });
}
