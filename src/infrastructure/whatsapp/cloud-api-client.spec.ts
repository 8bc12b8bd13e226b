import { Deadline } from '../../common/deadline.js';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { waitFor } from '../../../test/support/wait-for.js';
import { accepted, answer, graphError, RawServer, type Reaction } from '../../../test/support/whatsapp/raw-server.js';
import { CloudApiClient, type CloudApiClientOptions, type SendMessageInput } from './cloud-api-client.js';
import { buildMessageBody } from './message-body.js';
import type { SendOutcome } from './outcome.js';

const TOKEN = 'EAAtestTOKEN0123456789abcdef';

const HEADERS_READ = 'undici:request:headers';

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function serve(react: Reaction): Promise<RawServer> {
  const server = await RawServer.start(react);
  closers.push(() => server.stop());
  return server;
}

function clientOf(baseUrl: string, options: Partial<CloudApiClientOptions> = {}): CloudApiClient {
  const client = new CloudApiClient({
    baseUrl,
    apiVersion: 'v26.0',
    headersTimeoutMs: 5_000,
    bodyTimeoutMs: 5_000,
    ...options,
  });
  closers.unshift(() => client.close());
  return client;
}

function send(client: CloudApiClient, input: Partial<SendMessageInput> = {}): Promise<SendOutcome> {
  return client.sendMessage({
    phoneNumberId: '106540352242922',
    token: TOKEN,
    body: buildMessageBody({ to: '5511999990000', type: 'text', content: { body: 'olá' }, callbackData: 'attempt-1' }),
    notAfter: Deadline.in(15_000),
    ...input,
  });
}

/** Calls `work` when the client has read the head of an answer, and what came with it. */
function onceHeadIsRead(work: () => void): void {
  const onHeaders = (): void => {
    unsubscribe(HEADERS_READ, onHeaders);
    work();
  };
  subscribe(HEADERS_READ, onHeaders);
}

async function outcomeOf(react: Reaction, options?: Partial<CloudApiClientOptions>): Promise<[SendOutcome, RawServer]> {
  const server = await serve(react);
  return [await send(clientOf(server.url, options)), server];
}

describe('what a send writes', () => {
  it('is one POST under the version with the token in its header and the body to the byte', async () => {
    const [outcome, server] = await outcomeOf((socket) => socket.write(accepted('wamid.A')));
    expect(outcome).toEqual({
      kind: 'accepted',
      metaMessageId: 'wamid.A',
      waId: '551199990000',
      userId: null,
      httpStatus: 200,
    });
    expect(server.requests).toHaveLength(1);
    const [head, body] = (server.requests[0] ?? '').split('\r\n\r\n');
    expect(head).toMatch(/^POST \/v26\.0\/106540352242922\/messages HTTP\/1\.1\r\n/);
    expect(head).toContain(`authorization: Bearer ${TOKEN}`);
    expect(head).toContain('content-type: application/json');
    expect(JSON.parse(Buffer.from(body ?? '', 'latin1').toString())).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '+5511999990000',
      type: 'text',
      text: { body: 'olá', preview_url: false },
      biz_opaque_callback_data: 'attempt-1',
    });
  });

  it('keeps a path before the version, and a strange id inside its segment', async () => {
    const server = await serve((socket) => socket.write(accepted()));
    await send(clientOf(`${server.url}/graph/`), { phoneNumberId: '1/../2' });
    expect(server.requests[0]).toMatch(/^POST \/graph\/v26\.0\/1%2F..%2F2\/messages /);
  });

  it('uses kept connections again (a socket is free one turn of the event loop after its answer)', async () => {
    const server = await serve((socket) => socket.write(accepted()));
    const client = clientOf(server.url);
    for (let i = 0; i < 20; i += 1) {
      expect(await send(client)).toMatchObject({ kind: 'accepted' });
    }
    expect(server.connections).toBeLessThanOrEqual(2);
  });
});

describe('an answer that comes', () => {
  it.each<[string, string, object]>([
    [
      'a refusal for good',
      answer(400, graphError(131026)),
      { kind: 'rejected', category: 'recipient_unreachable', platformCode: 131026, traceId: 'Az8trace' },
    ],
    ['a refusal of the account', answer(401, graphError(190)), { kind: 'lane_paused', category: 'authentication' }],
    [
      'a refusal for now',
      answer(500, graphError(131057)),
      { kind: 'deferred', category: 'platform_unavailable', written: true },
    ],
    [
      '429 in HTML with Retry-After',
      answer(429, '<html>slow</html>', { 'retry-after': '7' }),
      { kind: 'lane_paused', category: 'rate_limited', platformCode: null, retryAfterMs: 7_000 },
    ],
    ['500 without a body', answer(500, ''), { kind: 'unknown', httpStatus: 500, written: true }],
    ['200 in HTML', answer(200, '<html>hello</html>'), { kind: 'unknown', httpStatus: 200 }],
    ['200 with JSON cut short', answer(200, '{"messages":[{"id":"wamid'), { kind: 'unknown', httpStatus: 200 }],
    ['302', answer(302, '', { location: '/elsewhere' }), { kind: 'unknown', httpStatus: 302 }],
    [
      '101',
      'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      { kind: 'unknown', httpStatus: null, written: true },
    ],
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n', { kind: 'unknown', httpStatus: null, written: true }],
    [
      'an early hint before 200',
      `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${accepted('wamid.H')}`,
      { kind: 'accepted', metaMessageId: 'wamid.H' },
    ],
  ])('%s', async (_name, bytes, expected) => {
    const [outcome, server] = await outcomeOf((socket) => socket.write(bytes));
    expect(outcome).toMatchObject(expected);
    expect(server.requests).toHaveLength(1);
  });

  it('in time, though late', async () => {
    let answerNow = (): void => undefined;
    const server = await serve((socket) => {
      answerNow = () => socket.write(accepted());
    });
    const client = clientOf(server.url);
    const sending = send(client);
    await waitFor(() => server.requests.length === 1);
    expect(client.inFlight).toBe(1);
    answerNow();
    expect(await sending).toMatchObject({ kind: 'accepted' });
  });

  it('in two pieces', async () => {
    const whole = accepted('wamid.PIECES');
    const [outcome] = await outcomeOf((socket) => {
      onceHeadIsRead(() => socket.write(whole.slice(-20)));
      socket.write(whole.slice(0, -20));
    });
    expect(outcome).toMatchObject({ kind: 'accepted', metaMessageId: 'wamid.PIECES' });
  });

  it('whole although the connection broke before its announced end', async () => {
    const body = JSON.stringify({ messages: [{ id: 'wamid.WHOLE' }] });
    const [outcome] = await outcomeOf((socket) => {
      onceHeadIsRead(() => socket.destroy());
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length + 40}\r\n\r\n${body}`);
    });
    expect(outcome).toMatchObject({ kind: 'accepted', metaMessageId: 'wamid.WHOLE' });
  });

  it('is not read beyond its limit, and the socket is given up', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const timer = setInterval(() => socket.write(`4000\r\n${'x'.repeat(0x4000)}\r\n`), 1);
      socket.on('close', () => clearInterval(timer));
    });
    // No other limit ends it while the test runs.
    const client = clientOf(server.url, { headersTimeoutMs: 600_000, bodyTimeoutMs: 600_000 });
    expect(await send(client)).toMatchObject({ kind: 'unknown', httpStatus: 200 });
    await client.close();
    await waitFor(() => server.openSockets === 0);
  });

  it('keeps the refusal of a long body that was refused', async () => {
    const [outcome] = await outcomeOf((socket) => socket.write(answer(429, 'x'.repeat(100_000))));
    expect(outcome).toMatchObject({ kind: 'lane_paused', category: 'rate_limited' });
  });
});

describe('the access token', () => {
  it('is in no outcome, even where the platform repeats it', async () => {
    const repeated = graphError(190, {
      message: `Malformed access token ${TOKEN}`,
      error_data: { details: `${TOKEN}!` },
    });
    const [outcome] = await outcomeOf((socket) => socket.write(answer(401, repeated)));
    expect(outcome).toMatchObject({ kind: 'lane_paused', platformMessage: 'Malformed access token [token]: [token]!' });
    expect(JSON.stringify(outcome)).not.toContain(TOKEN);
  });

  it('that no header can carry pauses the lane, and nothing is written', async () => {
    const server = await serve((socket) => socket.write(accepted()));
    const client = clientOf(server.url);
    for (const token of ['', 'a b', 'a\r\nx-evil: 1', 'tökén']) {
      const outcome = await send(client, { token });
      expect(outcome).toMatchObject({ kind: 'lane_paused', category: 'authentication', written: false });
    }
    expect(server.connections).toBe(0);
  });
});

describe('other calls', () => {
  it('give the parsed body of a 2xx', async () => {
    const server = await serve((socket) => socket.write(answer(200, { data: [1] })));
    const result = await clientOf(server.url).request({
      method: 'GET',
      path: '/102290129340398/message_templates',
      token: TOKEN,
      query: { limit: '100', name: 'a b&c' },
    });
    expect(result).toEqual({ ok: true, status: 200, body: { data: [1] } });
    expect(server.requests[0]).toMatch(
      /^GET \/v26\.0\/102290129340398\/message_templates\?limit=100&name=a\+b%26c HTTP/,
    );
    expect(server.requests[0]).not.toContain('content-type');
  });

  it('send JSON', async () => {
    const server = await serve((socket) => socket.write(answer(200, { success: true })));
    await clientOf(server.url).request({
      method: 'POST',
      path: '/1/whatsapp_business_profile',
      token: TOKEN,
      json: { about: 'é' },
    });
    expect(server.requests[0]).toContain('{"about":"\u00c3\u00a9"}');
  });

  it.each<[string, string | null, object]>([
    [
      'a refusal',
      answer(400, graphError(100, { error_subcode: 2388024, error_user_msg: 'It exists.' })),
      {
        kind: 'rejected',
        status: 400,
        code: 100,
        subcode: 2388024,
        message: '(#100) Refused: It exists.',
        traceId: 'Az8trace',
      },
    ],
    ['code 2 on 400', answer(400, graphError(2)), { kind: 'unavailable', code: 2 }],
    ['500 with a code', answer(500, graphError(3)), { kind: 'unavailable', status: 500, code: 3 }],
    ['404 in HTML', answer(404, '<html>'), { kind: 'unavailable', status: 404, code: null }],
    ['200 in HTML', answer(200, '<html>'), { kind: 'unavailable', status: 200 }],
    ['silence', null, { kind: 'timeout', status: null }],
  ])('recognize %s', async (_name, bytes, expected) => {
    const server = await serve((socket) => bytes !== null && socket.write(bytes));
    const patience = bytes === null ? { headersTimeoutMs: 300, bodyTimeoutMs: 300 } : {};
    const client = clientOf(server.url, patience);
    const result = await client.request({ method: 'POST', path: '/1/x', token: TOKEN, json: {} });
    expect(result).toMatchObject({ ok: false, ...expected });
  });

  it('make a GET once more where the connection broke, and nothing else', async () => {
    const server = await serve((socket, _request, index) => {
      if (index % 2 === 0) {
        socket.resetAndDestroy();
      } else {
        socket.write(answer(200, { ok: 1 }));
      }
    });
    const client = clientOf(server.url);
    expect(await client.request({ method: 'GET', path: '/1', token: TOKEN })).toMatchObject({ ok: true });
    expect(server.requests).toHaveLength(2);
    expect(await client.request({ method: 'DELETE', path: '/1', token: TOKEN })).toMatchObject({
      ok: false,
      kind: 'unavailable',
    });
    expect(server.requests).toHaveLength(3);
  });

  it('read a large page', async () => {
    const page = { data: Array.from({ length: 2_000 }, (_, i) => ({ id: String(i), text: 'x'.repeat(200) })) };
    const server = await serve((socket) => socket.write(answer(200, page)));
    expect(await clientOf(server.url).request({ method: 'GET', path: '/1', token: TOKEN })).toMatchObject({
      ok: true,
      body: page,
    });
  });

  it('read a phone number', async () => {
    const number = {
      id: '1065',
      display_phone_number: '+55 11 4000-0000',
      verified_name: 'Loja',
      throughput: { level: 'HIGH' },
      status: 7,
    };
    const server = await serve((socket) => socket.write(answer(200, number)));
    const result = await clientOf(server.url).getPhoneNumber('1065', TOKEN);
    expect(result).toMatchObject({
      ok: true,
      body: { id: '1065', verifiedName: 'Loja', throughputLevel: 'HIGH', status: null, messagingLimit: null },
    });
    expect(server.requests[0]).toMatch(/^GET \/v26\.0\/1065\?fields=id%2Cdisplay_phone_number%2C/);
  });

  it('refuse what is no phone number', async () => {
    const server = await serve((socket) => socket.write(answer(200, [])));
    expect(await clientOf(server.url).getPhoneNumber('1', TOKEN)).toMatchObject({ ok: false, kind: 'unavailable' });
  });
});

describe('close', () => {
  it('lets what is in flight come to its end, and gives up what waits', async () => {
    let answerNow = (): void => undefined;
    const server = await serve((socket) => {
      answerNow = () => socket.write(accepted());
    });
    const client = clientOf(server.url, { connections: 1 });
    const first = send(client);
    const second = send(client);
    await waitFor(() => server.requests.length === 1);
    expect(client.inFlight).toBe(2);
    const closing = client.close();
    answerNow();
    await closing;
    expect(await first).toMatchObject({ kind: 'accepted' });
    expect(await second).toMatchObject({ kind: 'deferred', written: false });
    expect(await send(client)).toMatchObject({ kind: 'deferred', written: false });
    expect(server.requests).toHaveLength(1);
    await waitFor(() => server.openSockets === 0);
  });
});

describe('a client', () => {
  it.each([
    ['no-url', 'v26.0'],
    ['ftp://host', 'v26.0'],
    ['https://host', '26'],
  ])('is not made with %s and %s', (baseUrl, apiVersion) => {
    expect(() => new CloudApiClient({ baseUrl, apiVersion })).toThrow(/URL|https|v26/);
  });
});

describe('calls other than sends', () => {
  const PROFILE = 'whatsapp_business_profile';

  /** A platform that takes messages at once, and answers profiles when it is released. */
  async function holdingPlatform(options: Partial<CloudApiClientOptions>) {
    const held: (() => void)[] = [];
    const server = await serve((socket, request) => {
      if (request.includes(PROFILE)) held.push(() => socket.write(answer(200, { data: [] })));
      else socket.write(accepted('wamid.A'));
    });
    const client = clientOf(server.url, options);
    const read = (number: string) =>
      client.request({ method: 'GET', path: `/${number}/${PROFILE}`, token: TOKEN, query: { fields: 'about' } });
    return { held, client, read };
  }

  it('take no socket of sends, however many the platform leaves unanswered', async () => {
    const { held, client, read } = await holdingPlatform({ connections: 32 });
    const reads = Array.from({ length: 60 }, (_, number) => read(String(number)));
    await waitFor(() => held.length === 32, { what: 'the profiles to be asked for' });
    expect((await send(client)).kind).toBe('accepted');
    expect(held).toHaveLength(32);
    for (let next = 0; next < reads.length; next++) (await waitFor(() => held[next]))();
    expect((await Promise.all(reads)).every(({ ok }) => ok)).toBe(true);
  });

  it('of one number take a few sockets, and those of others go on', async () => {
    const { held, read } = await holdingPlatform({});
    const reads = Array.from({ length: 10 }, () => read('1'));
    await waitFor(() => held.length === 4, { what: 'the first four' });
    const other = read('2');
    (await waitFor(() => held[4], { what: 'the other number' }))();
    expect((await other).ok).toBe(true);
    for (const one of [0, 1, 2, 3, 5, 6, 7, 8, 9, 10]) (await waitFor(() => held[one]))();
    expect((await Promise.all(reads)).every(({ ok }) => ok)).toBe(true);
  });
});
