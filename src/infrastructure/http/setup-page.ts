import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express, NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import type { Config } from '../config/config.js';
import { signupDialog } from '../whatsapp/signup-dialog.js';
import { serveBuilt } from './built-page.js';

/** Meta's script, and the host of its calls and frames. Allowed on this page only, and only with embedded signup. */
const META_SCRIPT = 'https://connect.facebook.net';
const META = ['https://www.facebook.com', 'https://web.facebook.com'];

/**
 * Serves the page of setup links at /setup/{token}: the same page for every token, because only its calls know the link
 * (`modules/setup`).
 */
export function serveSetupPage(app: NestExpressApplication, config: Config): void {
  const page = config.process.roles.includes('api') ? serveBuilt(app, 'setup') : null;
  if (page === null) return;
  const dialog = signupDialog(config);
  const pageHeaders = policyOf(dialog !== null && dialog.simulatorUrl === null);
  const express: Express = app.getHttpAdapter().getInstance();
  express.get('/setup/:token', (req: Request, res: Response, next: NextFunction) => {
    pageHeaders(req, res, (error?: unknown) => {
      if (error !== undefined) return next(error);
      res.set('X-Robots-Tag', 'noindex').type('html').send(page);
    });
  });
}

function policyOf(hasMeta: boolean): ReturnType<typeof helmet.contentSecurityPolicy> {
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: hasMeta ? ["'self'", META_SCRIPT] : ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: hasMeta ? ["'self'", ...META] : ["'self'"],
      ...(hasMeta && { frameSrc: META }),
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
    },
  });
}
