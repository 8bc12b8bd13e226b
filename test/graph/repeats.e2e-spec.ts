import { jest } from '@jest/globals';
import { databaseClock } from '../../src/common/clock.js';
import { newId } from '../../src/common/ids.js';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { GraphClient } from './fixture.js';

let test: TestApp;
let client: GraphClient;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
  client = new GraphClient(test, await test.sender());
});

afterEach(() => jest.restoreAllMocks());
afterAll(() => test?.stop());

const text = (to: string, body = 'Hello') => ({ to, type: 'text', text: { body } });

describe('a repeat with a key', () => {
  it('is the same message, now and later, and the same key of POST /messages too', async () => {
    const to = await client.contact();
    const key = newId();
    const id = await client.taken(text(to), { 'idempotency-key': key });
    const again = await client.send(text(to), { 'idempotency-key': key });
    expect(again.body.messages).toEqual([{ id }]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const own = { connection_id: client.sender.connection.id, ...text(to) };
    const answer = await client.sender.api.post('/messages', own, { headers: { 'idempotency-key': key } });
    expect(answer.body.data.id).toBe(id);
    // Another key, another message, however equal they are.
    expect(await client.taken(text(to), { 'idempotency-key': newId() })).not.toBe(id);
  });

  it('is refused for another message, and where the key is no UUID', async () => {
    const to = await client.contact();
    const key = newId();
    await client.taken(text(to), { 'idempotency-key': key });
    const other = await client.send(text(to, 'Other'), { 'idempotency-key': key });
    expect([other.status, other.body.error?.error_data.herald_code]).toEqual([400, 'IDEMPOTENCY_KEY_REUSED']);
    const none = await client.send(text(to), { 'idempotency-key': 'my-key' });
    expect([none.status, none.body.error?.error_data.herald_code]).toEqual([400, 'IDEMPOTENCY_KEY_INVALID']);
  });
});

describe('a repeat without a key', () => {
  const MINUTE_MS = 60_000;

  /** Begins ten seconds before the next minute of the clock; returns what moves it ahead. */
  function clockBeforeTheMinute(): (ms: number) => void {
    const now = databaseClock.now.bind(databaseClock);
    let ahead = (2 * MINUTE_MS - 10_000 - (now() % MINUTE_MS)) % MINUTE_MS;
    jest.spyOn(databaseClock, 'now').mockImplementation(() => now() + ahead);
    return (ms) => (ahead += ms);
  }

  it('is the same message within a minute, across the minutes of the clock, and a new one after it', async () => {
    const pass = clockBeforeTheMinute();
    const to = await client.contact();
    const first = await client.send(text(to));
    const id = first.body.messages?.[0]?.id;
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    const reordered = { text: { body: 'Hello', preview_url: false }, to: `+${to}` };
    for (const again of [text(to), reordered]) {
      pass(15_000);
      const answer = await client.send(again);
      expect(answer.body.messages).toEqual([{ id }]);
      expect(answer.headers.get('idempotency-replayed')).toBe('true');
    }
    pass(MINUTE_MS - 30_000 + 1_000);
    const later = await client.taken(text(to));
    expect(later).not.toBe(id);
    pass(30_000);
    expect(await client.taken(text(to))).toBe(later);
  });

  it('differs by recipient, content and callback data, and is one message of many at once', async () => {
    const [to, other] = [await client.contact(), await client.contact()];
    const ids = [
      await client.taken(text(to)),
      await client.taken(text(other)),
      await client.taken(text(to, 'Other')),
      await client.taken({ ...text(to), biz_opaque_callback_data: 'a' }),
      await client.taken({ ...text(to), biz_opaque_callback_data: 'b' }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    const atOnce = await Promise.all(Array.from({ length: 10 }, () => client.taken(text(to, 'at once'))));
    expect(new Set(atOnce).size).toBe(1);
    await client.reaches(atOnce[0] ?? '', 'read');
    const bodies = test.simulator.messages.list({ to }).map(({ body }) => JSON.stringify(body));
    expect(bodies.filter((body) => body.includes('at once'))).toHaveLength(1);
  });

  it('is tried again where the first was refused', async () => {
    const phone = await client.contact();
    const numbers = test.app.get(ConnectionsService, { strict: false });
    const { organizationId, id } = client.sender.connection;
    await numbers.setStatus(organizationId, id, 'pending');
    expect((await client.send(text(phone))).body.error?.error_data.herald_code).toBe('CONNECTION_NOT_READY');
    await numbers.setStatus(organizationId, id, 'connected');
    await client.taken(text(phone));
  });
});
