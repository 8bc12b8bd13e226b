import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import compression from 'compression';
import type { Express } from 'express';
import { commonErrors } from '../../common/common.errors.js';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const ASSET_NAME = /^[\w.-]{1,100}$/;

interface Asset {
  type: string;
  content: Buffer;
}

/**
 * Serves the files of a page that `npm run build` put beside the compiled program, below `/<name>/assets`. Returns the
 * page itself; null where it was not built, or when running from source.
 */
export function serveBuilt(app: NestExpressApplication, name: 'console' | 'setup'): string | null {
  const folder = new URL(`../../../${name}/`, import.meta.url);
  if (!existsSync(new URL('assets/', folder))) return null;
  const assets = readAssets(folder);
  const express: Express = app.getHttpAdapter().getInstance();
  app.use(`/${name}/assets`, compression());
  express.get(`/${name}/assets/:name`, (req, res, next) => {
    const asset = assets.get(req.params.name);
    if (asset === undefined) {
      next(commonErrors.ROUTE_NOT_FOUND());
      return;
    }
    // The file's name contains the hash of its content.
    res.set({
      'Content-Type': asset.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
    });
    res.end(asset.content);
  });
  return readFileSync(new URL('index.html', folder), 'utf8');
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
