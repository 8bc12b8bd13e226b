import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { sendingWorkspace } from './fixture.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
});
afterAll(async () => test?.stop());

describe('POST /messages/batch', () => {
  it('takes a hundred messages, each once, and those to one recipient leave in the order of the array', async () => {
    const world = await sendingWorkspace(test);
    const contacts = await Promise.all(Array.from({ length: 4 }, () => world.contact()));
    const messages = Array.from({ length: 100 }, (_, n) => ({
      idempotency_key: newId(),
      connection_id: world.connection.id,
      to: contacts[n % 4] ?? '',
      type: 'text',
      text: { body: `number ${n}` },
    }));
    const { status, body } = await world.api.post('/messages/batch', { messages });
    expect([status, (body as { errors?: object[] }).errors ?? []]).toEqual([202, []]);
    const data = body.data as unknown as { id: string }[];
    expect(data).toEqual(
      messages.map((_, index) => ({ index, id: expect.any(String) as string, status: 'queued', replayed: false })),
    );
    expect(new Set(data.map(({ id }) => id)).size).toBe(100);
    for (const { id } of data.slice(-4)) await world.reaches(id, 'sent', 'delivered', 'read');
    for (const [place, to] of contacts.entries()) {
      const sent = test.simulator.messages.list({ to }).map(({ body: sentBody }) => JSON.stringify(sentBody));
      const order = sent.map((one) => Number(/number (\d+)/.exec(one)?.[1]));
      expect(order).toEqual(Array.from({ length: 25 }, (_, n) => n * 4 + place));
      const times = await world.api.get(`/messages?to=${to}&limit=100`);
      const journal = (times.body.data as unknown as { body: string }[]).map((one) => one.body).toReversed();
      expect(journal).toEqual(Array.from({ length: 25 }, (_, n) => `number ${n * 4 + place}`));
    }
  });
});
