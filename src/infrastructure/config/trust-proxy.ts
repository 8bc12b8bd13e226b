import { isIP, isIPv4 } from 'node:net';

/** More than stand in front of anything: with a number that is larger than the chain, callers name their own address. */
const MOST_HOPS = 10;
/** Of a network; a wider one is everybody. */
const LEAST_PREFIX = 8;
const NAMED = ['loopback', 'linklocal', 'uniquelocal'];

/** As Express takes it. */
export function trustProxy(value: string): boolean | number | string {
  if (value === 'false' || value === 'true') return value === 'true';
  return /^\d+$/.test(value) ? Number(value) : value;
}

export function trustProxyFaults(value: string, production: boolean): string[] {
  const read = trustProxy(value);
  const prefixes = typeof read === 'string' ? read.split(',').map((range) => prefixOf(range.trim())) : [];
  if (prefixes.includes(null)) {
    return ['TRUST_PROXY must be false, a number of hops, or addresses separated by commas'];
  }
  const isTooWide =
    read === true || Number(read) > MOST_HOPS || prefixes.some((prefix) => Number(prefix) < LEAST_PREFIX);
  if (!production || !isTooWide) return [];
  return [
    'TRUST_PROXY must not trust everybody in production, or callers invent their address: set how many proxies stand in front, such as 1, or their addresses',
  ];
}

/** Length of a network's prefix, of an address the least that is taken; null for what is neither. */
function prefixOf(range: string): number | null {
  if (NAMED.includes(range)) return LEAST_PREFIX;
  const [address = '', mask = null, ...rest] = range.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return null;
  if (mask === null) return LEAST_PREFIX;
  if (/^\d{1,3}$/.test(mask)) return Number(mask) <= (version === 4 ? 32 : 128) ? Number(mask) : null;
  if (version === 6 || !isIPv4(mask)) return null;
  const bits = mask
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('');
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : null;
}
