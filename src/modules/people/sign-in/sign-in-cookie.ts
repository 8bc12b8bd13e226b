import type { SignInSecrets } from './issuers.service.js';

/** A sign-in in progress: stored by the browser, so that Herald stores nothing for strangers. */
export interface SignInUnderWay extends SignInSecrets {
  issuer: string;
  /** Path of the page to open afterwards. */
  to: string;
}

const MOST_CHARACTERS = 3_000;

export function underWayText(underWay: SignInUnderWay): string {
  return Buffer.from(JSON.stringify(underWay)).toString('base64url');
}

/**
 * Null where it is malformed. It comes from the browser: an attacker may choose any part of it, but cannot have another
 * browser's.
 */
export function readUnderWay(text: string | null): SignInUnderWay | null {
  if (text === null || text.length > MOST_CHARACTERS) return null;
  try {
    const { state, nonce, verifier, issuer, to } = JSON.parse(
      Buffer.from(text, 'base64url').toString(),
    ) as SignInUnderWay;
    return [state, nonce, verifier, issuer, to].every((each) => typeof each === 'string')
      ? { state, nonce, verifier, issuer, to }
      : null;
  } catch {
    return null;
  }
}
