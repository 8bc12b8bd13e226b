import { HostUnresolved, type ResolveFailure } from './resolver.js';
import { TargetChecker } from './target-checker.js';

const HOOKS = 'https://hooks.example.com/x';

function checkerFor(addresses: readonly string[] | ResolveFailure | Error, allowPrivate = false): TargetChecker {
  const resolve = async (): Promise<string[]> => {
    if (typeof addresses === 'string') throw new HostUnresolved(addresses);
    if (addresses instanceof Error) throw addresses;
    return [...addresses];
  };
  return new TargetChecker({ allowPrivate, resolver: { resolve } });
}

describe('TargetChecker', () => {
  it.each([[['93.184.215.14']], [['2606:4700::1']], [['93.184.215.14', '1.1.1.1', '2606:4700::1']]])(
    'takes a host at %s',
    async (addresses) => {
      expect(await checkerFor(addresses).check(HOOKS)).toEqual({ ok: true, url: HOOKS });
    },
  );

  it('says which URL to store', async () => {
    const check = await checkerFor(['1.1.1.1']).check('HTTPS://BÜCHER.de.:443/a/../b');
    expect(check).toEqual({ ok: true, url: 'https://xn--bcher-kva.de/b' });
  });

  it.each([
    [['127.0.0.1']],
    [['10.0.0.1']],
    [['169.254.169.254']],
    [['::1']],
    [['::ffff:1.1.1.1']],
    [['64:ff9b::1.1.1.1']],
    [['fe80::1%eth0']],
    [['not an address']],
    [['1.1.1.1', '10.0.0.1']],
    [['10.0.0.1', '1.1.1.1']],
    [['1.1.1.1', '2606:4700::1', '::1']],
    [['1.1.1.1', '']],
  ])('refuses a host at %j: one bad address is enough', async (addresses) => {
    expect(await checkerFor(addresses).check(HOOKS)).toMatchObject({ ok: false, reason: 'private_address' });
  });

  it.each(['unresolvable', 'dns_timeout', 'dns_failed', 'too_many_addresses'] as const)(
    'refuses a host that has no address: %s',
    async (failure) => {
      expect(await checkerFor(failure).check(HOOKS)).toMatchObject({ ok: false, reason: 'unresolvable' });
    },
  );

  it('refuses a host where the resolver breaks or finds nothing', async () => {
    expect(await checkerFor(new Error('10.0.0.1 broke')).check(HOOKS)).toMatchObject({ reason: 'unresolvable' });
    expect(await checkerFor([]).check(HOOKS)).toMatchObject({ reason: 'unresolvable' });
  });

  it('refuses a host with more addresses than a server has', async () => {
    const addresses = Array.from({ length: 33 }, (_, index) => `1.1.1.${index}`);
    expect(await checkerFor(addresses).check(HOOKS)).toMatchObject({ reason: 'unresolvable' });
    expect(await checkerFor(addresses.slice(1)).check(HOOKS)).toMatchObject({ ok: true });
  });

  it('asks for no address of a URL whose form is refused', async () => {
    const asked: string[] = [];
    const resolve = (host: string): Promise<string[]> => {
      asked.push(host);
      return Promise.resolve(['1.1.1.1']);
    };
    const checker = new TargetChecker({ allowPrivate: false, resolver: { resolve } });
    for (const url of ['http://a.com/', 'https://a.com:80/', 'https://u@a.com/', 'https://127.1/', 'https://', 'x']) {
      expect(await checker.check(url)).toMatchObject({ ok: false });
    }
    expect(asked).toEqual([]);
  });

  it.each(['http://localhost:3000/x', 'http://a.localhost/x', 'http://127.0.0.1:3000/x', 'http://[::1]:3000/x'])(
    'takes %s in development, without a name server',
    async (url) => {
      expect(await new TargetChecker({ allowPrivate: true }).check(url)).toEqual({ ok: true, url });
    },
  );

  it('wants a host that exists in development too', async () => {
    const checker = new TargetChecker({ allowPrivate: true });
    expect(await checker.check('http://unknown.invalid/')).toMatchObject({ ok: false, reason: 'unresolvable' });
  });
});
