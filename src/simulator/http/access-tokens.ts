import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { GraphError } from '../graph-error.js';
import type { Collection } from '../state/state-store.js';
import type { Call } from './call.js';

/** Checks the caller's token, in `Authorization` or `?access_token=`. */
export class AccessTokens {
  private readonly accepted: ReadonlySet<string> | null;

  /**
   * @param tokens null accepts any that is not empty
   * @param revoked by their checksums, so that no token lies in a file
   */
  constructor(
    tokens: readonly string[] | null,
    private readonly revoked: Collection<true>,
  ) {
    this.accepted = tokens === null ? null : new Set(tokens);
  }

  /** The token of a call that was let in. */
  of(call: Call): string {
    return this.check(call.request, call.search);
  }

  /** Gives the token. @throws GraphError 190 where there is none, or a wrong one */
  check(request: IncomingMessage, query: string): string {
    const header = request.headers.authorization ?? '';
    // `OAuth` is what the upload calls use.
    const match = /^(?:Bearer|OAuth) +(\S+)$/i.exec(header);
    const token =
      match?.[1] ?? (query.includes('access_token=') ? new URLSearchParams(query).get('access_token') : null);
    if (token === null || token === '') {
      throw new GraphError(190, { message: 'An access token is required to request this resource.' });
    }
    if (this.accepted !== null && !this.accepted.has(token)) {
      throw new GraphError(190, { message: 'Invalid OAuth access token - Cannot parse access token' });
    }
    if (this.isRevoked(token)) {
      throw new GraphError(190, {
        subcode: 463,
        message: 'Error validating access token: Session has expired. The current time is after its end.',
      });
    }
    return token;
  }

  isValid(token: string): boolean {
    return (this.accepted === null || this.accepted.has(token)) && !this.isRevoked(token);
  }

  setValid(token: string, valid: boolean): void {
    if (valid) this.revoked.delete(checksum(token));
    else this.revoked.set(checksum(token), true);
  }

  /** Takes every revocation back. */
  clear(): void {
    this.revoked.clear();
  }

  /** The sends are many: a checksum is only computed while something is revoked. */
  private isRevoked(token: string): boolean {
    return this.revoked.size > 0 && this.revoked.has(checksum(token));
  }
}

function checksum(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
