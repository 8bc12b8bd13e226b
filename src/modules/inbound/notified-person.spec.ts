import { parseWebhookPayload } from '../../infrastructure/whatsapp/webhook-payload.js';
import { personOf } from './notified-person.js';

const PHONE = '4915550001111';
const USER = 'DE.12345';

function of(value: object, field = 'messages'): ReturnType<typeof personOf> {
  const metadata = { display_phone_number: '493012345', phone_number_id: '106500000000001' };
  const change = { field, value: { messaging_product: 'whatsapp', metadata, ...value } };
  return personOf(
    parseWebhookPayload({ object: 'whatsapp_business_account', entry: [{ id: '20650', changes: [change] }] }),
  );
}

const status = (change: object = {}): object => ({
  id: 'wamid.1',
  status: 'read',
  timestamp: '1760000000',
  recipient_id: PHONE,
  ...change,
});
const text = (change: object = {}): object => ({
  from: PHONE,
  id: 'wamid.2',
  timestamp: '1760000000',
  type: 'text',
  text: { body: 'my friend has +4915550002222' },
  ...change,
});
const contact = { profile: { name: 'Ana' }, wa_id: PHONE, user_id: USER };

describe('personOf', () => {
  it.each<[string, object, { number: string | null; userId: string | null }]>([
    ['of a status', { statuses: [status()] }, { number: PHONE, userId: null }],
    ['of statuses to one', { statuses: [status(), status({ status: 'sent' })] }, { number: PHONE, userId: null }],
    [
      'of a status to a user id',
      { statuses: [status({ recipient_id: undefined, recipient_user_id: USER })] },
      { number: null, userId: USER },
    ],
    ['of what a contact wrote', { contacts: [contact], messages: [text()] }, { number: PHONE, userId: USER }],
    [
      'in two spellings',
      { contacts: [{ wa_id: '5215512345678' }], messages: [text({ from: '525512345678' })] },
      { number: '525512345678', userId: null },
    ],
  ])('%s: their names', (_what, value, person) => {
    expect(of(value)).toEqual(person);
  });

  it.each<[string, object]>([
    ['statuses to two', { statuses: [status(), status({ recipient_id: '4915550002222' })] }],
    ['a contact beside the one who wrote', { contacts: [contact, { wa_id: '4915550002222' }], messages: [text()] }],
    ['a participant of a group', { statuses: [status({ recipient_participant_id: '4915550002222' })] }],
    ['what was said in a group', { messages: [text({ group_id: 'group' })] }],
    [
      'a change of number',
      { messages: [text({ type: 'system', system: { type: 'user_changed_number', wa_id: '4915550002222' } })] },
    ],
    [
      'cards of contacts',
      { messages: [text({ type: 'contacts', contacts: [{ phones: [{ phone: '4915550002222' }] }] })] },
    ],
    ['a name that is not known', { statuses: [status({ hologram: '4915550002222' })] }],
    ['errors beside it', { statuses: [status()], errors: [{ code: 1 }] }],
    ['no one', {}],
  ])('%s: null', (_what, value) => {
    expect(of(value)).toBeNull();
  });

  it('of another field: null', () => {
    expect(of({ calls: [{ id: '1', from: PHONE, event: 'connect' }] }, 'calls')).toBeNull();
  });
});
