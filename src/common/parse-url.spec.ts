import { parseUrl } from './parse-url.js';

describe('parseUrl', () => {
  it('reads names beyond ASCII', () => {
    expect(parseUrl('https://BÜCHER.de/b')?.host).toBe('xn--bcher-kva.de');
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
