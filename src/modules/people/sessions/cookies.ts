import type { Request, Response } from 'express';

/**
 * Cookies that this host alone sets and gets, over TLS or on localhost: browsers take `__Host-` with Secure and Path=/ only.
 * Lax: the way back from the issuer brings the cookie along, and no form, image or script of another site does.
 */
const FLAGS = 'Path=/; Secure; HttpOnly; SameSite=Lax';

export const SESSION_COOKIE = '__Host-herald';
export const SIGN_IN_COOKIE = '__Host-herald-sign-in';

/** Null where the request has none. */
export function cookieOf(req: Pick<Request, 'headers'>, name: string): string | null {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return null;
}

export function setCookie(res: Response, name: string, value: string, seconds: number): void {
  res.append('Set-Cookie', `${name}=${value}; Max-Age=${seconds}; ${FLAGS}`);
}

export function removeCookie(res: Response, name: string): void {
  setCookie(res, name, '', 0);
}
