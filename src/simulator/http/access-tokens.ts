import type { IncomingMessage } from 'node:http';
import { GraphError } from '../graph-error.js';
import type { Call } from './call.js';

/** Checks the caller's token, in `Authorization` or `?access_token=`. */
export class AccessTokens {
  private readonly accepted: ReadonlySet<string> | null;

  /** @param tokens null accepts any that is not empty */
  constructor(tokens: readonly string[] | null) {
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
    return token;
  }
}
