import { randomBytes } from 'node:crypto';
import { GraphError } from '../graph-error.js';
import type { AccessTokens } from '../http/access.js';
import type { Store, Table } from '../store.js';

const PREFIX = 'SIMULATED-';

interface IssuedCode {
  /** The app may not use the account. */
  isDenied: boolean;
  /** Answer as if it were too old. */
  isRefused: boolean;
}

/** Codes issued by the sign-up dialog. Each can be exchanged once. */
export class SignupCodes {
  private readonly open: Table<IssuedCode>;

  constructor(
    store: Store,
    private readonly tokens: AccessTokens,
  ) {
    this.open = store.table('signup_codes');
  }

  issue(isDenied: boolean, isRefused: boolean): string {
    const code = PREFIX + randomBytes(18).toString('base64url');
    this.open.set(code, { isDenied, isRefused });
    return code;
  }

  /**
   * A token for the code. A code that no dialog issued is accepted.
   *
   * @throws GraphError 100 for one that was used, or is too old
   */
  exchange(code: unknown): string {
    const known = typeof code === 'string' ? this.open.get(code) : undefined;
    if (typeof code === 'string' && code.startsWith(PREFIX)) {
      if (known === undefined)
        throw new GraphError(100, { subcode: 36009, message: 'This authorization code has been used.' });
      this.open.delete(code);
      if (known.isRefused) {
        throw new GraphError(100, { subcode: 36007, message: 'This authorization code has expired.' });
      }
    }
    const token = this.tokens.issue('EAAJ');
    if (known?.isDenied === true) this.tokens.deny(token);
    return token;
  }
}
