import { randomBytes } from 'node:crypto';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import { DeliveryClient } from '../../src/modules/webhook/delivery-client.js';
import { clientFor, closeAll, closeLater, deliver, issue } from './delivery-stage.js';
import { Receiver } from './receiver.js';

afterEach(closeAll);

async function receive(credentials?: { key: string; cert: string }): Promise<Receiver> {
  const receiver = await Receiver.start((response) => response.writeHead(204).end(), credentials);
  closeLater(() => receiver.stop());
  return receiver;
}

const PRODUCTION = {
  NODE_ENV: 'production',
  ROLES: 'api,worker',
  DATABASE_URL: 'postgres://127.0.0.1/herald',
  ENCRYPTION_KEYS: `1:${randomBytes(32).toString('base64')}`,
  WHATSAPP_API_URL: 'https://graph.facebook.com',
  WHATSAPP_APP_SECRET: randomBytes(16).toString('hex'),
  WHATSAPP_VERIFY_TOKEN: 'lighthouse',
};

describe('WEBHOOK_ALLOW_PRIVATE_TARGETS', () => {
  it('is off by default, and does not start in production', () => {
    const read = (env: Record<string, string>) =>
      loadConfig({ env, persistSecrets: false }).webhook.allowPrivateTargets;
    expect(read({})).toBe(false);
    expect(read({ WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' })).toBe(true);
    expect(read({ ...PRODUCTION, WEBHOOK_ALLOW_PRIVATE_TARGETS: 'false' })).toBe(false);
    expect(() => read({ ...PRODUCTION, WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' })).toThrow(
      'WEBHOOK_ALLOW_PRIVATE_TARGETS must not be true in production',
    );
  });
});

describe('with private targets allowed', () => {
  function client(): DeliveryClient {
    const made = new DeliveryClient({ allowPrivate: true });
    closeLater(() => made.close());
    return made;
  }

  it.each(['localhost', '127.0.0.1', 'a.localhost'])('delivers to http://%s:port', async (host) => {
    const receiver = await receive();
    const url = `http://${host}:${receiver.port}/x`;
    const made = client();
    expect(await deliver(made, { url, endpoint: 'one' })).toMatchObject({ kind: 'answered', status: 204 });
    expect(await deliver(made, { url, endpoint: 'one' })).toMatchObject({ kind: 'answered', status: 204 });
    expect(receiver.received.map(({ connection, headers }) => [connection, headers.host])).toEqual([
      [1, `${host}:${receiver.port}`],
      [1, `${host}:${receiver.port}`],
    ]);
  });

  it('delivers to https://localhost:port, whose certificate must be good', async () => {
    const receiver = await receive(issue(['localhost']));
    const url = `https://localhost:${receiver.port}/`;
    const trusting = clientFor(0, { allowPrivate: true, resolver: undefined });
    expect(await deliver(trusting, { url })).toMatchObject({ kind: 'answered', status: 204 });
    const error = 'tls: certificate chain is incomplete or its authority unknown';
    expect(await deliver(client(), { url })).toMatchObject({ kind: 'failed', error });
    const byAddress = { url: `https://127.0.0.1:${receiver.port}/` };
    expect(await deliver(trusting, byAddress)).toMatchObject({ error: 'tls: certificate is for another name' });
    expect(receiver.received).toHaveLength(1);
  });

  it('says what is wrong with the rest as ever', async () => {
    const made = client();
    expect(await deliver(made, { url: 'ftp://localhost/' })).toMatchObject({ error: 'not_https' });
    expect(await deliver(made, { url: 'http://unknown.invalid/' })).toMatchObject({ error: 'unresolvable' });
    expect(await deliver(made, { url: 'http://u:p@localhost/' })).toMatchObject({ error: 'credentials_in_url' });
  });
});
