import { domainToUnicode } from 'node:url';

/**
 * The URL of a text, or null where it is none. Not `URL.canParse`: once Node 20 has optimised it, it reads Latin-1
 * letters as broken UTF-8 and refuses `https://bücher.de`.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    const url = new URL(text, base);
    return hasUnreadableLabel(url.hostname) ? null : url;
  } catch {
    return null;
  }
}

/**
 * Whether a label is invalid Punycode, such as `xn--a`. Node 20 and 22 refuse such a URL, Node 24 leaves it unchanged.
 */
function hasUnreadableLabel(host: string): boolean {
  return (
    host.includes('xn--') &&
    domainToUnicode(host)
      .split('.')
      .some((label) => label.startsWith('xn--'))
  );
}
