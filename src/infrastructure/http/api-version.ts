import type { ServerResponse } from 'node:http';
import type { CallHandler, ExecutionContext, INestApplication, NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';

/** The one version of the API, and everything that depends on its name. */
export const API_VERSION = 'v1';
export const API_VERSION_HEADER = 'X-HERALD-API-Version';

/** Names the version in the answer of every route. On errors, and where no route was found, `ErrorFilter` does. */
export class ApiVersionInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    context.switchToHttp().getResponse<ServerResponse>().setHeader(API_VERSION_HEADER, API_VERSION);
    return next.handle();
  }
}

export const SUPPORTED_VERSIONS = [API_VERSION];

/** Where controllers stand unless their path is one of `OUTSIDE_THE_API`. */
export const API_PREFIX = `/api/${API_VERSION}`;

/** Of the admin API: its own routes, keys and description, with the headers and errors of the other. */
export const ADMIN_PREFIX = `/api/admin/${API_VERSION}`;

/** Routes that do not stand below /api/v1: they are no part of the API, or name their whole path. */
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
  /** Not below /api, or below /api/v1 or /api/admin: goes on as `url`, which is as it was but for the Cloud API's paths. */
  | { kind: 'plain'; url: string }
  /** Below /api without a version: goes on as `url`. */
  | { kind: 'alias'; url: string }
  /** Below a version that does not exist. */
  | { kind: 'unsupported'; url: string };

/**
 * Says what a request's target means. A whole URL in the target (the absolute form, which every server must take) loses
 * its origin, so that no later check sees another path than the router does.
 */
export function readAddress(target: string): Address {
  const url = target.charCodeAt(0) === 47 ? target : withoutOrigin(target);
  // For clients of the Cloud API in which only the host can be set.
  if (GRAPH_AT_ROOT.test(url)) return { kind: 'plain', url: `/graph${url}` };
  if (!url.startsWith(UNVERSIONED) || url.startsWith(VERSIONED)) return { kind: 'plain', url };
  const ofAdmin = isAdmin(url);
  const rest = url.slice(ofAdmin ? ADMIN.length + 1 : UNVERSIONED.length);
  const segment = /^[^/?#]*/.exec(rest)?.[0] ?? '';
  if (segment === API_VERSION) return { kind: 'plain', url };
  if (/^v\d/i.test(segment)) return { kind: 'unsupported', url };
  // The admin API never had addresses without a version.
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

/** Puts every controller below /api/v1, but those that are no part of the API. Call it before `init`. */
export function setApiPrefix(app: INestApplication): void {
  app.setGlobalPrefix(API_PREFIX.slice(1), { exclude: OUTSIDE_THE_API });
}

/** Where people read of it. */
const ABOUT = '</docs>; rel="deprecation"; type="text/html"';

/**
 * What an answer under an address without a version says of it: since when it is deprecated (RFC 9745), which address
 * replaces it, where to read more, and, where that was decided, when it ends (RFC 8594).
 *
 * @param sunset null: it stays, as the specification promises
 */
export function aliasHeaders(sunset: Date | null): (res: ServerResponse, successor: string) => void {
  const ends = sunset?.toUTCString() ?? null;
  return (res, successor) => {
    res.setHeader('Deprecation', ALIAS_DEPRECATION);
    res.setHeader('Link', `<${inHeader(successor.split(/[?#]/, 1)[0] ?? '')}>; rel="successor-version", ${ABOUT}`);
    if (ends !== null) res.setHeader('Sunset', ends);
  };
}

/** Characters that would end the address in a header, or must not be in one at all, are percent-encoded. */
function inHeader(path: string): string {
  return path.replace(/[<>"\\^`{|}]|[^\x21-\x7e]/g, encodeURIComponent);
}
