import type { ServerResponse } from 'node:http';
import type { CallHandler, ExecutionContext, INestApplication, NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';

/** The only version of the API. All that depends on the version's name is in this file. */
export const API_VERSION = 'v1';
export const API_VERSION_HEADER = 'X-HERALD-API-Version';

/**
 * Adds the version header to the answer of every route. For errors and unknown routes `ErrorFilter` adds the header.
 */
export class ApiVersionInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    context.switchToHttp().getResponse<ServerResponse>().setHeader(API_VERSION_HEADER, API_VERSION);
    return next.handle();
  }
}

export const SUPPORTED_VERSIONS = [API_VERSION];

/** The prefix of controllers, except those in `OUTSIDE_THE_API`. */
export const API_PREFIX = `/api/${API_VERSION}`;

/**
 * The prefix of the admin API. The admin API has its own routes, keys and description; its headers and errors are those
 * of the API.
 */
export const ADMIN_PREFIX = `/api/admin/${API_VERSION}`;

/** Routes outside /api/v1: they are not part of the API, or name their whole path. */
export const OUTSIDE_THE_API = [
  'auth/*path',
  'graph/*path',
  'health/live',
  'health/ready',
  'metrics',
  'mcp',
  'media/:id/content',
  'platform/whatsapp/webhook',
  'setup/:token/state',
  'setup/:token/steps/:step',
  `${ADMIN_PREFIX.slice(1)}/*path`,
];

/** Since when the addresses without a version are deprecated: 2026-01-01T00:00:00Z, as RFC 9745 writes it. */
export const ALIAS_DEPRECATION = '@1767225600';

const GRAPH_AT_ROOT = /^\/v\d{1,2}\.\d\//;
const UNVERSIONED = '/api/';
const VERSIONED = `${API_PREFIX}/`;
const ADMIN = '/api/admin';

export type Address =
  /**
   * An address outside /api, or below /api/v1 or /api/admin. The request continues as `url`: the same address, except
   * that `/graph` is put before a path of the Cloud API.
   */
  | { kind: 'plain'; url: string }
  /** An address below /api without a version. The request continues as `url`, which has the version. */
  | { kind: 'alias'; url: string }
  /** An address with an unknown version. */
  | { kind: 'unsupported'; url: string };

/**
 * Interprets a request's target. An absolute URL, which every server must accept, loses its origin, so that later
 * checks see the same path as the router.
 */
export function readAddress(target: string): Address {
  const url = target.charCodeAt(0) === 47 ? target : withoutOrigin(target);
  // Clients of the Cloud API that can only set the host ask for its paths at the root.
  if (GRAPH_AT_ROOT.test(url)) return { kind: 'plain', url: `/graph${url}` };
  if (!url.startsWith(UNVERSIONED) || url.startsWith(VERSIONED)) return { kind: 'plain', url };
  const ofAdmin = isAdmin(url);
  const rest = url.slice(ofAdmin ? ADMIN.length + 1 : UNVERSIONED.length);
  const segment = /^[^/?#]*/.exec(rest)?.[0] ?? '';
  if (segment === API_VERSION) return { kind: 'plain', url };
  if (/^v\d/i.test(segment)) return { kind: 'unsupported', url };
  // The admin API has no addresses without a version.
  if (ofAdmin) return { kind: 'plain', url };
  return { kind: 'alias', url: VERSIONED + rest };
}

/** Whether this path is one of the admin API. */
export function isAdmin(url: string): boolean {
  return url.startsWith(ADMIN) && /^([/?#]|$)/.test(url.slice(ADMIN.length));
}

function withoutOrigin(target: string): string {
  const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target)?.[0];
  if (origin === undefined) return target;
  const rest = target.slice(origin.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Puts every controller below /api/v1, except those outside the API. Call it before `init`. */
export function setApiPrefix(app: INestApplication): void {
  app.setGlobalPrefix(API_PREFIX.slice(1), { exclude: OUTSIDE_THE_API });
}

/** The page about the deprecation. */
const ABOUT = '</docs>; rel="deprecation"; type="text/html"';

/**
 * Sets the headers of an answer under an address without a version: since when the address is deprecated (RFC 9745),
 * which address replaces it, where to read more, and when the address ends, if that is decided (RFC 8594).
 *
 * @param sunset when the addresses without a version end; null: they stay, as the specification promises.
 */
export function aliasHeaders(sunset: Date | null): (res: ServerResponse, successor: string) => void {
  const ends = sunset?.toUTCString() ?? null;
  return (res, successor) => {
    res.setHeader('Deprecation', ALIAS_DEPRECATION);
    res.setHeader('Link', `<${inHeader(successor.split(/[?#]/, 1)[0] ?? '')}>; rel="successor-version", ${ABOUT}`);
    if (ends !== null) res.setHeader('Sunset', ends);
  };
}

/** Percent-encodes characters that would end the address in a header, or are not allowed in one. */
function inHeader(path: string): string {
  return path.replace(/[<>"\\^`{|}]|[^\x21-\x7e]/g, encodeURIComponent);
}
