import { ServerResponse, type IncomingMessage } from 'node:http';
import { aliasHeaders } from './alias-headers.js';

function headersOf(sunset: Date | null, successor: string) {
  const res = new ServerResponse({ method: 'GET' } as IncomingMessage);
  aliasHeaders(sunset)(res, successor);
  return { ...res.getHeaders() };
}

describe('the headers of an address without a version', () => {
  it('name the successor without its query, the page about it, and no end that nobody decided', () => {
    expect(headersOf(null, '/api/v1/messages?limit=1')).toEqual({
      deprecation: '@1767225600',
      link: '</api/v1/messages>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
    });
  });

  it('say when it ends, as an HTTP date', () => {
    expect(headersOf(new Date('2027-12-31T00:00:00Z'), '/api/v1/media').sunset).toBe('Fri, 31 Dec 2027 00:00:00 GMT');
  });
});
