import { Injectable } from '@nestjs/common';
import { isIP } from 'node:net';
import type { ResolveFailure } from './resolver.js';
import { refusalOfName, TargetChecker, type RefusedUrl } from './target-checker.js';

export type FoundAddresses =
  { ok: true; addresses: readonly string[] } | { ok: false; failure: ResolveFailure | 'ip_literal' | 'malformed' };

/** Resolves hosts that callers chose, for connections other than webhook deliveries. */
@Injectable()
export class Addresses {
  private readonly open = new TargetChecker({ allowPrivate: false });
  private readonly named = new TargetChecker({ allowPrivate: true });

  /** Why the name of a host that must be public is refused; null: it is not. `host` is lower-case. */
  refusalOf(host: string): RefusedUrl | null {
    if (isIP(host) !== 0 || host.startsWith('[')) {
      const message = 'Use a host name in place of an IP address, whether it is public or private.';
      return { ok: false, reason: 'ip_literal', message };
    }
    return refusalOfName(host);
  }

  /** The addresses of a host, if every one of them is public. Never rejects. */
  async findPublic(host: string, timeoutMs?: number): Promise<FoundAddresses> {
    const refused = this.refusalOf(host);
    if (refused === null) return this.open.find(host, timeoutMs);
    const { reason } = refused;
    const failure = reason === 'ip_literal' || reason === 'malformed' ? reason : 'private_address';
    return { ok: false, failure: reason === 'unresolvable' ? reason : failure };
  }

  /** All addresses of a host that the operator named, resolved by the machine itself. Never rejects. */
  findAny(host: string, timeoutMs?: number): Promise<FoundAddresses> {
    return this.named.find(host, timeoutMs);
  }
}
