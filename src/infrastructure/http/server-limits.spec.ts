import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { systemClock } from '../../common/clock.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { guardConnections, type ConnectionLimits } from './server-limits.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const MIB = 1_024 * 1_024;
/** More than the systems of both ends hold for one connection that is not read. */
const MUCH = Buffer.alloc(32 * MIB);

let server: Server;
let clients: Socket[];
let refused: number;
let answer: Buffer;

async function listen(limits: Partial<ConnectionLimits>): Promise<void> {
  clients = [];
  refused = 0;
  answer = Buffer.from('x');
  server = createServer((_req, res) => res.end(answer));
  guardConnections(server, { perAddress: 0, isProxy: () => false, onRefused: () => refused++, ...limits });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

afterEach(async () => {
  import.meta.jest.restoreAllMocks();
  for (const client of clients) client.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** Asks once; `seen` has what the client has come to know. */
function client(reads = true): { socket: Socket; seen: { bytes: number; closed: boolean } } {
  const seen = { bytes: 0, closed: false };
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(socket);
  socket.on('error', () => undefined).on('close', () => (seen.closed = true));
  if (reads) socket.on('data', (bytes: Buffer) => (seen.bytes += bytes.length));
  else socket.pause();
  socket.write(REQUEST);
  return { socket, seen };
}

/** Connections that the server holds. */
function open(): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}

describe('connections of one address', () => {
  it('are taken up to the limit, and again once others have gone', async () => {
    await listen({ perAddress: 3 });
    const taken = [client(), client(), client()];
    await waitFor(() => taken.every(({ seen }) => seen.bytes > 0));
    const further = client();
    await waitFor(() => further.seen.closed);
    expect([further.seen.bytes, refused]).toEqual([0, 1]);
    taken[0]?.socket.destroy();
    await waitFor(async () => (await open()) === 2);
    const next = client();
    await waitFor(() => next.seen.bytes > 0);
  });

  it.each([
    ['with the limit off', { perAddress: 0 }],
    ['from a trusted proxy', { perAddress: 3, isProxy: (address: string) => address === '127.0.0.1' }],
  ])('are not counted %s', async (_what, limits) => {
    await listen(limits);
    const many = Array.from({ length: 20 }, () => client());
    await waitFor(() => many.every(({ seen }) => seen.bytes > 0));
    expect(refused).toBe(0);
  });
});

describe('a client that does not read', () => {
  it('is cut, one that reads bit by bit is not', async () => {
    const stalledMs = 60;
    let [nowMs, looks] = [0, 0];
    import.meta.jest.spyOn(systemClock, 'monotonic').mockImplementation(() => (looks++, nowMs));
    await listen({ stalledMs });
    answer = MUCH;
    const silent = Array.from({ length: 3 }, () => client(false));
    const slow = client(false);
    await waitFor(async () => (await open()) === 4);
    let read = 0;
    while (read < MUCH.length) {
      // The system reports what was read in steps of up to a MiB.
      const next = Math.min(read + 4 * MIB, MUCH.length);
      const hasRead = (): boolean => (read += (slow.socket.read() as Buffer | null)?.length ?? 0) >= next;
      await waitFor(hasRead, { everyMs: 1, what: 'the slow one to read' });
      const before = looks;
      await waitFor(() => looks > before + 1);
      nowMs += stalledMs / 2;
    }
    // The silent clients' own ends would learn of the cut only by reading.
    await waitFor(async () => (await open()) === 1, { what: 'the silent ones to be cut' });
    expect(slow.seen.closed).toBe(false);
    expect(silent.every(({ seen }) => seen.bytes === 0)).toBe(true);
  });

  it('is left alone while it has nothing to read', async () => {
    await listen({ stalledMs: 60 });
    const idle = client();
    await waitFor(() => idle.seen.bytes > 0);
    const silent = client(false);
    answer = MUCH;
    silent.socket.write(REQUEST);
    await waitFor(async () => (await open()) === 2);
    await waitFor(async () => (await open()) === 1, { what: 'the silent one to be cut' });
    expect(idle.seen.closed).toBe(false);
  });
});
