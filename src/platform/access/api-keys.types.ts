import type { KeyMode } from './api-key-format.js';
import type { Scope } from './scopes.js';

/** A key as its workspace may see it: never with its secret. */
export interface ApiKey {
  /** The public part of the key's text. */
  id: string;
  organizationId: string;
  name: string;
  scopes: Scope[];
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** At most a minute old. */
  lastUsedAt: Date | null;
  createdAt: Date;
}

/** A key just made: the only time that its text is known. */
export interface IssuedApiKey extends ApiKey {
  /** The whole text for the Authorization header. Show it once; it can't be had again. */
  key: string;
}

export interface NewApiKey {
  organizationId: string;
  name: string;
  scopes: readonly Scope[];
  expiresAt?: Date | null;
  /** `test` for keys of OTP sandbox projects. Default: live. */
  mode?: KeyMode;
}
