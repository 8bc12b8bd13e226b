import { newId } from '../../src/common/ids.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { bytesOf, changeOf, entries, inboundOf, leaveStored, notify, secondsNow, tryUntil } from './fixture.js';

let test: TestApp;
let sender: TestSender;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
});

afterAll(() => test.stop());

beforeEach(async () => {
  sender = await test.sender();
});

async function kept(marker: string): Promise<{ state: string; unread: string[] | null }[]> {
  return test.database.query(
    'select state, unread from platform_notification where position($1::bytea in body) > 0 order by id',
    [Buffer.from(marker)],
  );
}

describe('what Herald does not know or use', () => {
  it('costs nothing else of its notification, and is named once', async () => {
    const marker = newId();
    const text = {
      from: testPhone(),
      id: marker,
      timestamp: String(secondsNow()),
      type: 'text',
      text: { body: 'oi' },
      mood: 1,
    };
    const hologram = { ...text, id: newId(), type: 'hologram', hologram: {} };
    const value = { messages: [text, { ...text, id: newId() }, hologram], hologram_actions: [] };
    await notify(test, entries([{ id: sender.connection.wabaId, changes: [changeOf(sender.connection, value)] }]));
    expect(await inboundOf(test, sender.connection)).toHaveLength(3);
    expect(await kept(marker)).toEqual([
      {
        state: 'applied',
        unread: ['messages.hologram_actions', 'messages.messages.mood', 'messages.messages[hologram]'],
      },
    ]);
  });

  it('is named by the sweep too, and nothing is where all is known', async () => {
    const [left, plain] = [newId(), newId()];
    const payload = (marker: string, field: string) =>
      entries([{ id: sender.connection.wabaId, changes: [{ field, value: { marker } }] }]);
    await leaveStored(test, newId(), bytesOf(payload(left, 'holograms')));
    await tryUntil(test, left, ['applied']);
    expect(await kept(left)).toEqual([{ state: 'applied', unread: ['holograms'] }]);
    await notify(test, payload(plain, 'security'));
    expect(await kept(plain)).toEqual([{ state: 'applied', unread: null }]);
  });
});
