import { parseUrl } from './parse-url.js';

describe('parseUrl', () => {
  it('reads names beyond ASCII however often it is asked', () => {
    for (let n = 0; n < 20_000; n++) {
      if (parseUrl('https://BÜCHER.de/b')?.host !== 'xn--bcher-kva.de') throw new Error(`refused at call ${n}`);
    }
  });

  it('reads what stands relative to another address', () => {
    expect(parseUrl('../b', 'https://example.com/a/c')?.href).toBe('https://example.com/b');
  });

  it.each(['', 'example.com', 'https://', 'https://a b/'])('%j is no URL', (text) => {
    expect(parseUrl(text)).toBeNull();
  });
});
