import { createServer, type AddressInfo, type Socket } from 'node:net';
import { startTestApp } from '../support/test-app.js';
import { conversations, DestinationOwner } from './fixture.js';

it('gives the turn up within its time where a broker takes the connection and says nothing', async () => {
  const taken: Socket[] = [];
  const server = createServer((socket) => void taken.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const silent = await startTestApp({ env: { EVENT_DESTINATION_HOSTS: `127.0.0.1:${port}` } });
  try {
    const made = await DestinationOwner.of(silent);
    const { id } = await made.create({ nats: { url: `nats://127.0.0.1:${port}` } });
    await made.emit(conversations(1), 1);
    expect((await made.until(id, ({ status }) => status === 'failing', 'the timeout')).last_error).toMatch(/timeout/);
  } finally {
    await silent.stop();
    server.close();
    for (const socket of taken) socket.destroy();
  }
});
