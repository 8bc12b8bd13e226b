import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The address at which Azure's hosts answer their guests. It is not public, but no registry lists it. */
const AZURE_HOST = '168.63.129.16';

/** The block of all public IPv6 servers; mapped, translated, local and multicast addresses are outside. */
const OPEN_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for the address of a public server; false for any other address, and for text that is not exactly one address
 * (IPv4 in four decimal parts, or IPv6 without a zone). `unicast` means outside all blocks of the IANA special-purpose
 * registries and not multicast. The few globally reachable blocks of those registries serve protocols, not webhooks.
 */
export function isPublicAddress(address: string): boolean {
  if (!isPlainAddress(address) || address === AZURE_HOST) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(OPEN_IPV6));
}

/**
 * A test of membership in networks (CIDR), equally strict: a mapped IPv6 address is not the IPv4 address that it maps.
 */
export function memberOf(networks: readonly string[]): (address: string) => boolean {
  const parsed = networks.map((network) => ipaddr.parseCIDR(network));
  return (address) => {
    if (!isPlainAddress(address)) return false;
    const own = ipaddr.parse(address);
    return parsed.some(([network, bits]) => own.kind() === network.kind() && own.match(network, bits));
  };
}

/** Node accepts a zone (fe80::1%eth0) as part of an address. */
function isPlainAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

/** Whether both texts denote the same address. */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (ipaddr.isValid(one) && ipaddr.isValid(other) && canonical(one) === canonical(other));
}

function canonical(address: string): string {
  return ipaddr.process(address).toNormalizedString();
}

/**
 * The network that counts as one caller: for IPv6 the /64 around the address; for IPv4, mapped to IPv6 or not, the
 * address itself. Text that is not an address stays unchanged.
 */
export function originOf(address: string): string {
  const plain = address.split('%', 1)[0] ?? '';
  if (!isIPv6(plain)) return plain;
  const parsed = ipaddr.process(plain);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const [a, b, c, d] = parsed.parts.map((group) => group.toString(16));
  return `${a}:${b}:${c}:${d}::/64`;
}
