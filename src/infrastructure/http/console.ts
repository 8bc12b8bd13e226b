import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import compression from 'compression';
import expressOf, { type Express, type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { commonErrors } from '../../common/common.errors.js';
import type { Config } from '../config/config.js';
import { DocsDemo } from './docs/docs.js';

/** The page loads nothing but its own files, and runs nothing that stands within it. */
const pageHeaders = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", 'blob:', 'data:'],
    mediaSrc: ["'self'", 'blob:'],
    connectSrc: ["'self'"],
    fontSrc: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
    formAction: ["'self'"],
  },
});

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const ASSET_NAME = /^[\w.-]{1,100}$/;
const SIMULATOR_TIMEOUT_MS = 10_000;
const MAX_CONTROL_BYTES = 1_048_576;

/** What `npm run build` made, beside the compiled program; null where it was not built, or where the sources run. */
function builtFolder(): URL | null {
  const folder = new URL('../../../console/', import.meta.url);
  return existsSync(new URL('assets/', folder)) ? folder : null;
}

interface Asset {
  type: string;
  content: Buffer;
}

function readAssets(folder: URL): Map<string, Asset> {
  const found = new Map<string, Asset>();
  for (const name of readdirSync(new URL('assets/', folder))) {
    const type = TYPES[extname(name)];
    if (type === undefined || !ASSET_NAME.test(name)) continue;
    found.set(name, { type, content: readFileSync(new URL(`assets/${name}`, folder)) });
  }
  return found;
}

/**
 * Serves the console at /console: its files, and in a demo, to callers on this machine, the demo's keys and the control
 * calls of the simulator. Returns whether it is there.
 */
export function serveConsole(app: NestExpressApplication, config: Config): boolean {
  const folder = config.process.console && config.process.roles.includes('api') ? builtFolder() : null;
  if (folder === null) return false;
  const express: Express = app.getHttpAdapter().getInstance();
  const demo = app.get(DocsDemo, { strict: false });
  const page = readFileSync(new URL('index.html', folder), 'utf8');
  const assets = readAssets(folder);

  app.use('/console', (req: Request, res: Response, next: NextFunction) => {
    res.set('Cache-Control', 'no-store');
    pageHeaders(req, res, next);
  });
  app.use('/console/assets', compression());
  express.get('/console/assets/:name', (req, res, next) => {
    const asset = assets.get(req.params.name);
    if (asset === undefined) {
      next(commonErrors.ROUTE_NOT_FOUND());
      return;
    }
    // A name contains the hash of its content.
    res.set({
      'Content-Type': asset.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
    });
    res.end(asset.content);
  });
  express.get('/console/demo.json', (req, res) => {
    const keys = demo.keysFor(req);
    // Empty rather than 404: a browser would report that as an error of the page.
    if (keys === null) res.status(204).end();
    else res.json({ ...keys, simulator: config.process.roles.includes('simulator') });
  });
  serveSimulator(express, demo, config);
  express.get(/^\/console(\/.*)?$/, (_req, res) => {
    res.type('html').send(page);
  });
  return true;
}

/** The control calls of the simulator in this process, at the console's origin. */
function serveSimulator(express: Express, demo: DocsDemo, config: Config): void {
  const forward = async (req: Request, res: Response): Promise<void> => {
    const base = config.whatsapp.apiUrl;
    const allowed = demo.keysFor(req) !== null && config.process.roles.includes('simulator');
    const rest = req.originalUrl.slice('/console/simulator'.length);
    if (!allowed || base === null || !URL.canParse(`/_simulator${rest}`, base)) throw commonErrors.ROUTE_NOT_FOUND();
    const url = new URL(`/_simulator${rest}`, base);
    if (!url.pathname.startsWith('/_simulator/')) throw commonErrors.ROUTE_NOT_FOUND();
    const isPost = req.method === 'POST';
    const answer = await fetch(url, {
      method: req.method,
      ...(isPost && { headers: { 'content-type': 'application/json' }, body: req.body as Buffer }),
      redirect: 'error',
      signal: AbortSignal.timeout(SIMULATOR_TIMEOUT_MS),
    });
    res
      .status(answer.status)
      .type('json')
      .send(await answer.text());
  };
  const body = expressOf.raw({ type: 'application/json', limit: MAX_CONTROL_BYTES });
  express.get('/console/simulator/*path', forward);
  express.post('/console/simulator/*path', body, forward);
}
