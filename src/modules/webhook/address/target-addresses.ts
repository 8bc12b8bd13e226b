import { isPublicAddress, memberOf } from './check-address.js';
import { CaresResolver } from './cares-resolver.js';
import { DevelopmentResolver } from './development-resolver.js';
import { HostUnresolved, type HostResolver, type ResolveFault } from './resolver.js';
import type { TargetPolicy } from './target-policy.js';

export interface TargetOptions {
  readonly policy: TargetPolicy;
  /** Default: the name servers of the machine; with `allowPrivate`, all that the machine itself would ask. */
  readonly resolver?: HostResolver | undefined;
  /** Networks (CIDR) that are good besides the public ones. For tests, which own no public address; no setting feeds it. */
  readonly extraNetworks?: readonly string[] | undefined;
}

export type FoundAddresses =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly fault: ResolveFault | 'private_address' };

/** A name with more is no web server's, but somebody's attempt to keep us busy. */
const MOST_ADDRESSES = 32;

/** Resolves a host and judges what it resolves to. */
export class TargetAddresses {
  private readonly resolver: HostResolver;
  private readonly isExtra: (address: string) => boolean;

  constructor(private readonly options: TargetOptions) {
    this.resolver = options.resolver ?? (options.policy.allowPrivate ? new DevelopmentResolver() : new CaresResolver());
    this.isExtra = memberOf(options.extraNetworks ?? []);
  }

  /** The addresses of a host, where every single one of them may be connected to. Never rejects. */
  async find(host: string): Promise<FoundAddresses> {
    let addresses: string[];
    try {
      addresses = await this.resolver.resolve(host);
    } catch (error) {
      return { ok: false, fault: error instanceof HostUnresolved ? error.fault : 'dns_failed' };
    }
    if (addresses.length === 0) {
      return { ok: false, fault: 'unresolvable' };
    }
    if (addresses.length > MOST_ADDRESSES) {
      return { ok: false, fault: 'too_many_addresses' };
    }
    const good = addresses.every((address) => this.isAllowed(address));
    return good ? { ok: true, addresses } : { ok: false, fault: 'private_address' };
  }

  /** Whether this address may be connected to. */
  isAllowed(address: string): boolean {
    return this.options.policy.allowPrivate || isPublicAddress(address) || this.isExtra(address);
  }
}
