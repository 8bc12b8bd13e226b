import { parseUrl } from './parse-url.js';

describe('parseUrl', () => {
  it('reads names beyond ASCII however often it is asked', () => {
    const hosts = new Set<string | undefined>();
    for (let n = 0; n < 20_000; n++) hosts.add(parseUrl('https://BÜCHER.de/b')?.host);
    expect([...hosts]).toEqual(['xn--bcher-kva.de']);
  });

  it('reads what stands relative to another address', () => {
    expect(parseUrl('../b', 'https://example.com/a/c')?.href).toBe('https://example.com/b');
  });

  it.each(['', 'example.com', 'https://', 'https://a b/', 'https://xn--a.com/', 'https://a.xn--a-ecp.ru/'])(
    '%j is no URL',
    (text) => {
      expect(parseUrl(text)).toBeNull();
    },
  );
});
