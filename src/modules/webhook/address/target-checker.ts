import { isIP } from 'node:net';
import { parseUrl } from '../../../common/parse-url.js';
import { isPublicAddress, memberOf } from '../../../common/public-address.js';
import {
  answeredWithin,
  CaresResolver,
  DevelopmentResolver,
  HostUnresolved,
  type HostResolver,
  type ResolveFailure,
} from './resolver.js';

/** Limits of the addresses that a webhook may have. */
export interface TargetOptions {
  /** Allows private addresses, plain HTTP and any port, for development. */
  readonly allowPrivate: boolean;
  /** Default: the machine's name servers; with `allowPrivate`, the machine's own resolver. */
  readonly resolver?: HostResolver | undefined;
  /**
   * Networks (CIDR) that are allowed besides public ones. For tests, which have no public address; no setting sets it.
   */
  readonly extraNetworks?: readonly string[] | undefined;
}

/** `malformed`: not a well-formed URL (INVALID_REQUEST). The others are reasons of WEBHOOK_URL_NOT_ALLOWED. */
export type UrlRefusal =
  'malformed' | 'not_https' | 'port' | 'ip_literal' | 'private_address' | 'unresolvable' | 'credentials_in_url';

export interface RefusedUrl {
  readonly ok: false;
  readonly reason: UrlRefusal;
  /** One sentence that says what to do. */
  readonly message: string;
}

const MAX_URL_LENGTH = 2_048;

/** Characters that a parser drops or changes: a person and the machine would read such a URL differently. */
const UNCLEAN = /[\s\p{Cc}\\]/u;

/**
 * Checks the form of a webhook's address; `TargetChecker` checks whether its name has public addresses. Returns a
 * canonical URL: lower-case punycode host, no trailing dot, no default port. Store and use that one, since only it was
 * checked.
 */
export function checkTargetUrl(raw: string, { allowPrivate }: TargetOptions): { ok: true; url: URL } | RefusedUrl {
  const url = parse(raw);
  if (typeof url === 'string') return refuse('malformed', url);
  const plain = allowPrivate && url.protocol === 'http:';
  if (url.protocol !== 'https:' && !plain) return refuse('not_https', 'Use an address that starts with https://.');
  if (url.username !== '' || url.password !== '') {
    return refuse(
      'credentials_in_url',
      'Leave user name and password out of the address; verify the signature instead.',
    );
  }
  if (allowPrivate) return { ok: true, url };
  if (url.port !== '') return refuse('port', 'Leave the port out: deliveries go to port 443.');
  // Here every spelling of an IPv4 address is four decimal parts, and IPv6 is in brackets.
  if (isIP(url.hostname) !== 0 || url.hostname.startsWith('[')) {
    return refuse('ip_literal', 'Use a host name in place of an IP address, whether it is public or private.');
  }
  return refusalOfName(url.hostname) ?? { ok: true, url };
}

/** The parsed URL, or the fault in its form. */
function parse(raw: string): URL | string {
  if (raw.length > MAX_URL_LENGTH) return `The address is longer than ${MAX_URL_LENGTH} characters.`;
  if (UNCLEAN.test(raw)) return 'Write blanks, control characters and backslashes in the address percent-encoded.';
  const url = parseUrl(raw);
  if (url === null) return 'Send a whole address, such as https://example.com/webhooks.';
  if (url.href.includes('#')) return 'Leave out the fragment (# and what follows): it is never sent.';
  const host = url.hostname;
  if (host.endsWith('.')) url.hostname = host.slice(0, -1);
  return url.href.length > MAX_URL_LENGTH ? `Encoded, the address is longer than ${MAX_URL_LENGTH} characters.` : url;
}

function refuse(reason: UrlRefusal, message: string): RefusedUrl {
  return { ok: false, reason, message };
}

/** RFC 1035: limit of a name without its trailing dot. */
const MAX_NAME_LENGTH = 253;

/** Host names formally have no underscores, but such names resolve and get certificates. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

const TOP_LABEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,58}[a-z0-9])$/;

/**
 * Names that are valid within one network only (RFC 6761, RFC 6762, RFC 8375, RFC 9476, ICANN's `internal`, and common
 * names in home and office networks). A resolver that knows them answers with private addresses.
 */
const INNER_NAMES = new Set([
  'alt',
  'arpa',
  'corp',
  'home',
  'internal',
  'intranet',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'onion',
  'private',
]);

/** Reserved, so that no name under them ever exists (RFC 6761). */
const EMPTY_NAMES = new Set(['example', 'invalid', 'test']);

/** For a lower-case ASCII host without its trailing dot. A single label is a name of the internal network. */
export function refusalOfName(host: string): RefusedUrl | null {
  const labels = host.split('.');
  const top = labels.at(-1) ?? '';
  const isWhole = host.length <= MAX_NAME_LENGTH && labels.every((label) => LABEL.test(label));
  if (isWhole && (labels.length === 1 || INNER_NAMES.has(top))) {
    return refuse('private_address', 'Use a host name that is known on the public internet.');
  }
  if (!isWhole || !TOP_LABEL.test(top)) {
    return refuse('malformed', 'The host is not a name that can exist in the domain name system.');
  }
  if (!EMPTY_NAMES.has(top)) return null;
  return refuse('unresolvable', 'No host exists under this name; use one that is known on the public internet.');
}

/** A name with more addresses is not a web server's, but an attempt to keep Herald busy. */
const MAX_ADDRESSES = 32;

const LOOKUP_MS = 4_000;

/** Checks a webhook's address before it is stored. Every delivery checks the address of its connection again. */
export class TargetChecker {
  private readonly resolver: HostResolver;
  private readonly isExtra: (address: string) => boolean;

  constructor(private readonly options: TargetOptions) {
    this.resolver = options.resolver ?? (options.allowPrivate ? new DevelopmentResolver() : new CaresResolver());
    this.isExtra = memberOf(options.extraNetworks ?? []);
  }

  /**
   * Checks the form of the URL and every address of its host; returns the canonical URL, which is the one to store.
   * Never rejects. `malformed` means INVALID_REQUEST on the field `url`; every other reason is one of
   * WEBHOOK_URL_NOT_ALLOWED.
   */
  async check(raw: string): Promise<{ ok: true; url: string } | RefusedUrl> {
    const form = checkTargetUrl(raw, this.options);
    if (!form.ok) return form;
    const found = await this.find(form.url.hostname);
    if (found.ok) return { ok: true, url: form.url.href };
    const reason = found.failure === 'private_address' ? found.failure : 'unresolvable';
    return refuse(reason, NOT_FOUND[found.failure]);
  }

  /** The addresses of a host, if every one of them may be connected to. Never rejects. */
  async find(
    host: string,
    timeoutMs = LOOKUP_MS,
    signal?: AbortSignal,
  ): Promise<{ ok: true; addresses: readonly string[] } | { ok: false; failure: ResolveFailure }> {
    let addresses: string[];
    try {
      addresses = await answeredWithin(this.resolver.resolve(host), timeoutMs, signal);
    } catch (error) {
      return { ok: false, failure: error instanceof HostUnresolved ? error.failure : 'dns_failed' };
    }
    if (addresses.length === 0) return { ok: false, failure: 'unresolvable' };
    if (addresses.length > MAX_ADDRESSES) return { ok: false, failure: 'too_many_addresses' };
    const good = addresses.every((address) => this.isAllowed(address));
    return good ? { ok: true, addresses } : { ok: false, failure: 'private_address' };
  }

  /** Whether this address may be connected to. */
  isAllowed(address: string): boolean {
    return this.options.allowPrivate || isPublicAddress(address) || this.isExtra(address);
  }
}

const NO_ANSWER = 'The name servers of the host gave no answer; check them, then try again.';
const NOT_FOUND: Readonly<Record<ResolveFailure, string>> = {
  private_address: 'Every address of the host must be public; at least one is private, local or reserved.',
  unresolvable: 'The host has no address; check the name and its A and AAAA records.',
  too_many_addresses: 'The host has more addresses than a web server would; use another name.',
  dns_timeout: NO_ANSWER,
  dns_failed: NO_ANSWER,
};
