import { isIP, isIPv4 } from 'node:net';
import { InvalidSetting, type Surroundings } from './setting.js';

/** More than any real chain has: with a number larger than the chain, callers could choose their own address. */
const MAX_HOPS = 10;
/** The shortest allowed prefix of a network; a wider network includes nearly every address. */
const MIN_PREFIX = 8;
const NAMED = ['loopback', 'linklocal', 'uniquelocal'];

/** In the form that Express accepts. */
export function trustProxy(value: string, { production }: Surroundings): boolean | number | string {
  const hops = /^\d+$/.test(value) ? Number(value) : undefined;
  const isBoolean = value === 'false' || value === 'true';
  const prefixes =
    hops === undefined && !isBoolean ? value.split(',').map((range) => prefixOf(range.trim())) : [MIN_PREFIX];
  if (prefixes.includes(null)) {
    throw new InvalidSetting('must be false, a number of hops, or addresses separated by commas');
  }
  const isTooWide =
    value === 'true' || (hops ?? 0) > MAX_HOPS || prefixes.some((prefix) => Number(prefix) < MIN_PREFIX);
  if (production && isTooWide) {
    throw new InvalidSetting(
      'must not trust every address in production, or callers invent their address: set how many proxies stand in front, such as 1, or their addresses',
    );
  }
  return isBoolean ? value === 'true' : (hops ?? value);
}

/** The prefix length of a network, for a plain address the minimum; null for anything else. */
function prefixOf(range: string): number | null {
  if (NAMED.includes(range)) return MIN_PREFIX;
  const [address = '', mask = null, ...rest] = range.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return null;
  if (mask === null) return MIN_PREFIX;
  if (/^\d{1,3}$/.test(mask)) return Number(mask) <= (version === 4 ? 32 : 128) ? Number(mask) : null;
  if (version === 6 || !isIPv4(mask)) return null;
  const bits = mask
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('');
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : null;
}
