import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The address under which Azure's hosts answer their guests: the one closed address that no registry lists. */
const AZURE_HOST = '168.63.129.16';

/** Where all public IPv6 servers live; mapped, translated, local and multicast addresses lie outside. */
const OPEN_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for an address of a public server. False for every other one, and for text that is not exactly one address:
 * IPv4 in four decimal parts, or IPv6 without a zone. `unicast` is what lies in no block of the IANA special-purpose
 * registries (those few that are reachable from everywhere too serve protocols, not webhooks) and is no multicast.
 */
export function isPublicAddress(address: string): boolean {
  if (!isPlainAddress(address) || address === AZURE_HOST) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(OPEN_IPV6));
}

/** A test of membership in networks (CIDR), with the same strictness: mapped IPv6 is not the IPv4 that it maps. */
export function memberOf(networks: readonly string[]): (address: string) => boolean {
  const parsed = networks.map((network) => ipaddr.parseCIDR(network));
  return (address) => {
    if (!isPlainAddress(address)) return false;
    const own = ipaddr.parse(address);
    return parsed.some(([network, bits]) => own.kind() === network.kind() && own.match(network, bits));
  };
}

/** Node takes a zone (fe80::1%eth0) for a part of the address. */
function isPlainAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

/** True where both texts say the same address. */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (ipaddr.isValid(one) && ipaddr.isValid(other) && canonical(one) === canonical(other));
}

function canonical(address: string): string {
  return ipaddr.process(address).toNormalizedString();
}

/**
 * The network that one caller has: of IPv6 the /64 around an address, of IPv4 the address itself, also where it is mapped
 * to IPv6. Text that is no address stays as it is.
 */
export function originOf(address: string): string {
  const plain = address.split('%', 1)[0] ?? '';
  if (!isIPv6(plain)) return plain;
  const parsed = ipaddr.process(plain);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const [a, b, c, d] = parsed.parts.map((group) => group.toString(16));
  return `${a}:${b}:${c}:${d}::/64`;
}
