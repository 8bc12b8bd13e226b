import { NameServer, type DnsReply, type RecordType } from '../../../../test/webhook-net/name-server.js';
import { CaresResolver, type CaresResolverOptions } from './resolver.js';

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function serve(reply: (name: string, type: RecordType) => DnsReply): Promise<NameServer> {
  const server = await NameServer.start(reply);
  closers.push(() => server.stop());
  return server;
}

/** So patient that a machine which stands still for a moment has no question asked twice and no answer left out. */
const PATIENT = { tryTimeoutMs: 10_000, tries: 2, timeoutMs: 20_000, patienceMs: 10_000, keepMs: 60_000 };

/** Where silence is tried. */
const HASTY = { tryTimeoutMs: 100 };

function resolverOf(server: NameServer, options: Partial<CaresResolverOptions> = {}): CaresResolver {
  return new CaresResolver({ servers: () => [server.address], ...PATIENT, ...options });
}

const FOUR = { type: 'A', value: '93.184.215.14' } as const;
const SIX = { type: 'AAAA', value: '2606:4700::1' } as const;

/** A and AAAA of every name. */
const both = (name: string, type: RecordType): DnsReply => [{ name, ...(type === 'A' ? FOUR : SIX) }];

describe('addresses', () => {
  it('are the A and the AAAA records', async () => {
    const server = await serve(both);
    expect(await resolverOf(server).resolve('hooks.example.com')).toEqual([FOUR.value, SIX.value]);
    expect([...server.questions].sort()).toEqual(['A hooks.example.com', 'AAAA hooks.example.com']);
  });

  it.each(['A', 'AAAA'] as const)('are those of one family where the other has none: %s', async (only) => {
    const server = await serve((name, type) => (type === only ? both(name, type) : []));
    expect(await resolverOf(server).resolve('hooks.example.com')).toEqual([only === 'A' ? FOUR.value : SIX.value]);
  });

  it.each([2, 5, 'silence'] as const)('are those of one family where the other fails: %s', async (failure) => {
    const server = await serve((name, type) => (type === 'A' ? both(name, type) : failure));
    expect(await resolverOf(server, HASTY).resolve('hooks.example.com')).toEqual([FOUR.value]);
  });

  it('do not wait for a family that is not answered', async () => {
    const server = await serve((name, type) => (type === 'A' ? both(name, type) : 'silence'));
    const resolver = resolverOf(server, { patienceMs: 50 });
    expect(await resolver.resolve('hooks.example.com')).toEqual([FOUR.value]);
    // A wait for the silence would have asked once more.
    expect([...server.questions].sort()).toEqual(['A hooks.example.com', 'AAAA hooks.example.com']);
  });

  it('are those of the family that has some, though the other said at once that it has none', async () => {
    const server = await serve((name, type) => (type === 'AAAA' ? [] : both(name, type)));
    const resolver = resolverOf(server, { patienceMs: 0 });
    expect(await resolver.resolve('hooks.example.com')).toEqual([FOUR.value]);
  });

  it('are those at the end of a chain of aliases', async () => {
    const server = await serve((name, type) =>
      type === 'A'
        ? [
            { name, type: 'CNAME', value: 'one.example.net' },
            { name: 'one.example.net', type: 'CNAME', value: 'two.example.org' },
            { name: 'two.example.org', type: 'A', value: '10.0.0.1' },
            { name: 'two.example.org', type: 'A', value: '93.184.215.14' },
          ]
        : 3,
    );
    expect(await resolverOf(server).resolve('hooks.example.com')).toEqual(['10.0.0.1', '93.184.215.14']);
  });

  it('are never those of /etc/hosts', async () => {
    const server = await serve(() => 3);
    await expect(resolverOf(server).resolve('localhost')).rejects.toMatchObject({ failure: 'unresolvable' });
  });
});

describe('no addresses', () => {
  it.each([
    ['no such name', 3, 'unresolvable'],
    ['a name without addresses', [], 'unresolvable'],
    ['an alias to nowhere', [{ name: 'x.example.com', type: 'CNAME', value: 'gone.example.com' }], 'unresolvable'],
    ['a server that fails', 2, 'dns_failed'],
    ['a server that refuses', 5, 'dns_failed'],
    ['a server that is silent', 'silence', 'dns_timeout'],
  ] as const)('%s', async (_title, reply, failure) => {
    const server = await serve(() => reply);
    await expect(resolverOf(server, HASTY).resolve('x.example.com')).rejects.toMatchObject({ failure });
  });

  it('in time, however patient c-ares is', async () => {
    const server = await serve(() => 'silence');
    const resolver = resolverOf(server, { timeoutMs: 200 });
    await expect(resolver.resolve('x.example.com')).rejects.toMatchObject({ failure: 'dns_timeout' });
    // Before c-ares asks once more.
    expect(server.questions.length).toBeLessThanOrEqual(2);
  });
});

describe('name servers', () => {
  it('that have expired are looked up again', async () => {
    const [old, fresh] = [await serve(() => 2), await serve(both)];
    const servers = [old.address];
    const resolver = new CaresResolver({ ...PATIENT, servers: () => servers, renewMs: 0 });
    servers[0] = fresh.address;
    await expect(resolver.resolve('hooks.example.com')).rejects.toMatchObject({ failure: 'dns_failed' });
    expect(await resolver.resolve('hooks.example.com')).toEqual([FOUR.value, SIX.value]);
  });

  it('are not changed for a name that does not exist', async () => {
    const [first, second] = [await serve(() => 3), await serve(both)];
    const servers = [first.address];
    const resolver = new CaresResolver({ ...PATIENT, servers: () => servers, renewMs: 0 });
    servers[0] = second.address;
    for (let index = 0; index < 2; index += 1) {
      await expect(resolver.resolve('hooks.example.com')).rejects.toMatchObject({ failure: 'unresolvable' });
    }
  });
});

describe('load', () => {
  it('calls for one name at the same time share one question', async () => {
    // No lifetime: the c-ares of some releases of Node keeps answers too.
    const server = await serve((name, type) => [{ name, ...(type === 'A' ? FOUR : SIX), ttl: 0 }]);
    const resolver = resolverOf(server, { keepMs: 0 });
    await Promise.all(Array.from({ length: 50 }, () => resolver.resolve('hooks.example.com')));
    expect(server.questions).toHaveLength(2);
    await resolver.resolve('hooks.example.com');
    expect(server.questions).toHaveLength(4);
  });

  it('an answer serves for its lifetime, and a caller cannot change it for others', async () => {
    const server = await serve(both);
    const resolver = resolverOf(server);
    (await resolver.resolve('hooks.example.com')).push('127.0.0.1');
    expect(await resolver.resolve('hooks.example.com')).toEqual([FOUR.value, SIX.value]);
    expect(server.questions).toHaveLength(2);
  });

  it('an answer that may not be kept is not', async () => {
    const server = await serve((name, type) => [{ name, ...(type === 'A' ? FOUR : SIX), ttl: 0 }]);
    const resolver = resolverOf(server);
    await resolver.resolve('hooks.example.com');
    await resolver.resolve('hooks.example.com');
    expect(server.questions).toHaveLength(4);
  });

  it('a failure is not kept', async () => {
    let reply: DnsReply = 2;
    const server = await serve((name, type) => (reply === 2 ? reply : both(name, type)));
    const resolver = resolverOf(server);
    await expect(resolver.resolve('hooks.example.com')).rejects.toMatchObject({ failure: 'dns_failed' });
    reply = [];
    expect(await resolver.resolve('hooks.example.com')).toEqual([FOUR.value, SIX.value]);
  });

  it('no more names are asked for at once than allowed; the others wait for a limited time', async () => {
    const server = await serve((name, type) => (name.startsWith('silent') ? 'silence' : both(name, type)));
    const resolver = resolverOf(server, { concurrency: 2, tryTimeoutMs: 400, tries: 1, timeoutMs: 300 });
    const names = ['silent-1.example.com', 'silent-2.example.com', 'late.example.com'];
    const ends = await Promise.allSettled(names.map((name) => resolver.resolve(name)));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(new Set(server.questions.map((question) => question.split(' ')[1]))).toEqual(new Set(names.slice(0, 2)));
  });
});
