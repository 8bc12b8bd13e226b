import { isIP } from 'node:net';
import { parseUrl } from '../../../common/parse-url.js';
import { kindOfHost } from './host-name.js';
import type { TargetPolicy } from './target-policy.js';

/** `malformed` is no well-formed URL (INVALID_REQUEST); the others are reasons of WEBHOOK_URL_NOT_ALLOWED. */
export type UrlRefusal =
  'malformed' | 'not_https' | 'port' | 'ip_literal' | 'private_address' | 'unresolvable' | 'credentials_in_url';

export interface RefusedUrl {
  readonly ok: false;
  readonly reason: UrlRefusal;
  /** One sentence that says what to do. */
  readonly message: string;
}

export type UrlCheck = { readonly ok: true; readonly url: URL } | RefusedUrl;

const LONGEST_URL = 2_048;

/** A parser drops or turns these; a URL that needs it reads otherwise to a human than to the machine. */
const UNCLEAN = /[\s\p{Cc}\\]/u;

/**
 * Checks the form of a webhook's address; whether its name leads to public addresses is `TargetChecker`'s part. The URL
 * that comes back is canonical: lower-case punycode host, no last dot, no default port. It is the one to store and use,
 * for only that one was checked.
 */
export function checkTargetUrl(raw: string, policy: TargetPolicy): UrlCheck {
  const url = parse(raw);
  if (typeof url === 'string') {
    return refuse('malformed', url);
  }
  const plain = policy.allowPrivate && url.protocol === 'http:';
  if (url.protocol !== 'https:' && !plain) {
    return refuse('not_https', 'Use an address that starts with https://.');
  }
  if (url.username !== '' || url.password !== '') {
    return refuse(
      'credentials_in_url',
      'Leave user name and password out of the address; verify the signature instead.',
    );
  }
  if (url.port !== '' && !policy.allowPrivate) {
    return refuse('port', 'Leave the port out: deliveries go to port 443.');
  }
  return checkHost(url, policy);
}

/** The parsed URL, or what is wrong with its form. */
function parse(raw: string): URL | string {
  if (raw.length > LONGEST_URL) {
    return `The address is longer than ${LONGEST_URL} characters.`;
  }
  if (UNCLEAN.test(raw)) {
    return 'Write blanks, control characters and backslashes in the address percent-encoded.';
  }
  const url = parseUrl(raw);
  if (url === null) {
    return 'Send a whole address, such as https://example.com/webhooks.';
  }
  if (url.href.includes('#')) {
    return 'Leave out the fragment (# and what follows): it is never sent.';
  }
  const host = url.hostname;
  if (host.endsWith('.')) {
    url.hostname = host.slice(0, -1);
  }
  return url.href.length > LONGEST_URL ? `Encoded, the address is longer than ${LONGEST_URL} characters.` : url;
}

function checkHost(url: URL, policy: TargetPolicy): UrlCheck {
  if (policy.allowPrivate) {
    return { ok: true, url };
  }
  // Any spelling of an IPv4 address is four decimal parts by now, and IPv6 stands in brackets.
  if (isIP(url.hostname) !== 0 || url.hostname.startsWith('[')) {
    return refuse('ip_literal', 'Use a host name in place of an IP address, whether it is public or private.');
  }
  switch (kindOfHost(url.hostname)) {
    case 'not_a_name':
      return refuse('malformed', 'The host is not a name that can exist in the domain name system.');
    case 'inner_name':
      return refuse('private_address', 'Use a host name that is known on the public internet.');
    case 'no_such_name':
      return refuse('unresolvable', 'No host exists under this name; use one that is known on the public internet.');
    case 'public_name':
      return { ok: true, url };
  }
}

function refuse(reason: UrlRefusal, message: string): RefusedUrl {
  return { ok: false, reason, message };
}
