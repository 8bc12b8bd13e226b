import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Express } from 'express';
import { heraldVersion } from '../../../common/version.js';
import { noneMatchNames } from '../if-none-match.js';

/** Packed by `npm run build` beside the compiled program; missing when running from source. */
const CLIENT = new URL('../../../../downloads/client.tgz', import.meta.url);

interface Download {
  content: Buffer;
  type: string;
  filename?: string;
}

/** Serves `path` without a key; caches must revalidate it. `download` is called at the first request. */
export function serveDownload(express: Express, path: string, download: () => Download): void {
  let served: (Download & { etag: string }) | null = null;
  express.get(path, (req, res) => {
    if (served === null) {
      const made = download();
      served = { ...made, etag: `"${createHash('sha256').update(made.content).digest('base64url')}"` };
    }
    const { content, type, filename, etag } = served;
    res.set({ ETag: etag, 'Cache-Control': 'public, no-cache' });
    if (noneMatchNames(req.headers['if-none-match'], etag)) {
      res.status(304).end();
      return;
    }
    if (filename !== undefined) res.attachment(filename);
    res.type(type).send(content);
  });
}

/** Serves the TypeScript client of this version, for `npm install`. Returns whether it exists. */
export function serveClient(express: Express): boolean {
  if (!existsSync(CLIENT)) return false;
  serveDownload(express, '/client.tgz', () => ({
    content: readFileSync(CLIENT),
    type: 'application/gzip',
    filename: `herald-client-${heraldVersion()}.tgz`,
  }));
  return true;
}
