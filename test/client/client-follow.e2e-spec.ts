import {
  createHeraldClient,
  receivedContent,
  webhookListener,
  type BatchMessage,
  type Conversation,
  type CreateTemplate,
  type CursorStore,
  type Delivery,
  type HeraldClientOptions,
  type ListPage,
  type ReceivedContent,
  type SendOtp,
  type WebhookListenerOptions,
} from '../../clients/typescript/src/index.js';
import { LocalServer, sendJson } from '../support/local-server.js';

const eventOf = (cursor: string) => ({ id: cursor, type: 'webhook.test', cursor, data: {} });

/** Keeps its place in memory, in the place of a table. */
class MemoryStore implements CursorStore {
  constructor(public cursor: string | null = null) {}
  load = (): string | null => this.cursor;
  save = (cursor: string): void => void (this.cursor = cursor);
}

describe('following events', () => {
  const asked: (string | null)[] = [];
  let answers: ((after: string | null) => unknown)[];
  let server: LocalServer;
  const stop = new AbortController();

  beforeAll(async () => {
    server = await LocalServer.start((request, response) => {
      const after = new URL(request.url ?? '', 'http://x').searchParams.get('after');
      asked.push(after);
      const answer = answers.shift()?.(after) ?? { data: [], next: after, done: true };
      if (answer === 'lost') response.destroy();
      else if (typeof answer === 'number')
        sendJson(response, answer, { error: { code: 'SERVICE_UNAVAILABLE', message: 'm', request_id: 'r' } });
      else sendJson(response, 200, answer);
    });
  });
  afterAll(() => server.stop());

  it('goes on after 503 and lost networks, behind what the store keeps, until it is stopped', async () => {
    const page = (...cursors: string[]) => ({ data: cursors.map(eventOf), next: cursors.at(-1), done: true });
    answers = [() => 503, () => 'lost', () => page('b', 'c'), () => 503, () => page('d'), () => 'lost'];
    const store = new MemoryStore('a');
    const interruptions: string[] = [];
    const herald = createHeraldClient({ baseUrl: server.url, apiKey: 'k', maxAttempts: 1 });
    const handled: string[] = [];
    const follow = { store, everyMs: 1, onInterruption: (error: Error) => void interruptions.push(error.name) };
    for await (const event of herald.events.follow(follow, { signal: stop.signal })) {
      // A program that ends here has not handled it.
      expect(store.cursor).toBe(handled.at(-1) ?? 'a');
      handled.push(event.cursor);
      if (event.cursor === 'd') stop.abort();
    }
    expect(handled).toEqual(['b', 'c', 'd']);
    expect(interruptions).toEqual(['HeraldError', 'HeraldConnectionError', 'HeraldError']);
    expect(asked.slice(0, 5)).toEqual(['a', 'a', 'a', 'c', 'c']);
  });

  it('ends with an error that no time mends', async () => {
    answers = [() => 401];
    const herald = createHeraldClient({ baseUrl: server.url, apiKey: 'k' });
    await expect(herald.events.follow().next()).rejects.toMatchObject({ status: 401 });
  });
});

describe('lists', () => {
  it('give their pages too, each with the cursor of the next', async () => {
    const places: unknown[] = [];
    const server = await LocalServer.start((request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://x');
      places.push(Object.fromEntries(searchParams));
      const isFirst = !searchParams.has('before');
      const pagination = {
        next_before: isFirst ? '2026-11-21T08:00:00.125Z' : null,
        next_before_id: isFirst ? 'm-1' : null,
      };
      sendJson(response, 200, { data: [{ id: isFirst ? 'm-1' : 'm-0' }], pagination });
    });
    const herald = createHeraldClient({ baseUrl: server.url, apiKey: 'k' });
    const list = herald.messages.list({ limit: 1 });
    const first: ListPage<{ id: string }> = await list.page();
    const second = await list.page(first.next);
    expect([first.items[0]?.id, second.items[0]?.id, second.next]).toEqual(['m-1', 'm-0', null]);
    expect(places).toEqual([{ limit: '1' }, { limit: '1', before: '2026-11-21T08:00:00.125Z', before_id: 'm-1' }]);
    const ids: string[] = [];
    for await (const { id } of list) ids.push(id);
    expect(ids).toEqual(['m-1', 'm-0']);
    await expect(list.page('x')).rejects.toThrow('`next` of a page');
    await server.stop();
  });
});

it('the types of what is sent and read are exported: that this compiles is the test', () => {
  const none: (BatchMessage | Conversation | CreateTemplate | Delivery | SendOtp)[] = [];
  expect(none).toEqual([]);
});

describe('what is missing', () => {
  const options = { baseUrl: 'https://herald.example.com', apiKey: 'k' };
  it.each([
    ['no address', { ...options, baseUrl: undefined }, 'baseUrl is missing'],
    ['half an address', { ...options, baseUrl: 'herald.example.com' }, 'no address: herald.example.com'],
    ['no key', { ...options, apiKey: undefined }, 'apiKey is missing'],
    ['an empty key', { ...options, apiKey: ' ' }, 'apiKey is missing'],
  ])('%s is said when the client is made', (_name, given, words) => {
    expect(() => createHeraldClient(given as HeraldClientOptions)).toThrow(words);
  });

  it.each([[[]], [[undefined]], [['']]])('%j as secrets is said when the listener is made', (secrets) => {
    const listener = { secrets, onEvent: () => undefined, onError: () => undefined };
    expect(() => webhookListener(listener as unknown as WebhookListenerOptions)).toThrow('secret of the webhook');
  });
});

describe('received content', () => {
  it.each<[string, Record<string, unknown>, ReceivedContent['type']]>([
    ['text', { body: 'Hi' }, 'text'],
    ['interactive', { type: 'button_reply', button_reply: { id: 'y', title: 'Yes' } }, 'interactive'],
    ['poll', { question: '?' }, 'other'],
    ['image', { errors: [{ code: 1 }] }, 'other'],
    ['toString', {}, 'other'],
  ])('%s %j is %s', (type, content, form) => {
    const received = receivedContent({ message: { type }, content });
    expect(received).toMatchObject({ type: form, content });
    if (received.type === 'other') expect(received.name).toBe(type);
    if (received.type === 'interactive') expect(received.content.button_reply?.id).toBe('y');
    expect(receivedContent({ type, content })).toEqual(received);
  });
});
