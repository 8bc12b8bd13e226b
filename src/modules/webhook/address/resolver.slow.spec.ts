import { readFile } from 'node:fs/promises';
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

function resolverOf(server: NameServer, options: Partial<CaresResolverOptions> = {}): CaresResolver {
  return new CaresResolver({ servers: () => [server.address], ...PATIENT, ...options });
}

const FOUR = { type: 'A', value: '93.184.215.14' } as const;
const SIX = { type: 'AAAA', value: '2606:4700::1' } as const;

/** A and AAAA of every name. */
const both = (name: string, type: RecordType): DnsReply => [{ name, ...(type === 'A' ? FOUR : SIX) }];

describe('load', () => {
  it('silent names hold up neither other names nor the file system', async () => {
    const server = await serve((name, type) => (name.startsWith('silent') ? 'silence' : both(name, type)));
    const resolver = resolverOf(server, { tries: 1, tryTimeoutMs: 2_500, timeoutMs: 2_500 });
    let ended = 0;
    const silent = Array.from({ length: 32 }, (_, index) =>
      resolver
        .resolve(`silent-${index}.example.com`)
        .catch((error: unknown) => error)
        .finally(() => ended++),
    );
    await Promise.all([resolver.resolve('quick.example.com'), readFile(new URL(import.meta.url))]);
    expect(ended).toBe(0);
    expect(await Promise.all(silent)).toEqual(Array(32).fill(expect.objectContaining({ failure: 'dns_timeout' })));
  });
});
