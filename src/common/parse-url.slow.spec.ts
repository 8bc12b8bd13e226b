import { parseUrl } from './parse-url.js';

describe('parseUrl', () => {
  it('reads names beyond ASCII however often it is asked', () => {
    const hosts = new Set<string | undefined>();
    for (let n = 0; n < 20_000; n++) hosts.add(parseUrl('https://BÜCHER.de/b')?.host);
    expect([...hosts]).toEqual(['xn--bcher-kva.de']);
  });
});
