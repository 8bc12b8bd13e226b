import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { isLocal, PublicUrl } from '../public-url.js';
import { readFileSync } from 'node:fs';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import compression from 'compression';
import type { Express, NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import { declaredErrors } from '../../../common/define-errors.js';
import { heraldVersion } from '../../../common/version.js';
import { buildAdminDocument } from '../openapi-admin.js';
import { buildOpenApiDocument } from '../openapi.js';
import { RESPONSE_HEADERS } from '../openapi-operations.js';
import { serveClient, serveDownload } from './downloads.js';
import { errorsPage } from './errors-page.js';
import { postmanCollection } from './postman.js';
import {
  EXAMPLE_DELIVERY_ID,
  EXAMPLE_DESTINATION_ID,
  EXAMPLE_REPLAY_ID,
  EXAMPLE_IDEMPOTENCY_KEY,
  EXAMPLE_MEDIA_ID,
  EXAMPLE_MESSAGE_ID,
  EXAMPLE_OTP_CODE,
  EXAMPLE_OPT_OUT_ID,
  EXAMPLE_OTP_ID,
} from '../../../common/example-ids.js';
import { OTP_SECURITY_SCHEME, SECURITY_SCHEME } from '../api-description.js';

/** A file next to this one; the build copies files that are not TypeScript. */
function asset(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

/** Swagger UI has its own scripts and styles, and icons as data URLs. */
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

declare const heraldDocs: Record<'request' | 'response' | 'plugin' | 'complete', (given?: unknown) => unknown>;
declare const SwaggerUIBundle: { plugins: { DownloadUrl(system: unknown): unknown } };

/** Swagger UI calls these functions in the page: they are sent as text and use the page's script. */
const IN_PAGE = {
  requestInterceptor: (request: unknown) => heraldDocs.request(request),
  responseInterceptor: (response: unknown) => heraldDocs.response(response),
  // The first is Swagger UI's own, which a list of plugins would replace.
  plugins: [
    (system: unknown) => SwaggerUIBundle.plugins.DownloadUrl(system),
    (system: unknown) => heraldDocs.plugin(system),
  ],
  onComplete: () => heraldDocs.complete(),
};

/**
 * Serves /docs/errors, which every error links to, /client.tgz, and the links at /. With `docs` also the rest of /docs,
 * /openapi.json, /openapi.yaml and /postman.json. The description is built at the first request.
 */
export function serveDocs(
  app: NestExpressApplication,
  { docs: all, adminApi }: Pick<Config['process'], 'docs' | 'adminApi'>,
  hasConsole: boolean,
): void {
  app.use('/docs', (req: Request, res: Response, next: NextFunction) => {
    res.removeHeader('Cache-Control');
    pageHeaders(req, res, next);
  });
  const express: Express = app.getHttpAdapter().getInstance();
  express.get('/docs/errors', (_req, res) => {
    res.type('html').send(errorsPage(declaredErrors(), all));
  });
  express.get('/docs/errors.js', (_req, res) => {
    res.type('js').send(asset('errors.js'));
  });
  const publicUrl = app.get(PublicUrl, { strict: false });
  const hasClient = serveClient(express);
  serveSignpost(express, publicUrl, { docs: all, hasConsole, hasClient });
  if (!all) return;
  const demo = app.get(DocsDemo, { strict: false });
  app.use(['/docs', '/openapi.json', '/openapi.yaml', '/openapi-admin.json', '/postman.json'], compression());
  // Swagger UI names its files relative to its page, and without the slash they would not be below /docs.
  express.get('/docs/index.html', (_req, res) => res.redirect('/docs'));
  express.get('/docs/demo.json', (req, res) => {
    const keys = demo.keysFor(req);
    res.set('Cache-Control', 'no-store');
    // 204 rather than 404, which a browser would report as an error of the page.
    if (keys === null) res.status(204).end();
    else res.json(keys);
  });
  express.get('/docs/herald.js', (_req, res) => {
    res.set('Cache-Control', 'no-store');
    res.type('js').send(`window.heraldPage = ${JSON.stringify(demo.filled(PAGE))};\n${asset('page.js')}`);
  });
  const describe = (): OpenAPIObject => buildOpenApiDocument(app, publicUrl.value);
  serveDownload(express, '/postman.json', () => ({
    content: Buffer.from(JSON.stringify(demo.filled(postmanCollection(describe())), null, 2)),
    type: 'json',
  }));
  if (adminApi) serveAdminDocs(app, express, () => buildAdminDocument(app, publicUrl.value));
  // Registered before Swagger UI's own route, which has no ETag.
  serveDownload(express, '/openapi.json', () => ({
    content: Buffer.from(JSON.stringify(demo.filled(describe()))),
    type: 'json',
  }));
  SwaggerModule.setup('docs', app, () => demo.filled(describe()), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Herald API',
    customCss: asset('page.css'),
    customJs: '/docs/herald.js',
    swaggerOptions: {
      persistAuthorization: true,
      displayRequestDuration: true,
      defaultModelsExpandDepth: 0,
      filter: true,
      ...IN_PAGE,
    },
  });
}

/** The admin API, on a separate page: it has other keys, which are not kept in the browser. */
function serveAdminDocs(app: NestExpressApplication, express: Express, describe: () => OpenAPIObject): void {
  serveDownload(express, '/openapi-admin.json', () => ({
    content: Buffer.from(JSON.stringify(describe())),
    type: 'json',
  }));
  SwaggerModule.setup('docs/admin', app, describe, {
    raw: false,
    customSiteTitle: 'Herald administration',
    customCss: asset('page.css'),
    swaggerOptions: { displayRequestDuration: true, defaultModelsExpandDepth: 0, filter: true },
  });
}

/** The root address: a browser is redirected to /console or /docs, a program gets name, version and links. */
function serveSignpost(
  express: Express,
  publicUrl: PublicUrl,
  { docs, hasConsole, hasClient }: Readonly<Record<'docs' | 'hasConsole' | 'hasClient', boolean>>,
): void {
  const version = heraldVersion();
  express.get('/', (req, res) => {
    if ((docs || hasConsole) && req.headers.accept?.includes('text/html') === true) {
      res.redirect(hasConsole ? '/console' : '/docs');
      return;
    }
    const base = publicUrl.value;
    res.json({
      name: 'Herald',
      version,
      api_url: `${base}/api/v1`,
      health_url: `${base}/health/ready`,
      errors_url: `${base}/docs/errors`,
      ...(hasConsole && { console_url: `${base}/console` }),
      ...(hasClient && { client_url: `${base}/client.tgz` }),
      ...(docs && {
        docs_url: `${base}/docs`,
        openapi_url: `${base}/openapi.json`,
        postman_url: `${base}/postman.json`,
      }),
    });
  });
}

/** Data for the page's script. */
const PAGE = {
  keyScheme: SECURITY_SCHEME,
  otpScheme: OTP_SECURITY_SCHEME,
  headers: Object.keys(RESPONSE_HEADERS),
  examples: {
    key: EXAMPLE_IDEMPOTENCY_KEY,
    message: EXAMPLE_MESSAGE_ID,
    media: EXAMPLE_MEDIA_ID,
    delivery: EXAMPLE_DELIVERY_ID,
    replay: EXAMPLE_REPLAY_ID,
    destination: EXAMPLE_DESTINATION_ID,
    optOut: EXAMPLE_OPT_OUT_ID,
    otp: EXAMPLE_OTP_ID,
    otpCode: EXAMPLE_OTP_CODE,
  },
};

export interface DemoKeys {
  api_key: string;
  otp_sandbox_key: string;
}

/** Values of this installation for Swagger UI: the demo's keys, and ids that replace those of the examples. */
@Injectable()
export class DocsDemo {
  private keys: DemoKeys | null = null;
  private readonly values = new Map<string, string>();

  constructor(private readonly config: Config) {}

  /** From now on local callers get these keys. */
  offer(keys: DemoKeys): void {
    this.keys = keys;
  }

  /** Null in production, without a demo workspace, and for a caller that may not be on this machine. */
  keysFor(request: IncomingMessage): DemoKeys | null {
    const { production, demo } = this.config.process;
    return !production && demo && isLocal(request) ? this.keys : null;
  }

  /** From now on `value` replaces `example` in the description. */
  replace(example: string, value: string): void {
    this.values.set(example, value);
  }

  /** The description, or a part of it, with the replaced values. */
  filled<T extends object>(description: T): T {
    if (this.values.size === 0) return description;
    let text = JSON.stringify(description);
    for (const [example, value] of this.values) text = text.replaceAll(example, value);
    return JSON.parse(text) as T;
  }
}
