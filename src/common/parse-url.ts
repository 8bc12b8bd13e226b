import { domainToUnicode } from 'node:url';

/**
 * The URL of a text, or null where it is none. `URL.canParse` is not used here: on Node 20 its optimised form takes
 * Latin-1 letters for broken UTF-8, so that it refuses `https://bücher.de` once it has been called often enough.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    const url = new URL(text, base);
    return hasUnreadableLabel(url.hostname) ? null : url;
  } catch {
    return null;
  }
}

/** Part of a name that is no Punycode, such as `xn--a`. Node 20 and 22 take it for no URL, Node 24 leaves it as it is. */
function hasUnreadableLabel(host: string): boolean {
  return (
    host.includes('xn--') &&
    domainToUnicode(host)
      .split('.')
      .some((label) => label.startsWith('xn--'))
  );
}
