import type { NestExpressApplication } from '@nestjs/platform-express';
import expressOf, { type Express, type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { commonErrors } from '../../common/common.errors.js';
import type { Config } from '../config/config.js';
import { serveBuilt } from './built-page.js';
import { DocsDemo } from './docs/docs.js';

/** The page loads only its own files, and runs no inline code. */
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

const SIMULATOR_TIMEOUT_MS = 10_000;
const MAX_CONTROL_BYTES = 1_048_576;

/**
 * Serves the console at /console: its files and, in a demo, the demo's keys and the control calls of the simulator for
 * callers on this machine. Returns whether the console is served.
 */
export function serveConsole(app: NestExpressApplication, config: Config): boolean {
  if (!config.process.console || !config.process.roles.includes('api')) return false;
  const express: Express = app.getHttpAdapter().getInstance();
  const demo = app.get(DocsDemo, { strict: false });
  app.use('/console', (req: Request, res: Response, next: NextFunction) => {
    res.set('Cache-Control', 'no-store');
    pageHeaders(req, res, next);
  });
  const page = serveBuilt(app, 'console');
  if (page === null) return false;
  express.get('/console/demo.json', (req, res) => {
    const keys = demo.keysFor(req);
    // 204 rather than 404, which a browser would report as an error of the page.
    if (keys === null) res.status(204).end();
    else res.json({ ...keys, simulator: config.process.roles.includes('simulator') });
  });
  serveSimulator(express, demo, config);
  express.get(/^\/console(\/.*)?$/, (_req, res) => {
    res.type('html').send(page);
  });
  return true;
}

/** The control calls of this process's simulator, at the console's origin. */
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
