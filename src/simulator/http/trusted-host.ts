import { isIP } from 'node:net';

/**
 * Whether a request without any credentials may be answered under this `Host`: a page from elsewhere reaches a server of
 * this machine under a name of its own that leads here for a while (DNS rebinding), never under an address.
 *
 * @param names more names that lead here for certain
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
