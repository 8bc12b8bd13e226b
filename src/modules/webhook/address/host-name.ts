/** RFC 1035: of a whole name without its last dot. */
const LONGEST_NAME = 253;

/** Underscores are no part of a host's name by the letter, and are resolved and certified all the same. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

const TOP_LABEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,58}[a-z0-9])$/;

/**
 * Names that mean something in one network only (RFC 6761, RFC 6762, RFC 8375, RFC 9476, ICANN's `internal`, and
 * what home and office networks commonly use). A resolver that answers for them answers with inner addresses.
 */
const INNER_NAMES = new Set([
  'alt',
  'arpa',
  'corp',
  'home',
  'internal',
  'intranet',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'onion',
  'private',
]);

/** Set aside so that no name under them ever exists (RFC 6761). */
const EMPTY_NAMES = new Set(['example', 'invalid', 'test']);

export type HostKind = 'public_name' | 'inner_name' | 'no_such_name' | 'not_a_name';

/** Says what a lower-case ASCII host without its last dot is. A single word is a name of the inner network. */
export function kindOfHost(host: string): HostKind {
  const labels = host.split('.');
  const top = labels.at(-1) ?? '';
  if (host.length > LONGEST_NAME || !labels.every((label) => LABEL.test(label))) {
    return 'not_a_name';
  }
  if (labels.length === 1 || INNER_NAMES.has(top)) {
    return 'inner_name';
  }
  if (!TOP_LABEL.test(top)) {
    return 'not_a_name';
  }
  return EMPTY_NAMES.has(top) ? 'no_such_name' : 'public_name';
}
