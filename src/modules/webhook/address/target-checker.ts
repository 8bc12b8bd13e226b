import { CaresResolver } from './cares-resolver.js';
import { isPublicAddress, memberOf } from '../../../common/public-address.js';
import { checkTargetUrl, refuse, type RefusedUrl, type TargetPolicy } from './check-url.js';
import {
  answeredWithin,
  DevelopmentResolver,
  HostUnresolved,
  type HostResolver,
  type ResolveFailure,
} from './resolver.js';

export interface TargetOptions {
  readonly policy: TargetPolicy;
  /** Default: the name servers of the machine; with `allowPrivate`, all that the machine itself would ask. */
  readonly resolver?: HostResolver | undefined;
  /** Networks (CIDR) that are good besides the public ones. For tests, which own no public address; no setting feeds it. */
  readonly extraNetworks?: readonly string[] | undefined;
}

export type FoundAddresses =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly failure: ResolveFailure | 'private_address' };

/** A name with more is no web server's, but an attempt to keep Herald busy. */
const MOST_ADDRESSES = 32;

/** As long as the resolvers take at the most. */
const LOOKUP_MS = 5_000;

/** Resolves a host and judges what it resolves to. */
export class TargetAddresses {
  private readonly resolver: HostResolver;
  private readonly isExtra: (address: string) => boolean;

  constructor(private readonly options: TargetOptions) {
    this.resolver = options.resolver ?? (options.policy.allowPrivate ? new DevelopmentResolver() : new CaresResolver());
    this.isExtra = memberOf(options.extraNetworks ?? []);
  }

  /** The addresses of a host, where every single one of them may be connected to. Never rejects. */
  async find(host: string, timeoutMs = LOOKUP_MS, signal?: AbortSignal): Promise<FoundAddresses> {
    let addresses: string[];
    try {
      addresses = await answeredWithin(this.resolver.resolve(host), timeoutMs, signal);
    } catch (error) {
      return { ok: false, failure: error instanceof HostUnresolved ? error.failure : 'dns_failed' };
    }
    if (addresses.length === 0) return { ok: false, failure: 'unresolvable' };
    if (addresses.length > MOST_ADDRESSES) return { ok: false, failure: 'too_many_addresses' };
    const good = addresses.every((address) => this.isAllowed(address));
    return good ? { ok: true, addresses } : { ok: false, failure: 'private_address' };
  }

  /** Whether this address may be connected to. */
  isAllowed(address: string): boolean {
    return this.options.policy.allowPrivate || isPublicAddress(address) || this.isExtra(address);
  }
}

export type TargetCheck = { readonly ok: true; readonly url: string } | RefusedUrl;

/** Checks a webhook's address before it is stored. Every delivery checks again, on the address it connects to. */
export class TargetChecker {
  private readonly addresses: TargetAddresses;

  constructor(private readonly options: TargetOptions) {
    this.addresses = new TargetAddresses(options);
  }

  /**
   * Checks the form of the URL and every address of its host; what comes back is the canonical URL, the one to store.
   * Never rejects. `malformed` is INVALID_REQUEST on the field `url`; every other reason is one of
   * WEBHOOK_URL_NOT_ALLOWED.
   */
  async check(raw: string): Promise<TargetCheck> {
    const form = checkTargetUrl(raw, this.options.policy);
    if (!form.ok) return form;
    const found = await this.addresses.find(form.url.hostname);
    if (found.ok) return { ok: true, url: form.url.href };
    return found.failure === 'private_address'
      ? refuse(
          'private_address',
          'Every address of the host must be public; at least one is private, local or reserved.',
        )
      : refuse('unresolvable', UNRESOLVED[found.failure]);
  }
}

const NO_ANSWER = 'The name servers of the host gave no answer; check them, then try again.';
const UNRESOLVED: Readonly<Record<ResolveFailure, string>> = {
  unresolvable: 'The host has no address; check the name and its A and AAAA records.',
  too_many_addresses: 'The host has more addresses than a web server would; use another name.',
  dns_timeout: NO_ANSWER,
  dns_failed: NO_ANSWER,
};
