/** The one version of the API, and everything that depends on its name. */
export const API_VERSION = 'v1';
export const API_VERSION_HEADER = 'X-HERALD-API-Version';
export const SUPPORTED_VERSIONS = [API_VERSION];

/** Where controllers stand unless their path is one of `OUTSIDE_THE_API`. */
export const API_PREFIX = `/api/${API_VERSION}`;

/** Routes that are no part of the API: no version, no alias. */
export const OUTSIDE_THE_API = [
  'health/live',
  'health/ready',
  'metrics',
  'media/:id/content',
  'platform/whatsapp/webhook',
];

/** Since when the addresses without a version are deprecated: 2026-01-01T00:00:00Z, as RFC 9745 writes it. */
export const ALIAS_DEPRECATION = '@1767225600';

const UNVERSIONED = '/api/';
const VERSIONED = `${API_PREFIX}/`;

export type Address =
  /** Not below /api, or below /api/v1: goes on as it is. */
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
  if (!url.startsWith(UNVERSIONED) || url.startsWith(VERSIONED)) return { kind: 'plain', url };
  const rest = url.slice(UNVERSIONED.length);
  const segment = /^[^/?#]*/.exec(rest)?.[0] ?? '';
  if (segment === API_VERSION) return { kind: 'plain', url };
  if (/^v\d/i.test(segment)) return { kind: 'unsupported', url };
  return { kind: 'alias', url: VERSIONED + rest };
}

function withoutOrigin(target: string): string {
  const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target)?.[0];
  if (origin === undefined) return target;
  const rest = target.slice(origin.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}
