import type { SignInSecrets } from './issuers.service.js';

/** A sign-in whose person is at the issuer: kept by the browser, so that Herald keeps nothing for strangers. */
export interface SignInUnderWay extends SignInSecrets {
  issuer: string;
  /** Path of the page that is opened afterwards. */
  to: string;
}

const MOST_CHARACTERS = 3_000;

export function underWayText(underWay: SignInUnderWay): string {
  return Buffer.from(JSON.stringify(underWay)).toString('base64url');
}

/** Null where it is none. It came from the browser: an attacker may have any part of it, but not that of another browser. */
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
