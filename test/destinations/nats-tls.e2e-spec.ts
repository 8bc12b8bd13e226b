import { createServer, type AddressInfo, type Server } from 'node:net';
import type { DestinationAddresses } from '../../src/modules/destinations/sinks/destination-addresses.service.js';
import { openNats } from '../../src/modules/destinations/sinks/nats.sink.js';

describe('a connection to NATS', () => {
  let server: Server;
  let port: number;
  let received = '';

  // A server without TLS: whoever speaks to it, all may read.
  beforeAll(async () => {
    server = createServer((socket) => {
      socket.on('data', (bytes) => (received += bytes.toString('latin1')));
      socket.on('error', () => undefined);
      socket.write(
        `INFO ${JSON.stringify({ server_id: 'x', version: '2.10.0', proto: 1, headers: true, max_payload: 1_048_576 })}\r\n`,
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it.each(['tls', 'TLS', 'Tls'])('by %s: is none without TLS, and no secret is told', async (scheme) => {
    received = '';
    const settings = { url: `${scheme}://127.0.0.1:${port}`, subject: 'herald.{type}', username: 'herald' };
    const connecting = { id: '', organizationId: '', kind: 'nats' as const, settings, secrets: { password: 's3cret' } };
    const addresses = { addressOf: () => Promise.resolve('127.0.0.1') } as unknown as DestinationAddresses;
    const opened = await openNats(connecting, addresses).catch((error: { word: string }) => error.word);
    if (typeof opened !== 'string') await opened.close();
    expect([opened, received]).toEqual(['tls_failed', '']);
  });
});
