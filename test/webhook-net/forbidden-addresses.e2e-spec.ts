import { connect } from 'node:net';
import { CaresResolver } from '../../src/modules/webhook/address/resolver.js';
import { TargetChecker } from '../../src/modules/webhook/address/target-checker.js';
import { Connector } from '../../src/modules/webhook/delivery/connector.js';
import { clientFor, deliver, FakeResolver, HOST, trusted } from './delivery-stage.js';
import { NameServer } from './name-server.js';
import { RawReceiver, Receiver, Tripwire } from './receiver.js';
import { FORBIDDEN, guardReceiver } from './guarded-receiver.js';

const guarded = guardReceiver();

describe('no server is reached', () => {
  it('where the name leads to a forbidden address', async () => {
    for (const { address } of guarded.wires) {
      const client = clientFor(guarded.receiver.port, { resolver: new FakeResolver(() => [address]) });
      expect(await deliver(client)).toMatchObject({ kind: 'failed', error: 'private_address' });
    }
  });

  it('where one of its addresses is forbidden, whichever', async () => {
    for (const { address } of guarded.wires) {
      for (const addresses of [
        ['127.0.0.1', address],
        [address, '127.0.0.1'],
        ['1.1.1.1', '127.0.0.1', address],
      ]) {
        const client = clientFor(guarded.receiver.port, { resolver: new FakeResolver(() => addresses) });
        expect(await deliver(client)).toMatchObject({ kind: 'failed', error: 'private_address' });
      }
    }
    expect(guarded.receiver.connections).toBe(0);
  });

  it('where the address wears another coat', async () => {
    const coats = ['::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::', '127.1'];
    for (const address of [...coats, '0', '0.0.0.0', '::', 'localhost', '2130706433', '0x7f000001', '127.0.0.1 ', '']) {
      const client = clientFor(guarded.receiver.port, { resolver: new FakeResolver(() => [address]) });
      expect(await deliver(client)).toMatchObject({ kind: 'failed', error: 'private_address' });
    }
    expect(guarded.receiver.connections).toBe(0);
  });

  it('where the URL itself names the address', async () => {
    const client = clientFor(guarded.receiver.port);
    const hosts = ['127.0.0.1', '127.0.0.2', '127.1', '0x7f.1', '2130706433', '0177.0.0.1', '①②⑦.⓪.⓪.①', '[::1]'];
    for (const host of [...hosts, '[::ffff:127.0.0.2]', '127。0。0。1']) {
      expect(await deliver(client, { url: `https://${host}/` })).toMatchObject({ error: 'ip_literal' });
    }
    for (const host of ['localhost', 'a.localhost', 'printer.local']) {
      expect(await deliver(client, { url: `https://${host}/` })).toMatchObject({ error: 'private_address' });
    }
    expect(await deliver(client, { url: `https://${HOST}:${guarded.receiver.port}/` })).toMatchObject({
      error: 'port',
    });
    expect(await deliver(client, { url: `http://${HOST}/` })).toMatchObject({ error: 'not_https' });
    expect(await deliver(client, { url: `https://${HOST}@127.0.0.2/` })).toMatchObject({ error: 'credentials_in_url' });
    expect(guarded.receiver.connections).toBe(0);
  });

  it('where a redirect points', async () => {
    const port = guarded.receiver.port;
    for (const status of [301, 302, 303, 307, 308]) {
      const bouncer = await Receiver.start((response, { url }) => {
        const place = FORBIDDEN[Number(url.slice(1))] ?? '';
        const host = place.includes(':') ? `[${place}]` : place;
        response.writeHead(status, {
          location: `http://${host}:${port}/`,
          refresh: `0; url=http://${host}:${port}/`,
          'alt-svc': `h2="${host}:${port}"`,
          link: `<http://${host}:${port}/>; rel=preconnect`,
        });
        response.end();
      }, trusted);
      const client = clientFor(bouncer.port);
      for (const index of FORBIDDEN.keys()) {
        const url = `https://${HOST}/${index}`;
        expect(await deliver(client, { url, endpoint: 'one' })).toMatchObject({ kind: 'answered', status });
      }
      await client.close();
      await bouncer.stop();
    }
  });
});

describe('a name that changes its mind', () => {
  it('between PUT and delivery gets nowhere', async () => {
    const resolver = new FakeResolver((_host, question) => [
      question === 1 ? '1.1.1.1' : (guarded.wires[0]?.address ?? ''),
    ]);
    const checker = new TargetChecker({ allowPrivate: false, resolver });
    expect(await checker.check(`https://${HOST}/`)).toMatchObject({ ok: true });
    expect(await deliver(clientFor(guarded.receiver.port, { resolver }))).toMatchObject({ error: 'private_address' });
  });

  it('behind aliases, on a real name server, gets nowhere', async () => {
    let questions = 0;
    const server = await NameServer.start((name, type) => {
      if (type !== 'A') return 3;
      questions += 1;
      return [
        { name, type: 'CNAME', value: 'inner.example.net', ttl: 0 },
        { name: 'inner.example.net', type: 'A', value: questions % 2 === 0 ? '127.0.0.2' : '127.0.0.1', ttl: 0 },
      ];
    });
    try {
      // A question that is repeated because the process rested is counted as another one.
      const patience = { tryTimeoutMs: 15_000, timeoutMs: 15_000 };
      const resolver = new CaresResolver({ servers: () => [server.address], ...patience });
      const client = clientFor(guarded.receiver.port, { resolver, limits: { dnsMs: 15_000, totalMs: 20_000 } });
      for (let index = 0; index < 10; index += 1) {
        const expected = index % 2 === 0 ? { status: 204 } : { error: 'private_address' };
        expect(await deliver(client)).toMatchObject(expected);
      }
    } finally {
      await server.stop();
    }
  });
});

describe('the wires', () => {
  it('are live: who does connect is counted', async () => {
    const wire = await Tripwire.start('127.0.0.1', 0);
    await new Promise((resolve) => connect(wire?.port ?? 0, '127.0.0.1').once('close', resolve));
    expect(wire?.touched).toBe(1);
    await wire?.stop();
  });

  it('a socket that reached what is not allowed is closed before a byte is written', async () => {
    const silent = await RawReceiver.start(() => {});
    try {
      const connector = new Connector({
        connectMs: 10_000,
        tlsMs: 10_000,
        ca: undefined,
        isAllowed: () => false,
      });
      const limits = { notAfter: performance.now() + 20_000, signal: undefined };
      for (const secure of [true, false]) {
        const opening = connector.open({ host: HOST, secure, port: silent.port, addresses: ['127.0.0.1'] }, limits);
        await expect(opening).rejects.toMatchObject({ word: 'private_address' });
      }
      expect(silent.bytes).toBe(0);
    } finally {
      await silent.stop();
    }
  });
});
