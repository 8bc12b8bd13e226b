import { clientFor, closeClients, deliver, HOST, trusted } from './delivery-stage.js';
import { Receiver, type Answerer } from './receiver.js';

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await closeClients();
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function receive(answer: Answerer): Promise<Receiver> {
  const receiver = await Receiver.start(answer, trusted);
  closers.push(() => receiver.stop());
  return receiver;
}

const ok: Answerer = (response) => response.writeHead(204).end();

describe('a delivery', () => {
  it('reaches the receiver as it was asked for', async () => {
    const receiver = await receive(ok);
    const result = await deliver(clientFor(receiver.port));
    expect(result).toMatchObject({ kind: 'answered', status: 204, retryAfterMs: null });
    expect(receiver.received).toMatchObject([
      {
        method: 'POST',
        url: '/webhooks?from=herald',
        body: '{"type":"webhook.test"}',
        headers: { host: HOST, 'webhook-id': 'evt_1', 'content-length': '23', connection: 'close' },
      },
    ]);
  });
});
