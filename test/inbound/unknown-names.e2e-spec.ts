import { newId } from '../../src/common/ids.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import {
  bytesOf,
  changeOf,
  counter,
  entries,
  inboundOf,
  leaveStored,
  notify,
  secondsNow,
  tryUntil,
} from './fixture.js';

let test: TestApp;
let sender: TestSender;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
});

afterAll(() => test.stop());

beforeEach(async () => {
  sender = await test.sender();
});

const METADATA = () => ({
  messaging_product: 'whatsapp',
  metadata: { display_phone_number: sender.connection.phoneNumber, phone_number_id: sender.connection.phoneNumberId },
});

async function kept(marker: string): Promise<{ state: string; unread: string[] | null }[]> {
  return test.database.query(
    'select state, unread from platform_notification where position($1::bytea in body) > 0 order by id',
    [Buffer.from(marker)],
  );
}

describe('what Herald does not know or use', () => {
  it.each<[string, string, (marker: string) => object]>([
    ['a new field', 'holograms', (marker) => ({ field: 'holograms', value: { marker } })],
    [
      'an echo of another app',
      'standby.message_echoes',
      (marker) => ({
        field: 'standby',
        value: {
          ...METADATA(),
          standby: {
            message_echoes: [
              { id: marker, timestamp: '1', message: { to: '34600', type: 'text', text: { body: 'x' } } },
            ],
          },
        },
      }),
    ],
    [
      'a status of another app',
      'standby.statuses',
      (marker) => ({
        field: 'standby',
        value: { ...METADATA(), standby: { statuses: [{ id: marker, status: 'sent', timestamp: '1' }] } },
      }),
    ],
    [
      'a new kind of preference',
      'user_preferences[snooze]',
      (marker) => ({
        field: 'user_preferences',
        value: {
          ...METADATA(),
          contacts: [{ profile: { name: 'A' }, wa_id: '34600', user_id: 'ES.1' }],
          user_preferences: [
            {
              wa_id: '34600',
              detail: marker,
              category: 'marketing_messages',
              value: 'snooze',
              timestamp: 1_790_000_000,
            },
          ],
        },
      }),
    ],
    [
      'the state of the app',
      'smb_app_state_sync',
      (marker) => ({
        field: 'smb_app_state_sync',
        value: {
          ...METADATA(),
          state_sync: [
            {
              type: 'contact',
              contact: { full_name: marker, phone_number: '34600' },
              action: 'add',
              metadata: { timestamp: '1' },
            },
          ],
        },
      }),
    ],
    [
      'history',
      'history',
      (marker) => ({
        field: 'history',
        value: {
          ...METADATA(),
          history: [
            {
              metadata: { phase: 0, chunk_order: 1, progress: 55 },
              threads: [
                {
                  id: '34600',
                  messages: [{ from: '34600', to: '1', id: marker, timestamp: '1', type: 'text', text: { body: 'x' } }],
                },
              ],
            },
          ],
        },
      }),
    ],
    [
      'what a person did with a marketing message',
      'messages.user_actions',
      (marker) =>
        changeOf(sender.connection, {
          user_actions: [
            {
              action_type: 'marketing_messages_link_click',
              timestamp: '1',
              marketing_messages_link_click_data: { click_component: 'cta', click_id: marker },
            },
          ],
        }),
    ],
    [
      'a new kind of status',
      'messages.statuses[warmed_up]',
      (marker) => changeOf(sender.connection, { statuses: [{ id: marker, status: 'warmed_up', timestamp: '1' }] }),
    ],
    [
      'a new event of an account',
      'account_update[MOVED]',
      (marker) => ({ field: 'account_update', value: { event: 'MOVED', marker } }),
    ],
  ])('%s is kept with its notification, by name, and counted', async (_what, name, change) => {
    const marker = newId();
    const isNew = /holograms|warmed_up|MOVED|snooze/.test(name);
    const counted = isNew ? 'notifications_unknown' : 'notifications_unused';
    const before = counter(test, counted);
    await notify(test, entries([{ id: sender.connection.wabaId, changes: [change(marker)] }]));
    expect(await kept(marker)).toEqual([{ state: 'applied', unread: [name] }]);
    expect(counter(test, counted)).toBe(before + 1);
  });

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
