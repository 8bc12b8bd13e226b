import { waitFor } from '../support/wait-for.js';
import { clientFor, closeClients, deliver, trusted } from './delivery-stage.js';
import { Receiver, type Answerer } from './receiver.js';

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await closeClients();
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function receive(answer: Answerer, credentials = trusted): Promise<Receiver> {
  const receiver = await Receiver.start(answer, credentials);
  closers.push(() => receiver.stop());
  return receiver;
}

/** Answers nothing before so many requests have come, and then all of them. */
function onceThereAre(count: number): Answerer {
  const held: Parameters<Answerer>[0][] = [];
  return (response) => {
    held.push(response);
    if (held.length >= count) for (const each of held.splice(0)) each.writeHead(200).end();
  };
}

describe('a kept connection', () => {
  it('ends when it is not used for some seconds', async () => {
    const receiver = await receive(onceThereAre(20));
    const client = clientFor(receiver.port);
    await Promise.all(Array.from({ length: 20 }, () => deliver(client, { endpoint: 'one' })));
    await waitFor(() => receiver.sockets.size === 0);
    expect(receiver.connections).toBe(20);
  });
});
