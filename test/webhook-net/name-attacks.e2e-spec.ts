import { CaresResolver } from '../../src/modules/webhook/address/resolver.js';
import { TargetChecker } from '../../src/modules/webhook/address/target-checker.js';
import { waitFor } from '../support/wait-for.js';
import { clientFor, closeAll, deliver, HOST, issue } from './delivery-stage.js';
import { type DnsRecord, type DnsReply, NameServer, type RecordType } from './name-server.js';
import { Receiver, Tripwire } from './receiver.js';

/** The one address that may be reached; it stands for a public one. */
const GOOD = '127.0.0.1';
const IDN = 'bücher.example.com';
const IDN_ASCII = 'xn--bcher-kva.example.com';
/** On the same port, and reached by nobody. */
const FORBIDDEN = ['127.0.0.2', '127.0.0.3', '::1'];

type Zone = (name: string, type: RecordType, question: number) => DnsReply;

let receiver: Receiver;
let wires: Tripwire[];
let names: NameServer;
let zone: Zone;
let checker: TargetChecker;
let resolver: CaresResolver;

beforeAll(async () => {
  const credentials = issue([HOST, IDN_ASCII]);
  receiver = await Receiver.start((response) => response.writeHead(204).end(), credentials);
  const started = await Promise.all(FORBIDDEN.map((address) => Tripwire.start(address, receiver.port)));
  wires = started.filter((wire) => wire !== null);
  expect(wires.length).toBeGreaterThan(0);
});

beforeEach(async () => {
  let questions = 0;
  names = await NameServer.start((name, type) => zone(name, type, ++questions));
  // A question that is repeated because the process rested is counted as another one.
  resolver = new CaresResolver({ servers: () => [names.address], tryTimeoutMs: 15_000, timeoutMs: 15_000 });
  checker = new TargetChecker({ allowPrivate: false, resolver, extraNetworks: [`${GOOD}/32`] });
});

afterEach(async () => {
  await closeAll();
  await names.stop();
  expect(wires.filter((wire) => wire.touched > 0).map((wire) => wire.address)).toEqual([]);
  receiver.received.length = 0;
  receiver.connections = 0;
});

afterAll(() => Promise.all([receiver.stop(), ...wires.map((wire) => wire.stop())]));

const clientOf = () => clientFor(receiver.port, { resolver, limits: { dnsMs: 15_000, totalMs: 20_000 } });

/** What lies at the end of a name, by A and AAAA. */
function at(...addresses: string[]): Zone {
  return (name, type) => addressesOf(name, type, addresses);
}

function addressesOf(name: string, type: RecordType, addresses: readonly string[], ttl = 300): DnsRecord[] {
  return addresses
    .filter((address) => (type === 'AAAA') === address.includes(':'))
    .map((value) => ({ name, type, value, ttl }));
}

/** So many aliases before the addresses. */
function behind(aliases: number, ...addresses: string[]): Zone {
  return (name, type) => {
    const chain = [name, ...Array.from({ length: aliases }, (_, index) => `alias-${index}.example.net`)];
    const records = chain
      .slice(1)
      .map((value, index): DnsRecord => ({ name: chain[index] ?? '', type: 'CNAME', value }));
    return [...records, ...addressesOf(chain.at(-1) ?? name, type, addresses)];
  };
}

const FORMS: readonly (readonly [string, Zone])[] = [
  ['loopback', at('127.0.0.2')],
  ['loopback, last', at(GOOD, '127.0.0.2')],
  ['loopback, first', at('127.0.0.2', GOOD)],
  ['loopback, in the other family', at(GOOD, '::1')],
  ['loopback, alone in the other family', at('::1')],
  ['loopback, the 32nd of many', at(...Array.from({ length: 31 }, () => GOOD), '127.0.0.3')],
  ['this host', at('0.0.0.0')],
  ['this host, IPv6', at('::')],
  ['private', at('10.0.0.1')],
  ['private', at('172.31.255.255')],
  ['private', at('192.168.0.1')],
  ['shared', at('100.64.0.1')],
  ['link-local, where clouds keep their secrets', at('169.254.169.254')],
  ["Azure's host", at('168.63.129.16')],
  ['multicast', at('224.0.0.1')],
  ['broadcast', at('255.255.255.255')],
  ['unique local', at('fc00::1')],
  ['unique local', at('fdff:ffff::1')],
  ['link-local, IPv6', at('fe80::1')],
  ['site-local', at('fec0::1')],
  ['multicast, IPv6', at('ff02::1')],
  ['IPv4, mapped', at('::ffff:7f00:2')],
  ['IPv4, mapped, of a public server', at('::ffff:101:101')],
  ['IPv4, compatible', at('::7f00:2')],
  ['IPv4, translated', at('::ffff:0:7f00:2')],
  ['NAT64 of loopback', at('64:ff9b::7f00:2')],
  ['NAT64 of a private network', at('64:ff9b::a00:1')],
  ["NAT64 of the network's own", at('64:ff9b:1::a00:1')],
  ['6to4 of loopback', at('2002:7f00:2::1')],
  ['Teredo', at('2001::1')],
  ['documentation', at('2001:db8::1')],
  ['segment routing', at('5f00::1')],
  ['an alias of loopback', behind(1, '127.0.0.2')],
  ['an alias of an alias of loopback', behind(8, '127.0.0.2')],
  ['an alias of several, one of them private', behind(3, GOOD, 'fd00::1')],
];

describe('a name that leads to a forbidden address', () => {
  it.each(FORMS)('%s: is refused when it is set and when it is delivered to', async (_form, answers) => {
    zone = answers;
    expect(await checker.check(`https://${HOST}/`)).toMatchObject({ ok: false, reason: 'private_address' });
    const client = clientOf();
    expect(await deliver(client)).toMatchObject({ kind: 'failed', error: 'private_address' });
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ kind: 'failed', error: 'private_address' });
    expect(receiver.connections).toBe(0);
  });

  it('the good ones of the same server are taken', async () => {
    zone = behind(8, GOOD);
    expect(await checker.check(`https://${HOST}/`)).toMatchObject({ ok: true });
    expect(await deliver(clientOf())).toMatchObject({ kind: 'answered', status: 204 });
  });
});

describe('answers that are none', () => {
  it.each<[string, Zone]>([
    ['of a name that was not asked for', (_name, type) => addressesOf('other.example.com', type, ['127.0.0.2'])],
    ['an alias that leads in a circle', (name) => [{ name, type: 'CNAME', value: name }]],
    ['an alias without an address', (name) => [{ name, type: 'CNAME', value: 'localhost' }]],
    ['more than a server has', at(...Array.from({ length: 33 }, (_, index) => `1.1.1.${index}`))],
  ])('%s: nothing is connected to', async (_title, answers) => {
    zone = answers;
    const result = await deliver(clientOf());
    expect(result).toMatchObject({
      kind: 'failed',
      error: expect.stringMatching(/^(private_address|unresolvable|dns_failed|too_many_addresses)$/),
    });
    expect(receiver.connections).toBe(0);
  });
});

describe('a name that changes its mind', () => {
  it('in the other family, between two deliveries of an endpoint, gets nowhere', async () => {
    let moved = false;
    zone = (name, type) => addressesOf(name, type, moved ? [GOOD, '::1'] : [GOOD], 0);
    const client = clientOf();
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ status: 204 });
    moved = true;
    // The connection that is kept to the good address does not serve either: the name is asked each time.
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ error: 'private_address' });
    expect(receiver.received).toHaveLength(1);
  });

  it('between the check and the connection is not asked again', async () => {
    zone = (name, type, question) => addressesOf(name, type, question <= 2 ? [GOOD] : ['127.0.0.2'], 0);
    expect(await deliver(clientOf())).toMatchObject({ status: 204 });
    expect([...names.questions].sort()).toEqual([`A ${HOST}`, `AAAA ${HOST}`]);
  });

  it('and one family that never answers: only what was seen is connected to', async () => {
    zone = (name, type) => (type === 'AAAA' ? 'silence' : addressesOf(name, type, [GOOD], 0));
    expect(await deliver(clientOf())).toMatchObject({ status: 204 });
    expect(receiver.connections).toBe(1);
  });
});

describe('spellings of a host', () => {
  it.each([
    ['127.0.0.2', 'ip_literal'],
    ['127.0.0.2.', 'ip_literal'],
    ['127.2', 'ip_literal'],
    ['2130706434', 'ip_literal'],
    ['0x7f000002', 'ip_literal'],
    ['0x7f.0.0.0x2', 'ip_literal'],
    ['0177.0.0.02', 'ip_literal'],
    ['017700000002', 'ip_literal'],
    ['0', 'ip_literal'],
    ['１２７。０。０。２', 'ip_literal'],
    ['%31%32%37.0.0.2', 'ip_literal'],
    ['[::1]', 'ip_literal'],
    ['[::ffff:127.0.0.2]', 'ip_literal'],
    ['[0:0:0:0:0:ffff:7f00:2]', 'ip_literal'],
    ['[64:ff9b::127.0.0.2]', 'ip_literal'],
    ['[fe80::1%25eth0]', 'malformed'],
    ['127.0.0.2.5', 'malformed'],
    ['256.256.256.256', 'malformed'],
    ['127.0.0.0x', 'ip_literal'],
    ['localhost', 'private_address'],
    ['LOCALHOST.', 'private_address'],
    ['ｌｏｃａｌｈｏｓｔ', 'private_address'],
    ['local\u00adhost', 'private_address'],
    ['hooks.localhost', 'private_address'],
    ['metadata.google.internal', 'private_address'],
    ['herald-api-1', 'private_address'],
    ['127.0.0.1.in-addr.arpa', 'private_address'],
    [`${HOST}..`, 'malformed'],
    [`.${HOST}`, 'malformed'],
    [`${HOST}%00.example.org`, 'malformed'],
    [`${HOST}%2f@127.0.0.2`, 'credentials_in_url'],
    [`${HOST}@127.0.0.2`, 'credentials_in_url'],
    [`${HOST}\\@127.0.0.2`, 'malformed'],
    [`127.0.0.2#@${HOST}`, 'malformed'],
  ])('%s is refused as %s, and no name server is asked', async (host, reason) => {
    zone = at('127.0.0.2');
    const url = `https://${host}/`;
    expect(await checker.check(url)).toMatchObject({ ok: false, reason });
    expect(await deliver(clientOf(), { url })).toMatchObject({ kind: 'failed', error: reason });
    expect(names.questions).toEqual([]);
  });

  it.each([
    [`${HOST}.`, HOST],
    [HOST.toUpperCase(), HOST],
    [IDN, IDN_ASCII],
    [IDN.toUpperCase(), IDN_ASCII],
    [`BÜCHER。example．com.`, IDN_ASCII],
    ['127.0.0.2.nip.example.com', '127.0.0.2.nip.example.com'],
  ])('%s is one name, and what it leads to counts', async (host, asked) => {
    const url = `https://${host}/`;
    zone = at(GOOD, '127.0.0.2');
    expect(await checker.check(url)).toMatchObject({ ok: false, reason: 'private_address' });
    expect(await deliver(clientOf(), { url })).toMatchObject({ error: 'private_address' });
    expect(new Set(names.questions)).toEqual(new Set([`A ${asked}`, `AAAA ${asked}`]));
  });

  it('an international name is delivered to, under the name that its certificate has', async () => {
    zone = at(GOOD);
    expect(await deliver(clientOf(), { url: `https://${IDN}./hook` })).toMatchObject({ status: 204 });
    expect(receiver.received.map(({ url, headers }) => [url, headers.host])).toEqual([['/hook', IDN_ASCII]]);
  });
});

describe('an answer that points elsewhere', () => {
  it.each([301, 302, 303, 307, 308])('%d by name: the name is not even asked for', async (status) => {
    const bouncer = await Receiver.start(
      (response) => {
        response
          .writeHead(status, { location: 'https://inner.example.com/', refresh: '0; url=http://localhost/' })
          .end();
      },
      issue([HOST]),
    );
    try {
      zone = (name, type) => addressesOf(name, type, [name === HOST ? GOOD : '127.0.0.2']);
      const client = clientFor(bouncer.port, { resolver, limits: { dnsMs: 15_000, totalMs: 20_000 } });
      expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ kind: 'answered', status });
      await client.close();
      await waitFor(() => bouncer.received.length === 1);
      expect(new Set(names.questions)).toEqual(new Set([`A ${HOST}`, `AAAA ${HOST}`]));
    } finally {
      await bouncer.stop();
    }
  });
});
