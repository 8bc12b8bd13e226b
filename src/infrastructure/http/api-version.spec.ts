import { ServerResponse, type IncomingMessage } from 'node:http';
import { readAddress, aliasHeaders } from './api-version.js';

describe('readAddress', () => {
  it.each([
    ['/api/v1/messages', 'plain', '/api/v1/messages'],
    ['/api/v1', 'plain', '/api/v1'],
    ['/api/v1?x=1', 'plain', '/api/v1?x=1'],
    ['/health/live', 'plain', '/health/live'],
    ['/', 'plain', '/'],
    ['*', 'plain', '*'],
    ['/apiary/x', 'plain', '/apiary/x'],
    ['/API/messages', 'plain', '/API/messages'],
    ['//api/messages', 'plain', '//api/messages'],
    ['/v26.0/1/messages', 'plain', '/graph/v26.0/1/messages'],
    ['/graph/v26.0/1/messages', 'plain', '/graph/v26.0/1/messages'],
    ['/v1/messages', 'plain', '/v1/messages'],
    ['/v26.0', 'plain', '/v26.0'],
    ['/api/messages?limit=1', 'alias', '/api/v1/messages?limit=1'],
    ['/api/', 'alias', '/api/v1/'],
    ['/api//v2/messages', 'alias', '/api/v1//v2/messages'],
    ['/api/vendors', 'alias', '/api/v1/vendors'],
    ['/api/v%31/messages', 'alias', '/api/v1/v%31/messages'],
    ['/api/v0/messages', 'unsupported', '/api/v0/messages'],
    ['/api/v2', 'unsupported', '/api/v2'],
    ['/api/v27/x?y=1', 'unsupported', '/api/v27/x?y=1'],
    ['/api/V1/messages', 'unsupported', '/api/V1/messages'],
    ['/api/v1.1/messages', 'unsupported', '/api/v1.1/messages'],
    ['/api/v1beta/messages', 'unsupported', '/api/v1beta/messages'],
    ['http://other.example/api/v1/messages', 'plain', '/api/v1/messages'],
    ['HTTP://other.example:81/api/messages', 'alias', '/api/v1/messages'],
    ['http://other.example?x', 'plain', '/?x'],
    ['http://other.example/api/v3/messages', 'unsupported', '/api/v3/messages'],
  ])('%s is %s: %s', (target, kind, url) => {
    expect(readAddress(target)).toEqual({ kind, url });
  });
});

function headersOf(sunset: Date | null, successor: string) {
  const res = new ServerResponse({ method: 'GET' } as IncomingMessage);
  aliasHeaders(sunset)(res, successor);
  return { ...res.getHeaders() };
}

describe('the headers of an address without a version', () => {
  it('name the successor without its query, the page about it, and no end that is not set', () => {
    expect(headersOf(null, '/api/v1/messages?limit=1')).toEqual({
      deprecation: '@1767225600',
      link: '</api/v1/messages>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
    });
  });

  it('say when it ends, as an HTTP date', () => {
    expect(headersOf(new Date('2027-12-31T00:00:00Z'), '/api/v1/media').sunset).toBe('Fri, 31 Dec 2027 00:00:00 GMT');
  });
});
