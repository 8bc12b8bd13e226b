import type { SecureVersion, TlsOptions } from 'node:tls';
import { selfSigned, TestAuthority, type Credentials } from '../support/certificates.js';
import { waitFor } from '../support/wait-for.js';
import { clientFor, closeAll, closeLater, deliver, HOST, issue, NO_LIMIT, trusted } from './delivery-stage.js';
import { RawReceiver } from './receiver.js';

afterEach(closeAll);

async function receiverWith(options: TlsOptions & Credentials): Promise<RawReceiver> {
  const receiver = await RawReceiver.start(
    (socket) => socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')),
    options,
  );
  closeLater(() => receiver.stop());
  return receiver;
}

const stranger = new TestAuthority('Another authority');

describe('a certificate', () => {
  it.each([
    ['of the host', trusted],
    ['of the host among others', issue(['a.example.org', HOST, 'b.example.org'])],
    ['of all hosts of the domain', issue(['*.example.com'])],
  ])('%s is good', async (_title, credentials) => {
    const receiver = await receiverWith(credentials);
    expect(await deliver(clientFor(receiver.port))).toMatchObject({ kind: 'answered', status: 200 });
  });

  it.each([
    ['that has run out', issue([HOST], { fromHours: -48, untilHours: -1 }), 'tls: certificate has expired'],
    ['of tomorrow', issue([HOST], { fromHours: 24, untilHours: 48 }), 'tls: certificate is not yet valid'],
    ['of another host', issue(['other.example.com']), 'tls: certificate is for another name'],
    ['of the domain above', issue(['example.com']), 'tls: certificate is for another name'],
    ['of all hosts of another domain', issue(['*.example.org']), 'tls: certificate is for another name'],
    ['of everything', issue(['*.com', '*']), 'tls: certificate is for another name'],
    ['that it signed itself', selfSigned({ names: [HOST] }), 'tls: certificate is self-signed'],
    [
      'of an unknown authority',
      stranger.issue({ names: [HOST] }),
      'tls: certificate chain is incomplete or its authority unknown',
    ],
    [
      'of an authority of its own, sent along',
      withChain(stranger.issue({ names: [HOST] }), stranger.certificate),
      'tls: certificate authority is unknown',
    ],
  ])('%s is bad: not one byte goes over it', async (_title, credentials, error) => {
    const receiver = await receiverWith(credentials);
    const client = clientFor(receiver.port);
    expect(await deliver(client)).toMatchObject({ kind: 'failed', error });
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ kind: 'failed', error });
    await waitFor(() => receiver.connections === 2 && receiver.open === 0);
    expect(receiver.bytes).toBe(0);
  });

  it('that is valid for this authority only is invalid for all others', async () => {
    const receiver = await receiverWith(trusted);
    const error = 'tls: certificate chain is incomplete or its authority unknown';
    expect(await deliver(clientFor(receiver.port, { ca: undefined }))).toMatchObject({ kind: 'failed', error });
    expect(receiver.bytes).toBe(0);
  });
});

describe('a handshake', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('of %s is good', async (version) => {
    const receiver = await receiverWith({ ...trusted, ...only(version) });
    expect(await deliver(clientFor(receiver.port))).toMatchObject({ kind: 'answered', status: 200 });
  });

  it.each(['TLSv1', 'TLSv1.1'] as const)('of %s is refused', async (version) => {
    const receiver = await receiverWith({ ...trusted, ...only(version), ciphers: 'DEFAULT@SECLEVEL=0' });
    const result = await deliver(clientFor(receiver.port));
    expect(result).toMatchObject({ kind: 'failed', error: 'tls: version 1.2 or newer is required' });
    expect(receiver.bytes).toBe(0);
  });

  it('with a server that speaks HTTP/2 only is refused', async () => {
    const receiver = await receiverWith({ ...trusted, ALPNProtocols: ['h2'] });
    expect(await deliver(clientFor(receiver.port))).toMatchObject({ kind: 'failed', error: 'tls: handshake failed' });
    expect(receiver.bytes).toBe(0);
  });

  it('with a plain port that talks fails', async () => {
    const receiver = await RawReceiver.start((socket) => socket.write('220 mail.example.com ESMTP\r\n'));
    closeLater(() => receiver.stop());
    const result = await deliver(clientFor(receiver.port));
    expect(result).toMatchObject({ kind: 'failed', error: 'tls: the server does not speak TLS' });
  });

  it('with a port that hangs up fails', async () => {
    const receiver = await RawReceiver.start((socket) => socket.once('data', () => socket.end()));
    closeLater(() => receiver.stop());
    const result = await deliver(clientFor(receiver.port));
    expect(result).toMatchObject({ kind: 'failed', error: 'tls: connection closed during the handshake' });
  });

  it('with a port that says nothing has its own limit', async () => {
    const receiver = await RawReceiver.start(() => {});
    closeLater(() => receiver.stop());
    const client = clientFor(receiver.port, { limits: { ...NO_LIMIT, tlsMs: 150 } });
    expect(await deliver(client)).toMatchObject({ kind: 'failed', error: 'tls: timeout' });
  });
});

function only(version: SecureVersion): { minVersion: SecureVersion; maxVersion: SecureVersion } {
  return { minVersion: version, maxVersion: version };
}

function withChain(credentials: Credentials, authority: string): Credentials {
  return { ...credentials, cert: credentials.cert + authority };
}
