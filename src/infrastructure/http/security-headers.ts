import type { ServerResponse } from 'node:http';

/**
 * What every answer bears that is no web page: nothing of it may be framed, sniffed, cached or run. Fixed texts,
 * because computing them for each request is a measurable part of a small answer.
 */
export function setSecurityHeaders(res: ServerResponse): void {
  res.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.setHeader('Strict-Transport-Security', 'max-age=31536000; includeSubDomains');
}
