import type { Scope } from './scopes.js';

/** What a key says of the OTP project that it belongs to. */
export interface OtpProjectOfKey {
  readonly id: string;
  /** `sandbox` sends nothing. Its keys begin with `hrld_test_`. */
  readonly mode: OtpMode;
}

export type OtpMode = 'sandbox' | 'live';

/** A key as its workspace may see it: never with its secret. */
export interface ApiKey {
  /** The public part of the key's text. */
  id: string;
  organizationId: string;
  name: string;
  scopes: Scope[];
  otpProjectId: string | null;
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
  /** The key is one of this OTP project; it then has scopes of OTP only. */
  otpProject?: OtpProjectOfKey;
}
