import { closeAll, trusted } from './delivery-stage.js';
import { Receiver, Tripwire } from './receiver.js';

/** What the client may reach is 127.0.0.1 alone; on the same port of all these is a server that must get no request. */
export const FORBIDDEN = ['127.0.0.2', '127.0.0.3', '127.100.100.100', '::1'];

export interface GuardedReceiver {
  readonly receiver: Receiver;
  /** One for each forbidden address that this system has. */
  readonly wires: readonly Tripwire[];
}

/** Starts the servers for the tests of a file, and fails each test in which a forbidden one was reached. */
export function guardReceiver(): GuardedReceiver {
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
    await closeAll();
    expect(wires.filter((wire) => wire.touched > 0).map((wire) => wire.address)).toEqual([]);
    receiver.received.length = 0;
    receiver.connections = 0;
  });

  afterAll(async () => {
    await Promise.all([receiver.stop(), ...wires.map((wire) => wire.stop())]);
  });

  return {
    get receiver() {
      return receiver;
    },
    get wires() {
      return wires;
    },
  };
}
