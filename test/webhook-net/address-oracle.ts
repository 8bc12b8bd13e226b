/**
 * A second opinion on addresses, reached another way than `public-address.ts`: every row of the two IANA
 * special-purpose registries, as ranges of whole numbers, with a parser and a writer of its own. It knows nothing of
 * ipaddr.js.
 */

/** https://www.iana.org/assignments/iana-ipv4-special-registry, row by row. */
const REGISTRY_4 = [
  '0.0.0.0/8',
  '0.0.0.0/32',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.0.0/29',
  '192.0.0.8/32',
  '192.0.0.9/32',
  '192.0.0.10/32',
  '192.0.0.170/32',
  '192.0.0.171/32',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.88.99.2/32',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '240.0.0.0/4',
  '255.255.255.255/32',
];

/** Not in the registry, and no server's either: multicast (RFC 5771), and Azure's host. */
const OTHERS_4 = ['224.0.0.0/4', '168.63.129.16/32'];

/** https://www.iana.org/assignments/iana-ipv6-special-registry, row by row. */
const REGISTRY_6 = [
  '::1/128',
  '::/128',
  '::ffff:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '100:0:0:1::/64',
  '2001::/23',
  '2001::/32',
  '2001:1::1/128',
  '2001:1::2/128',
  '2001:1::3/128',
  '2001:2::/48',
  '2001:3::/32',
  '2001:4:112::/48',
  '2001:10::/28',
  '2001:20::/28',
  '2001:30::/28',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
];

/** Global unicast (RFC 4291); all else is not yet given out, multicast, or an old meaning of an address. */
const UNICAST_6 = '2000::/3';

export interface Range {
  readonly bits: 32 | 128;
  readonly first: bigint;
  readonly last: bigint;
}

export const FORBIDDEN: readonly Range[] = [...REGISTRY_4, ...OTHERS_4, ...REGISTRY_6].map(rangeOf);

const UNICAST = rangeOf(UNICAST_6);

/** Edges worth standing on: those of what is forbidden, and of what IPv6 has in use. */
export const EDGES: readonly Range[] = [...FORBIDDEN, UNICAST, ...['::/96', 'fec0::/10', 'ff00::/8'].map(rangeOf)];

export function isPublicNumber(bits: 32 | 128, value: bigint): boolean {
  const inside = (range: Range): boolean => range.bits === bits && range.first <= value && value <= range.last;
  return !FORBIDDEN.some(inside) && (bits === 32 || inside(UNICAST));
}

export function rangeOf(cidr: string): Range {
  const [text = '', prefix = ''] = cidr.split('/');
  const bits = text.includes(':') ? 128 : 32;
  const first = bits === 32 ? parse4(text) : parse6(text);
  return { bits, first, last: first + (1n << BigInt(bits - Number(prefix))) - 1n };
}

function parse4(text: string): bigint {
  return text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function parse6(text: string): bigint {
  const [left = '', right] = text.split('::');
  const words = (side: string): string[] => (side === '' ? [] : side.split(':'));
  const head = words(left);
  const tail = words(right ?? '');
  const gap = right === undefined ? 0 : 8 - head.length - tail.length;
  const all = [...head, ...Array.from({ length: gap }, () => '0'), ...tail];
  return all.reduce((sum, word) => sum * 65_536n + BigInt(`0x${word}`), 0n);
}

export function write4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
}

/** The spellings that parsers are known to trip over; `style` chooses. */
export function write6(value: bigint, style: number): string {
  const words = Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - 16 * index)) & 0xffffn);
  const hex = words.map((word) => word.toString(16));
  switch (style % 4) {
    case 0:
      return compress(hex);
    case 1:
      return hex.map((word) => word.padStart(4, '0').toUpperCase()).join(':');
    case 2:
      return hex.join(':');
    default:
      return `${hex.slice(0, 6).join(':')}:${write4(value & 0xffffffffn)}`;
  }
}

/** The first longest run of zeros, as RFC 5952 has it. */
function compress(hex: readonly string[]): string {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (hex[start + length] === '0') length += 1;
    if (length > best.length) best = { start, length };
  }
  return best.length < 2
    ? hex.join(':')
    : `${hex.slice(0, best.start).join(':')}::${hex.slice(best.start + best.length).join(':')}`;
}
