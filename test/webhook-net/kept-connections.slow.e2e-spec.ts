import { waitFor } from '../support/wait-for.js';
import { clientFor, closeAll, deliver, receive } from './delivery-stage.js';
import { onceThereAre } from './receiver.js';

afterEach(closeAll);

describe('a kept connection', () => {
  it('ends when it is not used for some seconds', async () => {
    const receiver = await receive(onceThereAre(20));
    const client = clientFor(receiver.port);
    await Promise.all(Array.from({ length: 20 }, () => deliver(client, { endpoint: 'one' })));
    await waitFor(() => receiver.sockets.size === 0);
    expect(receiver.connections).toBe(20);
  });
});
