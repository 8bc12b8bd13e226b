import { newId } from '../../src/common/ids.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { envelope, notify, secondsNow } from './fixture.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
});
afterAll(() => test.stop());

describe("a customer's edit", () => {
  it('and its message in notifications at the same time are linked in every case', async () => {
    const { api, connection } = await test.sender();
    const from = testPhone();
    const start = secondsNow() - 600;
    const message = (type: string, content: object, timestamp: number) => ({
      from,
      id: `wamid.${newId()}`,
      timestamp: String(timestamp),
      type,
      [type]: content,
    });
    const text = (body: string) => ({ type: 'text', text: { body } });
    const pairs = Array.from({ length: 12 }, (_, n) => {
      const original = message('text', { body: `first ${n}` }, start);
      const edit = { original_message_id: original.id, message: text(`second ${n}`) };
      return { original, corrected: message('edit', edit, start + 60) };
    });
    const arrives = (each: object) => notify(test, envelope(connection, { messages: [each] }));
    await Promise.all(pairs.flatMap(({ original, corrected }) => [arrives(corrected), arrives(original)]));
    const shown = async ({ id }: { id: string }) => {
      const { data } = (await api.get(`/messages?meta_message_id=${encodeURIComponent(id)}`)).body;
      expect(data).toHaveLength(1);
      return data[0];
    };
    for (const [n, { original, corrected }] of pairs.entries()) {
      const { id, current } = await shown(original);
      expect(current).toMatchObject({ body: `second ${n}` });
      expect((await shown(corrected)).edits_message_id).toBe(id);
    }
  });
});
