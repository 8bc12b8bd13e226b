import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIPv6, type LookupFunction } from 'node:net';

/**
 * Domains on which the platform keeps files. `lookaside.fbsbx.com` is what its answers name; the others were seen as
 * targets of its redirects.
 */
const PLATFORM_DOMAINS = ['fbsbx.com', 'facebook.com', 'whatsapp.net', 'fbcdn.net'];

/**
 * True where a file may be fetched from, with the access token: the configured platform itself (the simulator, or a
 * proxy before it), and the platform's domains over HTTPS on its own port. A host given as digits is never one.
 */
export function isPlatformAddress(url: URL, baseOrigin: string): boolean {
  if (url.username !== '' || url.password !== '') return false;
  if (url.origin === baseOrigin) return true;
  const host = url.hostname.toLowerCase();
  return url.protocol === 'https:' && url.port === '' && PLATFORM_DOMAINS.some((domain) => host.endsWith(`.${domain}`));
}

/** Looks names up as `lookup` does, and knows no address inside our own network: a forged name leads nowhere. */
export function publicLookup(lookup: LookupFunction = systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, address, family) => {
      if (error !== null) {
        callback(error, address, family);
        return;
      }
      const addresses = Array.isArray(address) ? address : [{ address, family: family ?? 0 }];
      const [first, ...more] = addresses.filter((each) => isPublic(each.address));
      if (first === undefined) {
        callback(Object.assign(new Error('the name leads into a private network'), { code: 'EPRIVATE' }), []);
      } else if (Array.isArray(address)) {
        callback(null, [first, ...more]);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

/** What is not on the public Internet (IANA special-purpose address registries). */
const SPECIAL: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const special = new BlockList();
for (const [network, prefix] of SPECIAL) {
  special.addSubnet(network, prefix, isIPv6(network) ? 'ipv6' : 'ipv4');
}
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

function isPublic(address: string): boolean {
  if (isIPv6(address)) return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
  return !special.check(address, 'ipv4');
}
