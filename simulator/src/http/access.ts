import { createHash, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { GraphError } from '../graph-error.js';
import type { Store, Table } from '../store.js';
import type { Call } from './call.js';

/**
 * Whether a request without credentials may be answered for this `Host`. A foreign page reaches a local server under a
 * name of its own that points here for a while (DNS rebinding), never under an address.
 *
 * @param names further names that certainly belong to this server
 */
export function isTrustedHost(header: string | undefined, names: readonly string[] = []): boolean {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(header ?? '') ?? [];
  const host = (bracketed ?? plain).toLowerCase();
  return (
    isIP(host) !== 0 ||
    /^(?:.+\.)?localhost$/.test(host) ||
    (host !== '' && names.some((name) => name.toLowerCase() === host))
  );
}

/** Checks the caller's token, in `Authorization`, `?access_token=`, or the body's `access_token`. */
export class AccessTokens {
  /** By checksum, so that no token is stored in a file. */
  private readonly revoked: Table<true>;
  /** Also by checksum: tokens that the simulator issued. */
  private readonly issued: Table<true>;

  /** Also by checksum: tokens whose app may use no account. */
  private readonly denied: Table<true>;
  /** Also by checksum: tokens made for another app. */
  private readonly foreign: Table<true>;

  /** @param accepted null accepts any non-empty token */
  constructor(
    private readonly accepted: readonly string[] | null,
    store: Store,
  ) {
    this.revoked = store.table('revoked_tokens');
    this.issued = store.table('issued_tokens');
    this.denied = store.table('denied_tokens');
    this.foreign = store.table('foreign_tokens');
  }

  /** Returns the token. @throws GraphError 190 where it is missing or wrong; 200 where its app may use no account */
  check(call: Call): string {
    // The upload calls use `OAuth`.
    const match = /^(?:Bearer|OAuth) +(\S+)$/i.exec(call.request.headers.authorization ?? '');
    const token = match?.[1] ?? call.query('access_token') ?? tokenInBody(call);
    if (token === '') {
      throw new GraphError(190, { message: 'An access token is required to request this resource.' });
    }
    if (!this.isAccepted(token)) {
      throw new GraphError(190, { message: 'Invalid OAuth access token - Cannot parse access token' });
    }
    if (this.isRevoked(token)) {
      throw new GraphError(190, {
        subcode: 463,
        message: 'Error validating access token: Session has expired. The current time is after its end.',
      });
    }
    if (this.denied.size > 0 && this.denied.has(checksum(token))) {
      throw new GraphError(200, 'The app is not allowed to use this account.');
    }
    return token;
  }

  isValid(token: string): boolean {
    return this.isAccepted(token) && !this.isRevoked(token);
  }

  /** A new token, valid from now on. */
  issue(prefix: string): string {
    const token = prefix + randomBytes(24).toString('base64url');
    this.issued.set(checksum(token), true);
    return token;
  }

  /** From now on its app may use no account. */
  deny(token: string): void {
    this.denied.set(checksum(token), true);
  }

  /** Sets whether it belongs to another app. */
  setForeign(token: string, foreign: boolean): void {
    if (foreign) this.foreign.set(checksum(token), true);
    else this.foreign.delete(checksum(token));
  }

  isForeign(token: string): boolean {
    return this.foreign.has(checksum(token));
  }

  setValid(token: string, valid: boolean): void {
    if (valid) this.revoked.delete(checksum(token));
    else this.revoked.set(checksum(token), true);
  }

  private isAccepted(token: string): boolean {
    return this.accepted === null || this.accepted.includes(token) || this.issued.has(checksum(token));
  }

  /** Sends are frequent, so a checksum is computed only while some token is revoked. */
  private isRevoked(token: string): boolean {
    return this.revoked.size > 0 && this.revoked.has(checksum(token));
  }
}

/** Empty where there is none, or where the body can't be read. */
function tokenInBody(call: Call): string {
  try {
    const { token } = call.parameters;
    return typeof token === 'string' ? token : '';
  } catch {
    return '';
  }
}

function checksum(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
