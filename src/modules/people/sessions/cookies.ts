import type { Request, Response } from 'express';

/**
 * Cookies that only this host sets and gets, over TLS or on localhost: browsers accept `__Host-` only with Secure and
 * Path=/. Lax: the redirect from the issuer sends the cookie, but forms, images and scripts of other sites do not.
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
