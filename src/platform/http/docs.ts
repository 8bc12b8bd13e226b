import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import type { Express, NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import { declaredErrors } from '../../common/define-errors.js';
import { errorsPage } from './errors-page.js';
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

/** Serves /docs, /docs/errors, /openapi.json and /openapi.yaml. The description is made when it is first asked for. */
export function serveDocs(app: NestExpressApplication): void {
  app.use('/docs', (req: Request, res: Response, next: NextFunction) => {
    res.removeHeader('Cache-Control');
    pageHeaders(req, res, next);
  });
  const express = app.getHttpAdapter().getInstance() as Express;
  express.get('/docs/errors', (_req, res) => {
    res.type('html').send(errorsPage(declaredErrors()));
  });
  SwaggerModule.setup('docs', app, () => buildOpenApiDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Herald API',
    swaggerOptions: { persistAuthorization: true, displayRequestDuration: true },
  });
}
