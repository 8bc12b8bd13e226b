import { clientFor, closeClients, deliver, FakeResolver, trusted } from './delivery-stage.js';
import { Receiver, Tripwire } from './receiver.js';

/** What the client may reach is 127.0.0.1 alone; on the same port of all these is a server that must get no request. */
const FORBIDDEN = ['127.0.0.2', '127.0.0.3', '127.100.100.100', '::1'];

let receiver: Receiver;
let wires: Tripwire[];

beforeAll(async () => {
  receiver = await Receiver.start((response) => response.writeHead(204).end(), trusted);
  const started = await Promise.all(FORBIDDEN.map((address) => Tripwire.start(address, receiver.port)));
  // Not every system has more than one loopback address; one at least must be there, or nothing is tried.
  wires = started.filter((wire) => wire !== null);
  expect(wires.length).toBeGreaterThan(0);
});

afterEach(async () => {
  await closeClients();
  expect(wires.filter((wire) => wire.touched > 0).map((wire) => wire.address)).toEqual([]);
  receiver.received.length = 0;
  receiver.connections = 0;
});

afterAll(async () => {
  await Promise.all([receiver.stop(), ...wires.map((wire) => wire.stop())]);
});

describe('a name that changes its mind', () => {
  it('at every question gets nowhere 2,000 times', async () => {
    const resolver = new FakeResolver((_host, question) =>
      question % 2 === 0 ? ['127.0.0.1'] : [wires[question % wires.length]?.address ?? '', '127.0.0.1'],
    );
    const client = clientFor(receiver.port, { resolver });
    const counts: Record<string, number> = {};
    let left = 2_000;
    const turn = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const result = await deliver(client, { endpoint: 'one' });
        const what = result.kind === 'answered' ? String(result.status) : result.error;
        counts[what] = (counts[what] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 16 }, turn));
    expect(counts).toEqual({ 204: 1_000, private_address: 1_000 });
    // One question each: what was checked is what is connected to.
    expect(resolver.asked).toBe(2_000);
  });
});
