import type { ServerResponse } from 'node:http';
import { ALIAS_DEPRECATION } from './api-version.js';

/** Where people read of it. */
const ABOUT = '</docs>; rel="deprecation"; type="text/html"';

/**
 * What an answer under an address without a version says of it: since when it is deprecated (RFC 9745), which address
 * replaces it, where to read more, and, where that was decided, when it ends (RFC 8594).
 *
 * @param sunset null: it stays, as the specification promises
 */
export function aliasHeaders(sunset: Date | null): (res: ServerResponse, successor: string) => void {
  const ends = sunset?.toUTCString() ?? null;
  return (res, successor) => {
    res.setHeader('Deprecation', ALIAS_DEPRECATION);
    res.setHeader('Link', `<${inHeader(successor.split(/[?#]/, 1)[0] ?? '')}>; rel="successor-version", ${ABOUT}`);
    if (ends !== null) res.setHeader('Sunset', ends);
  };
}

/** Characters that would end the address in a header, or must not stand in one at all, are percent-encoded. */
function inHeader(path: string): string {
  return path.replace(/[<>"\\^`{|}]|[^\x21-\x7e]/g, encodeURIComponent);
}
