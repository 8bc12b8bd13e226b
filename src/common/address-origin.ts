import { isIPv6 } from 'node:net';

/**
 * The network that one caller has: of IPv6 the /64 around an address, of IPv4 the address itself, also where it is mapped
 * to IPv6.
 */
export function originOf(address: string): string {
  const plain = address.split('%', 1)[0] ?? '';
  if (!isIPv6(plain)) return plain;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain);
  if (mapped !== null) return mapped[1] ?? plain;
  const [head, tail] = plain.toLowerCase().split('::', 2) as [string, string | undefined];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const wide = right.some((group) => group.includes('.')) ? right.length + 1 : right.length;
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - wide);
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
