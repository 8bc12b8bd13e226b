import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import type { Express, NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import { commonErrors } from '../../../common/common.errors.js';
import { declaredErrors } from '../../../common/define-errors.js';
import { PublicUrl } from '../public-url.js';
import { buildOpenApiDocument } from '../openapi.js';
import { DocsDemo, ExampleValues } from './docs-demo.js';
import { documentedPictures } from './documented-pictures.js';
import { errorsPage } from './errors-page.js';
import { pageScript } from './page-script.js';
import { PAGE_STYLE } from './page-style.js';

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

/** Swagger UI calls these in the page; they are sent as text and find the page's script there. */
interface PageGlobals {
  heraldDocs: {
    request(request: unknown): unknown;
    response(response: unknown): unknown;
    resolveSubtree: unknown;
    complete(): void;
  };
  SwaggerUIBundle: { plugins: { DownloadUrl(system: unknown): unknown } };
}
function onRequest(request: unknown): unknown {
  return (globalThis as unknown as PageGlobals).heraldDocs.request(request);
}
function onResponse(response: unknown): unknown {
  return (globalThis as unknown as PageGlobals).heraldDocs.response(response);
}
function quickResolving(): unknown {
  return { fn: { resolveSubtree: (globalThis as unknown as PageGlobals).heraldDocs.resolveSubtree } };
}
/** The page's own plugin, which a list of plugins replaces. */
function downloadUrl(system: unknown): unknown {
  return (globalThis as unknown as PageGlobals).SwaggerUIBundle.plugins.DownloadUrl(system);
}
function onComplete(): void {
  (globalThis as unknown as PageGlobals).heraldDocs.complete();
}

/**
 * Serves /docs/errors, to which every error leads, and the pictures; with `all` the rest of /docs, /openapi.json,
 * /openapi.yaml and the signpost at / too. The description is made when it is first asked for.
 */
export function serveDocs(app: NestExpressApplication, all: boolean): void {
  app.use('/docs', (req: Request, res: Response, next: NextFunction) => {
    res.removeHeader('Cache-Control');
    pageHeaders(req, res, next);
  });
  const express: Express = app.getHttpAdapter().getInstance();
  express.get('/docs/errors', (_req, res) => {
    res.type('html').send(errorsPage(declaredErrors()));
  });
  express.get('/docs/pictures/:name.svg', (req, res, next) => {
    const svg = documentedPictures().get(req.params.name);
    if (svg === undefined) next(commonErrors.ROUTE_NOT_FOUND());
    else res.type('svg').send(svg);
  });
  if (!all) return;
  const examples = app.get(ExampleValues, { strict: false });
  const publicUrl = app.get(PublicUrl, { strict: false });
  serveSignpost(express, publicUrl);
  // Swagger UI names its files relative to its page, which without the slash is not below /docs.
  express.get('/docs/index.html', (_req, res) => res.redirect('/docs'));
  serveDemo(express, app.get(DocsDemo, { strict: false }));
  express.get('/docs/herald.js', (_req, res) => {
    res.set('Cache-Control', 'no-store');
    res.type('js').send(pageScript((example) => examples.shown(example)));
  });
  SwaggerModule.setup('docs', app, () => examples.applyTo(buildOpenApiDocument(app, publicUrl.value)), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Herald API',
    customCss: PAGE_STYLE,
    customJs: '/docs/herald.js',
    swaggerOptions: {
      persistAuthorization: true,
      displayRequestDuration: true,
      defaultModelsExpandDepth: 0,
      plugins: [downloadUrl, quickResolving],
      requestInterceptor: onRequest,
      responseInterceptor: onResponse,
      onComplete,
    },
  });
}

/** Who opens the bare address is shown the way: a browser goes to /docs, a program gets the addresses. */
function serveSignpost(express: Express, publicUrl: PublicUrl): void {
  express.get('/', (req, res) => {
    if (req.headers.accept?.includes('text/html') === true) {
      res.redirect('/docs');
      return;
    }
    const base = publicUrl.value;
    res.json({
      name: 'Herald',
      api_url: `${base}/api/v1`,
      docs_url: `${base}/docs`,
      errors_url: `${base}/docs/errors`,
      openapi_url: `${base}/openapi.json`,
    });
  });
}

function serveDemo(express: Express, demo: DocsDemo): void {
  express.get('/docs/demo.json', (req, res) => {
    const keys = demo.keysFor(req);
    res.set('Cache-Control', 'no-store');
    // Empty rather than 404: a browser would report that as a fault of the page.
    if (keys === null) res.status(204).end();
    else res.json(keys);
  });
}
