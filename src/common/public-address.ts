import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * IPv4 addresses without a public server: the whole IANA special-purpose registry (those few of its blocks that are
 * reachable from everywhere too: they serve protocols, not webhooks), multicast, and the address under which Azure's
 * hosts answer their guests.
 */
const CLOSED_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by carriers
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's host
  '169.254.0.0/16', // link-local, and most clouds' metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112, direct
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
].map((network) => ipaddr.IPv4.parseCIDR(network));

/** Where all public IPv6 servers live; mapped, translated, local and multicast addresses lie outside. */
const OPEN_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Parts of it without public servers, or with embedded IPv4 addresses. */
const CLOSED_IPV6 = [
  '2001::/23', // protocol assignments, Teredo among them
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map((network) => ipaddr.IPv6.parseCIDR(network));

/**
 * True for an address of a public server. False for every other one, and for text that is not exactly one address:
 * IPv4 in four decimal parts, or IPv6 without a zone.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) {
    const parsed = ipaddr.IPv4.parse(address);
    return !CLOSED_IPV4.some((network) => parsed.match(network));
  }
  // Node takes a zone (fe80::1%eth0) for a part of the address.
  if (!isIPv6(address) || address.includes('%')) {
    return false;
  }
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.match(OPEN_IPV6) && !CLOSED_IPV6.some((network) => parsed.match(network));
}

/** A test of membership in networks (CIDR), with the same strictness: mapped IPv6 is not the IPv4 that it maps. */
export function memberOf(networks: readonly string[]): (address: string) => boolean {
  const parsed = networks.map((network) => ipaddr.parseCIDR(network));
  return (address) => {
    if (!isIPv4(address) && (!isIPv6(address) || address.includes('%'))) {
      return false;
    }
    const own = ipaddr.parse(address);
    return parsed.some(([network, bits]) => own.kind() === network.kind() && own.match(network, bits));
  };
}

/** True where both texts say the same address. */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (ipaddr.isValid(one) && ipaddr.isValid(other) && canonical(one) === canonical(other));
}

function canonical(address: string): string {
  return ipaddr.process(address).toNormalizedString();
}
