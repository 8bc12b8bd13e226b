import type { RequestListener } from 'node:http';
import {
  createHeraldClient,
  HeraldConnectionError,
  isHeraldError,
  verifyWebhook,
  webhookListener,
  WebhookVerificationError,
  type HeraldClient,
  type SendMessage,
  type Usage,
  type WebhookEvent,
} from '../../clients/typescript/src/index.js';
import { newWebhookSecret, signDelivery } from '../../src/common/standard-webhooks.js';
import { LocalServer } from '../support/local-server.js';
import { readProjectFile } from '../support/project-files.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

let test: TestApp;
let sender: TestSender;
let herald: HeraldClient;
let to: string;

beforeAll(async () => {
  test = await startTestApp();
  sender = await test.sender();
  to = (await test.openWindow(sender)).phone ?? '';
  herald = createHeraldClient({ baseUrl: `${test.baseUrl}/api/v1/`, apiKey: sender.key.text });
});

afterAll(() => test.stop());

async function place(after: string): Promise<{ next: string }> {
  return (await sender.api.get(`/events?after=${after}`)).body as unknown as { next: string };
}

/** One of each variant. That this compiles without a cast is part of the test. */
function variants(connection_id: string, replyTo: string): Record<string, SendMessage> {
  const common = { connection_id, to };
  return {
    text: { ...common, type: 'text', text: { body: 'Hello', preview_url: true }, client_message_id: 'a-1' },
    legacy: { ...common, body: 'Hello' },
    image: { ...common, type: 'image', media: { link: 'https://example.com/menu.jpg', caption: 'Today' } },
    video: { ...common, type: 'video', media: { id: '1037543291543636' } },
    audio: { ...common, type: 'audio', media: { id: '1037543291543636', voice: true } },
    document: { ...common, type: 'document', media: { link: 'https://example.com/i.pdf', filename: 'i.pdf' } },
    sticker: { ...common, type: 'sticker', media: { id: '1037543291543636' } },
    template: {
      ...common,
      type: 'template',
      template: {
        name: 'order_update',
        language: { code: 'en_US' },
        components: [{ type: 'body', parameters: ['Ana', '4711'].map((text) => ({ type: 'text', text })) }],
      },
    },
    buttons: {
      ...common,
      type: 'interactive',
      interactive: {
        type: 'button',
        body: { text: 'Keep it?' },
        action: { buttons: [{ type: 'reply', reply: { id: 'y', title: 'Yes' } }] },
      },
    },
    link: {
      ...common,
      type: 'interactive',
      interactive: {
        type: 'cta_url',
        body: { text: 'The menu' },
        action: { name: 'cta_url', parameters: { display_text: 'Open', url: 'https://example.com' } },
      },
    },
    location: { ...common, type: 'location', location: { latitude: 53.3, longitude: -6.2, name: 'Lighthouse Coffee' } },
    contacts: { ...common, type: 'contacts', contacts: [{ name: { formatted_name: 'Ana Lima' } }] },
    reaction: { ...common, type: 'reaction', reply_to_message_id: replyTo, reaction: { emoji: '👍' } },
  };
}

describe('the client against Herald', () => {
  it('sends every variant and follows it until it is read', async () => {
    const first = await herald.messages.send({ connection_id: sender.connection.id, to, body: 'Hello' });
    await waitFor(async () => (await herald.messages.get(first.id)).status === 'read');
    const bodies = Object.entries(variants(sender.connection.id, first.id));
    for (const [name, body] of bodies) {
      const { id, status } = await herald.messages.send(body);
      expect({ name, status }).toEqual({ name, status: 'queued' });
      expect((await herald.messages.get(id)).attempts).toEqual(expect.any(Array));
    }
  });

  it('schedules a message, and takes it back', async () => {
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const text = { type: 'text', text: { body: 'Later' } } as const;
    const message = { connection_id: sender.connection.id, to, ...text, send_at: sendAt, ttl_seconds: 60 };
    const { id } = await herald.messages.send(message);
    expect((await herald.messages.get(id)).scheduled_for).toBe(sendAt);
    expect(await herald.messages.cancel(id)).toMatchObject({ status: 'failed', failure_category: 'canceled' });
    await herald.messages.retry(id);
    await waitFor(async () => (await herald.messages.get(id)).status === 'read');
    await expect(herald.messages.cancel(id)).rejects.toMatchObject({ code: 'MESSAGE_NOT_CANCELABLE', status: 409 });
  });

  it('marks a received message as read', async () => {
    const { connection } = sender;
    const { id, metaMessageId } = await test.factories.message({ connection, status: 'received' });
    const { phoneNumberId } = connection;
    test.simulator.inboundLog.add({ id: metaMessageId ?? '', phoneNumberId, party: to, writtenAt: Date.now() });
    const read = await herald.messages.markRead(id, { typing: true });
    expect(read).toEqual({ id, read_at: expect.any(String) as string, typing_until: expect.any(String) as string });
    expect((await herald.messages.markRead(id)).read_at).toBe(read.read_at);
    await test.database.execute('delete from message where id = $1', [id]);
  });

  it('tells why a message waits, and what happened to one that failed', async () => {
    const { connection } = sender;
    const nextAttemptAt = new Date(Date.now() + 3_600_000);
    const { id: waits } = await test.factories.message({ connection, recipient: '15550001999', nextAttemptAt });
    expect((await herald.messages.get(waits)).waiting).toEqual({
      reason: 'retry',
      until: nextAttemptAt.toISOString(),
      ahead: 0,
    });
    const failed = { connection, status: 'failed' as const, failureCategory: 'recipient_unreachable' };
    const { id } = await test.factories.message(failed);
    const { data, explanation, not_kept: notKept } = await herald.messages.timeline(id);
    expect([data.at(-1)?.event, explanation.responsible, explanation.retry.advised, notKept]).toEqual([
      'attempt_rejected',
      'recipient',
      false,
      [],
    ]);
    for (const each of [id, waits]) await test.database.execute('delete from message where id = $1', [each]);
    await test.database.execute('delete from message_queue where message_id = $1', [waits]);
  });

  it('lists the conversations, and reads one', async () => {
    const ids: string[] = [];
    for await (const { id } of herald.conversations.list({ to, limit: 1 })) ids.push(id);
    expect(ids).toHaveLength(1);
    const conversation = await herald.conversations.get(ids[0] ?? '');
    expect(conversation).toMatchObject({ contact: { phone: to }, unread_count: 0 });
    expect(conversation.last_message?.direction).toBe('outbound');
    const missing = herald.conversations.get(crypto.randomUUID());
    await expect(missing).rejects.toMatchObject({ code: 'CONVERSATION_NOT_FOUND', status: 404 });
  });

  it('checks a message, and sends none', async () => {
    const body: SendMessage = { connection_id: sender.connection.id, to, type: 'text', text: { body: 'Checked' } };
    const checked = await herald.messages.check(body);
    expect(checked).toMatchObject({ sendable: true, rendered: { body: 'Checked' }, window: { open: true } });
    const { sendable, problems } = await herald.messages.check({ ...body, to: '15559990001' });
    expect([sendable, problems.map(({ code }) => code)]).toEqual([false, ['SERVICE_WINDOW_CLOSED']]);
    for await (const { body: text } of herald.messages.list({ to })) expect(text).not.toBe('Checked');
  });

  it('sends a batch, and repeats it without sending anything twice', async () => {
    const messages = ['One', 'Two'].map((text) => ({
      connection_id: sender.connection.id,
      to,
      type: 'text' as const,
      text: { body: text },
      idempotency_key: crypto.randomUUID(),
    }));
    const first = await herald.messages.sendBatch({ messages });
    expect(first.data.map(({ index, replayed }) => [index, replayed])).toEqual([
      [0, false],
      [1, false],
    ]);
    const { idempotency_key: _key, ...unkeyed } = messages[0] as (typeof messages)[number];
    const again = await herald.messages.sendBatch({
      messages: [...messages, unkeyed, { ...unkeyed, to: '15559990000' }],
      validation: 'permissive',
    });
    expect(again.data.map(({ id }) => id).slice(0, 2)).toEqual(first.data.map(({ id }) => id));
    expect([again.data[2]?.replayed, again.errors[0]?.code]).toEqual([false, 'SERVICE_WINDOW_CLOSED']);
    await expect(herald.messages.sendBatch({ messages: [{ ...unkeyed, to: '15559990000' }] })).rejects.toMatchObject({
      code: 'BATCH_REFUSED',
      fields: { errors: [{ index: 0, code: 'SERVICE_WINDOW_CLOSED' }] },
    });
    for (const { id } of again.data) await waitFor(async () => (await herald.messages.get(id)).status === 'read');
  });

  it('makes one message of one key, and another of each new one', async () => {
    const body: SendMessage = { connection_id: sender.connection.id, to, body: 'Once' };
    const idempotencyKey = crypto.randomUUID();
    const ids = [
      await herald.messages.send(body, { idempotencyKey }),
      await herald.messages.send(body, { idempotencyKey }),
      await herald.messages.send(body),
    ].map(({ id }) => id);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it('turns the pages of a list', async () => {
    const ids: string[] = [];
    for await (const { id, direction } of herald.messages.list({ limit: 2 })) {
      expect(direction).toBe('outbound');
      ids.push(id);
    }
    const { body } = await sender.api.get('/messages?limit=100');
    expect(ids).toEqual((body.data as { id: string }[]).map(({ id }) => id));
    expect(ids.length).toBeGreaterThan(4);
  });

  it('reads events once and in order, to their end and as they come', async () => {
    const { next } = await place('now');
    const send = async () => (await herald.messages.send({ connection_id: sender.connection.id, to, body: 'Hi' })).id;
    const first = await send();
    const listed = async () => {
      const events: WebhookEvent[] = [];
      for await (const event of herald.events.list({ after: next, limit: 2 })) events.push(event);
      return events.filter((event) => event.type === 'message.status.updated' && event.data.message_id === first);
    };
    const events = await waitFor(async () => {
      const found = await listed();
      return found.length === 4 && found;
    });
    const stop = new AbortController();
    const followed: string[] = [];
    const following = (async () => {
      const from = { after: events[1]?.cursor ?? '', types: ['message.status.updated'] as const };
      for await (const event of herald.events.follow(from, { signal: stop.signal })) {
        if (event.type === 'message.status.updated') followed.push(`${event.data.message_id} ${event.data.status}`);
      }
    })();
    await waitFor(() => followed.length >= 2);
    const second = await send();
    await waitFor(() => followed.filter((line) => line.startsWith(second)).length === 4);
    stop.abort();
    await following;
    // Two changes of one message whose transactions overlap may come in either order, each time in the same.
    const ofFirst = events.slice(2).map(({ data }) => `${first} ${(data as { status: string }).status}`);
    const ofSecond = ['accepted', 'delivered', 'read', 'sent'].map((status) => `${second} ${status}`);
    const came = followed.filter((line) => line.startsWith(first) || line.startsWith(second));
    expect(came.slice(0, 2)).toEqual(ofFirst);
    expect(came.slice(2).sort()).toEqual(ofSecond);
    await expect(herald.events.list({ after: 'yesterday' }).next()).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('rejects with the code, the invalid fields and the request id', async () => {
    // @ts-expect-error a text has a body, not words: the compiler says so before Herald does
    const wrong: SendMessage = { connection_id: sender.connection.id, to, type: 'text', text: { words: 'Hello' } };
    const error: unknown = await herald.messages.send(wrong).catch((reason: unknown) => reason);
    if (!isHeraldError(error, 'VALIDATION_FAILED')) throw new Error('it was taken', { cause: error });
    const code: 'VALIDATION_FAILED' = error.code;
    expect([code, error.status, error.docUrl]).toEqual([code, 422, `${test.baseUrl}/docs/errors#${code}`]);
    expect(error.details.map(({ field }) => field)).toContain('text.body');
    expect(error.requestId).not.toBe('');
    for (const part of [error.text, error.details[0]?.message, code, error.requestId])
      expect(error.message).toContain(part);
    expect(error.message.startsWith(error.text)).toBe(true);
    expect(isHeraldError(error, 'RATE_LIMITED')).toBe(false);
    await expect(herald.messages.get(crypto.randomUUID())).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND' });
    const stranger = createHeraldClient({ baseUrl: test.baseUrl, apiKey: 'hrld_live_wrong' });
    await expect(stranger.connections.list()).rejects.toMatchObject({ code: 'API_KEY_INVALID', status: 401 });
  });

  it('keeps files, templates, profile and webhook', async () => {
    const { id } = sender.connection;
    const file = new Blob(['Soup, bread, coffee\n'], { type: 'text/plain' });
    const media = await herald.media.upload({ connection_id: id, file, filename: 'menu.txt', type: 'document' });
    const former = await herald.media.upload({ connectionId: id, file, filename: 'menu.txt', type: 'document' });
    await herald.media.remove(former.id);
    // @ts-expect-error the number is missing: the compiler says so before Herald does
    await expect(herald.media.upload({ file, filename: 'menu.txt' })).rejects.toThrow('connection_id is missing');
    expect(media).toMatchObject({ filename: 'menu.txt', size_bytes: 20, type: 'document' });
    const link = await herald.media.link(media.id);
    expect(await (await fetch(link.url)).text()).toBe('Soup, bread, coffee\n');
    for await (const known of herald.media.list()) expect(known.id).toBe(media.id);
    await herald.media.remove(media.id);

    const names = (await herald.templates.list(id)).map(({ name }) => name);
    expect(names).toContain('order_update');
    const each: string[] = [];
    for await (const { name } of herald.templates.list(id, { limit: 1 })) each.push(name);
    expect(each.sort()).toEqual(names.sort());
    expect(await herald.templates.list(id, { limit: 1 })).toHaveLength(1);
    await expect(herald.templates.list(crypto.randomUUID())).rejects.toMatchObject({ code: 'CONNECTION_NOT_FOUND' });
    const first = await herald.templates.list(id, { limit: 1 }).page();
    const second = await herald.templates.list(id, { limit: 1 }).page(first.next);
    expect([first, second].flatMap(({ items }) => items.map(({ name }) => name)).sort()).toEqual(each.slice(0, 2));
    const numbers: string[] = [];
    for await (const connection of herald.connections.list()) numbers.push(connection.id);
    expect(numbers).toEqual([id]);
    // A count between the two calls changes what the second one answers.
    await waitFor(async () => {
      const usage: Usage = await herald.usage.get({ group_by: 'connection_id' });
      expect(await herald.usage.messages({ group_by: 'connection_id' })).toEqual(usage);
      return true;
    });
    const preview = await herald.templates.preview(id, {
      template_name: 'order_update',
      parameters: { body: ['Ana', '4711'] },
    });
    expect(preview.missing).toEqual([]);
    expect((await herald.profile.update(id, { about: 'Open until eight' })).about).toBe('Open until eight');
    await expect(herald.webhook.get()).rejects.toMatchObject({ code: 'WEBHOOK_NOT_FOUND' });
    const since = new Date(Date.now() - 60_000).toISOString();
    await expect(herald.webhook.replayMany({ since })).rejects.toMatchObject({ code: 'WEBHOOK_NOT_FOUND' });
    await expect(herald.webhook.replayState(id)).rejects.toMatchObject({ code: 'WEBHOOK_REPLAY_NOT_FOUND' });
    expect((await herald.connections.list()).map((connection) => connection.id)).toEqual([id]);
  });
});

describe('the client against faults', () => {
  let server: LocalServer;
  let seen: { url: string; key: string | undefined }[];
  let answer: RequestListener;
  const client = (maxPauseMs = 1_000) => {
    return createHeraldClient({ baseUrl: server.url, apiKey: 'k', maxPauseMs });
  };
  const taken = JSON.stringify({ data: { id: '01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e', status: 'queued' } });
  const message: SendMessage = { connection_id: crypto.randomUUID(), to: '+15550001234', body: 'Hello' };

  beforeEach(async () => {
    seen = [];
    server = await LocalServer.start((req, res) => {
      seen.push({ url: req.url ?? '', key: req.headers['idempotency-key'] as string | undefined });
      req.resume();
      req.once('end', () => answer(req, res));
    });
  });

  afterEach(() => server.stop());

  const refusal = (status: number, code: string, headers = {}) => ({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ error: { code, message: 'm', request_id: 'r', doc_url: 'd' } }),
  });

  function failing(times: number, how: ReturnType<typeof refusal> | 'cut'): void {
    answer = (req, res) => {
      if (seen.length > times) res.writeHead(202, { 'content-type': 'application/json' }).end(taken);
      else if (how === 'cut') req.socket.destroy();
      else res.writeHead(how.status, how.headers).end(how.body);
    };
  }

  it.each([
    ['429', refusal(429, 'RATE_LIMITED', { 'retry-after': '0' })],
    ['503', refusal(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' })],
    ['no answer', 'cut' as const],
  ])('sends again after %s, under the same key', async (_what, how) => {
    failing(2, how);
    expect((await client().messages.send(message)).status).toBe('queued');
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(1);
  });

  it('gives up after four tries, with the last reason', async () => {
    failing(9, 'cut');
    await expect(client().messages.send(message)).rejects.toBeInstanceOf(HeraldConnectionError);
    expect(seen).toHaveLength(4);
  });

  it('does not wait longer than it may, and says how long Herald asks for', async () => {
    failing(9, refusal(429, 'OTP_RESEND_TOO_SOON', { 'retry-after': '42' }));
    const error: unknown = await client()
      .otp.send({ to: '+15550001234' })
      .catch((reason: unknown) => reason);
    expect(isHeraldError(error, 'OTP_RESEND_TOO_SOON') && error.retryAfterSeconds).toBe(42);
    expect(seen).toHaveLength(1);
  });

  it('reads a time in Retry-After, as a proxy may write it', async () => {
    failing(1, refusal(429, 'RATE_LIMITED', { 'retry-after': new Date(Date.now() - 5_000).toUTCString() }));
    expect((await client().messages.send(message)).status).toBe('queued');
    failing(9, refusal(503, 'SERVICE_UNAVAILABLE', { 'retry-after': new Date(Date.now() + 90_000).toUTCString() }));
    seen = [];
    const error: unknown = await client()
      .connections.list()
      .catch((reason: unknown) => reason);
    const asked = isHeraldError(error) ? error.retryAfterSeconds : null;
    expect(asked).toBeGreaterThan(60);
    expect(asked).toBeLessThanOrEqual(91);
    expect(seen).toHaveLength(1);
  });

  it('repeats nothing that might happen twice', async () => {
    failing(9, 'cut');
    await expect(client().webhook.rotateSecret()).rejects.toBeInstanceOf(HeraldConnectionError);
    await expect(client().templates.remove('c', 't')).rejects.toBeInstanceOf(HeraldConnectionError);
    expect(seen).toHaveLength(2);
  });

  it('says so where something else than Herald answers', async () => {
    answer = (_req, res) => res.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not here</h1>');
    await expect(client().connections.list()).rejects.toThrow(/is baseUrl right/);
  });
});

describe('verifyWebhook', () => {
  interface Vector {
    title: string;
    valid: boolean;
    secret: string;
    /** Seconds. */
    now: number;
    headers: Record<string, string>;
    body: string;
  }
  const { vectors } = JSON.parse(readProjectFile('docs/webhook-vectors.json')) as { vectors: Vector[] };
  const realNow = Date.now;

  afterEach(() => {
    Date.now = realNow;
  });

  it.each(vectors.map((vector) => [vector.title, vector] as const))('%s', (_title, vector) => {
    Date.now = () => vector.now * 1_000;
    const { body, headers, secret, valid } = vector;
    if (valid) expect(verifyWebhook(Buffer.from(body), headers, secret)).toEqual(JSON.parse(body));
    else expect(() => verifyWebhook(body, new Headers(headers), secret)).toThrow(WebhookVerificationError);
  });

  it('takes a delivery that one of several secrets signed', () => {
    const [{ body, headers, secret, now }] = vectors.filter(({ valid }) => valid) as [Vector];
    Date.now = () => now * 1_000;
    const other = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    expect(verifyWebhook(body, headers, other, secret)).toEqual(JSON.parse(body));
    expect(() => verifyWebhook(body, headers, other)).toThrow(WebhookVerificationError);
  });
});

describe('webhookListener', () => {
  const secret = newWebhookSecret();
  let server: LocalServer;
  let onEvent: (event: WebhookEvent) => void | Promise<void>;
  const failures: unknown[] = [];

  beforeAll(async () => {
    const onError = (error: unknown): void => void failures.push(error);
    server = await LocalServer.start(
      webhookListener({ secrets: [secret], onEvent: (event) => onEvent(event), onError }),
    );
  });

  afterAll(() => server.stop());

  function deliver(body: string, signedWith = secret): Promise<Response> {
    const seconds = Math.floor(Date.now() / 1_000);
    const headers = {
      'webhook-id': 'e-1',
      'webhook-timestamp': String(seconds),
      'webhook-signature': signDelivery([signedWith], 'e-1', seconds, body),
    };
    return fetch(server.url, { method: 'POST', body, headers });
  }

  it('gives a delivery to the handler, and answers when it is through', async () => {
    const got: string[] = [];
    onEvent = async ({ type }) => {
      await Promise.resolve();
      got.push(type);
    };
    expect((await deliver('{"type":"webhook.test"}')).status).toBe(204);
    expect(got).toEqual(['webhook.test']);
    expect((await deliver('{"type":"webhook.test"}', newWebhookSecret())).status).toBe(401);
    expect((await deliver('x'.repeat(5_000_000))).status).toBe(413);
    expect(got).toHaveLength(1);
    expect(failures).toEqual([]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no table');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no table'))],
  ])('asks for the event again where the handler %s, and goes on', async (_how, fails) => {
    onEvent = fails;
    expect((await deliver('{"type":"webhook.test"}')).status).toBe(500);
    expect(failures.pop()).toEqual(new Error('no table'));
    onEvent = () => undefined;
    expect((await deliver('{"type":"webhook.test"}')).status).toBe(204);
  });
});
