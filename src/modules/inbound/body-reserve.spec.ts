import { createServer, request, type ClientRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError } from '../../common/app-error.js';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { BodyReserve } from './body-reserve.js';
import type { Sender } from './notification-senders.js';

let server: Server;
let reserve: BodyReserve;
let use: (body: Buffer) => Promise<void>;
let port: number;
let begun: number;
let sender: Sender;

const bound = (refuseAtBytes: number) => ({ refuseAtBytes, cutOffAtBytes: 2 * refuseAtBytes });
const PROVEN: Sender = { origin: 'platform', proven: true };
const stranger = (origin: string): Sender => ({ origin, proven: false });
const senderOf = ({ 'x-origin': origin }: IncomingHttpHeaders): Sender =>
  origin === PROVEN.origin ? PROVEN : stranger(String(origin));

beforeEach(async () => {
  sender = PROVEN;
  reserve = new BodyReserve({
    proven: bound(1_000),
    small: bound(400),
    large: bound(800),
    perAddress: bound(300),
    lookMs: 50,
  });
  use = () => Promise.resolve();
  begun = 0;
  server = createServer((req, res) => {
    begun++;
    reserve
      .read(req as HeraldRequest, senderOf(req.headers), (body) => use(body))
      .then(() => res.writeHead(200).end())
      .catch((error: unknown) => res.writeHead(error instanceof AppError ? error.status : 500).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Begins a request; resolves with the status, or with 0 where the connection was cut. */
function begin(headers: Record<string, string | number> = {}): { call: ClientRequest; status: Promise<number> } {
  const call = request({ port, host: '127.0.0.1', method: 'POST', headers: { ...headers, 'x-origin': sender.origin } });
  const status = new Promise<number>((resolve) => {
    call.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    call.on('error', () => resolve(0));
  });
  return { call, status };
}

function post(body: Buffer): Promise<number> {
  const { call, status } = begin();
  call.end(body);
  return status;
}

/** With its Content-Length. */
function postSized(body: Buffer): Promise<number> {
  const { call, status } = begin({ 'content-length': body.length });
  call.end(body);
  return status;
}

/** Holds a body in use until `let go` is called. */
function hold(): { held: () => number; letGo: () => void } {
  const bodies: Buffer[] = [];
  let letGo = (): void => undefined;
  const open = new Promise<void>((resolve) => (letGo = resolve));
  use = (body) => {
    bodies.push(body);
    return open;
  };
  return { held: () => bodies.reduce((sum, body) => sum + body.length, 0), letGo };
}

describe('a reserve for bodies', () => {
  it('hands over the bytes, in one piece or in many, and nothing for no body', async () => {
    const seen: string[] = [];
    use = (body) => {
      seen.push(body.toString());
      return Promise.resolve();
    };
    const { call, status } = begin({ 'content-length': 6 });
    call.write('abc');
    setImmediate(() => call.end('def'));
    expect(await status).toBe(200);
    expect(await post(Buffer.from('ghi'))).toBe(200);
    expect(await post(Buffer.alloc(0))).toBe(200);
    expect(seen).toEqual(['abcdef', 'ghi', '']);
  });

  it('refuses further bodies while too much is in use, and takes them again after that', async () => {
    const holding = hold();
    const first = post(Buffer.alloc(1_000));
    await waitFor(() => holding.held() === 1_000);
    expect(await post(Buffer.from('x'))).toBe(503);
    holding.letGo();
    expect(await first).toBe(200);
    expect(await post(Buffer.from('x'))).toBe(200);
  });

  it('is not blocked by clients that announce much and send nothing', async () => {
    const silent = Array.from({ length: 10 }, () => begin({ 'content-length': 900 }));
    for (const { call } of silent) call.flushHeaders();
    await waitFor(() => begun === silent.length);
    expect(await post(Buffer.alloc(900))).toBe(200);
    for (const { call } of silent) call.destroy();
  });

  it('cuts off a body that would go beyond all bounds', async () => {
    const holding = hold();
    const slow = begin({ 'content-length': 1_500 });
    slow.call.write(Buffer.alloc(600));
    const first = post(Buffer.alloc(999));
    await waitFor(() => holding.held() === 999);
    slow.call.end(Buffer.alloc(900));
    expect(await slow.status).not.toBe(200);
    holding.letGo();
    expect(await first).toBe(200);
  });

  it('gives back what a failed use held', async () => {
    use = () => Promise.reject(new Error('no'));
    for (let round = 0; round < 5; round++) expect(await post(Buffer.alloc(900))).toBe(500);
  });
});

describe('addresses that have signed nothing yet', () => {
  /** Begins a body of 3 MiB from this address, of which so much comes. */
  async function unfinished(origin: string, bytes: number): Promise<ReturnType<typeof begin>> {
    sender = stranger(origin);
    const before = begun;
    const { call, status } = begin({ 'content-length': 3 * 1_024 * 1_024 });
    call.write(Buffer.alloc(bytes));
    await waitFor(() => begun > before);
    return { call, status };
  }

  it('cannot take the place of the platform, nor of small bodies, however many they are', async () => {
    const holding = hold();
    const strangers = Array.from({ length: 4 }, (_, index) => {
      sender = stranger(`stranger ${index}`);
      return begin({ 'transfer-encoding': 'chunked' });
    });
    for (const { call } of strangers) call.end(Buffer.alloc(200));
    await waitFor(() => holding.held() === 800);
    sender = stranger('another');
    const large = begin({ 'transfer-encoding': 'chunked' });
    large.call.end(Buffer.alloc(10));
    expect(await large.status).toBe(503);
    use = () => Promise.resolve();
    expect(await postSized(Buffer.alloc(10))).toBe(200);
    sender = PROVEN;
    expect(await post(Buffer.alloc(900))).toBe(200);
    holding.letGo();
    expect(await Promise.all(strangers.map(({ status }) => status))).toEqual([200, 200, 200, 200]);
  });

  it('have a share each, which one of them cannot exceed', async () => {
    const holding = hold();
    sender = stranger('a');
    const first = postSized(Buffer.alloc(300));
    await waitFor(() => holding.held() === 300);
    expect(await postSized(Buffer.alloc(10))).toBe(503);
    sender = stranger('b');
    use = () => Promise.resolve();
    expect(await postSized(Buffer.alloc(10))).toBe(200);
    holding.letGo();
    expect(await first).toBe(200);
    sender = stranger('a');
    expect(await postSized(Buffer.alloc(10))).toBe(200);
  });

  it('are cut off where a body stops, and hold nothing any more', async () => {
    for (let round = 0; round < 4; round++) {
      const { call, status } = await unfinished('a', 250);
      expect(await status).toBe(0);
      call.destroy();
    }
    await waitFor(async () => (await postSized(Buffer.alloc(10))) === 200);
  });
});
