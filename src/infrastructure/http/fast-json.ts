import type { Response } from 'express';

/**
 * Takes the place of Express's `res.json`, which works out an ETag, a charset and freshness that no answer of ours has a
 * use for: `Cache-Control: no-store` stands on all of them.
 */
export function sendJson(this: Response, body?: unknown): Response {
  this.setHeader('Content-Type', 'application/json; charset=utf-8');
  this.end(JSON.stringify(body));
  return this;
}
