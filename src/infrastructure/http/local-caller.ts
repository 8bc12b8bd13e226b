import type { IncomingMessage } from 'node:http';

/** Hosts under which a browser of this machine reaches Herald; another name may lead here for a while (DNS rebinding). */
const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const LOOPBACK = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;
/** Who bears one of these speaks for somebody else, who may sit anywhere. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/** Whether a program or a page of this machine asks, and no page of another site in a browser that runs here. */
export function isLocal({ headers, socket }: IncomingMessage): boolean {
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false;
  const site = headers['sec-fetch-site'];
  // `none` is an address that was typed in.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return LOOPBACK.test(socket.remoteAddress ?? '') && LOCAL_HOST.test(headers.host ?? '');
}
