import { randomUUID } from 'node:crypto';
import { ContactsService } from '../../src/modules/conversations/contacts/contacts.service.js';
import { HistoryImportService } from '../../src/modules/inbound/history-import.service.js';
import { OptOutsService } from '../../src/modules/opt-outs/opt-outs.service.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { entries, notify, secondsNow } from '../inbound/fixture.js';
import { testPhone } from '../support/factories.js';
import { WEBHOOK_EVENTS } from '../../src/modules/webhook/webhook.types.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { rowsWith } from './traces.js';

let test: TestApp;
let own: TestSender;

beforeAll(async () => {
  test = await startTestApp({ env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' } });
  own = await test.sender();
  const body = { url: 'http://127.0.0.1:9/hook', active: false, events: WEBHOOK_EVENTS };
  const answer = await own.api.request({ method: 'PUT', path: '/webhook', body });
  expect(answer.body.error).toBeUndefined();
});
afterAll(async () => test?.stop());

/** A contact who was written to and wrote, and is erased. */
interface Person {
  phone: string;
  userId: string;
  name: string;
  text: string;
  conversationId: string;
  message: { id: string; attemptId: string | null; metaMessageId: string | null };
}

const wamid = (phone: string) => `wamid.${Buffer.from(`${phone}${randomUUID()}`).toString('base64')}`;

function change(field: string, value: object): object {
  const { phoneNumber, phoneNumberId, wabaId } = own.connection;
  const metadata = { display_phone_number: phoneNumber, phone_number_id: phoneNumberId };
  return entries([{ id: wabaId, changes: [{ field, value: { messaging_product: 'whatsapp', metadata, ...value } }] }]);
}

async function live(): Promise<Person> {
  const { connection } = own;
  const phone = testPhone();
  const person = { phone, userId: `DE.${phone}`, name: `Ana ${phone}`, text: `I am ${phone}` };
  await notify(test, writes(person));
  const find = () =>
    test.database.find<{ id: string }>('select id from conversation where connection_id = $1 and wa_id = $2', [
      connection.id,
      phone,
    ]);
  await waitFor(async () => (await find()) !== null);
  const conversationId = (await find())?.id ?? '';
  const message = await test.factories.message({ connection, conversationId, recipient: phone, status: 'sent' });
  await test.database.execute('update message_state set meta_message_id = $2 where message_id = $1', [
    message.id,
    wamid(phone),
  ]);
  return { ...person, conversationId, message };
}

const writes = ({ phone, userId, name, text }: Omit<Person, 'conversationId' | 'message'>) =>
  change('messages', {
    contacts: [{ wa_id: phone, user_id: userId, profile: { name } }],
    messages: [
      {
        from: phone,
        from_user_id: userId,
        id: wamid(phone),
        timestamp: String(secondsNow()),
        type: 'text',
        text: { body: text },
      },
    ],
  });

const status = ({ phone, userId, name, message }: Person, word: string, given: object = {}) =>
  change('messages', {
    contacts: [{ wa_id: phone, user_id: userId, profile: { name } }],
    statuses: [
      {
        id: wamid(phone),
        status: word,
        timestamp: String(secondsNow()),
        recipient_id: phone,
        recipient_user_id: userId,
        biz_opaque_callback_data: `${message.id}.${message.attemptId}`,
        ...given,
      },
    ],
  });

const failure = (person: Person, code: number) => ({
  errors: [{ code, title: `Not sent to ${person.phone}`, error_data: { details: `${person.name} is not there` } }],
});

/** Not a message: what is said about one, or about the contact. */
const system = ({ phone, userId, name }: Person, given: object) =>
  change('messages', {
    contacts: [{ wa_id: phone, user_id: userId, profile: { name } }],
    messages: [{ from: phone, from_user_id: userId, id: wamid(phone), timestamp: String(secondsNow()), ...given }],
  });

const preference = ({ phone, userId, name }: Person, value: string) =>
  change('user_preferences', {
    contacts: [{ wa_id: phone, user_id: userId, profile: { name } }],
    user_preferences: [
      {
        wa_id: phone,
        user_id: userId,
        detail: `${name} chose ${value}`,
        category: 'marketing_messages',
        value,
        timestamp: secondsNow(),
      },
    ],
  });

const handover = ({ phone, userId, name }: Person, type: string, at = secondsNow()) =>
  change('messaging_handovers', {
    recipient: { phone_number_id: own.connection.phoneNumberId },
    sender: { phone_number: phone, user_id: userId },
    contacts: [{ wa_id: phone, user_id: userId, profile: { name } }],
    timestamp: String(at),
    type,
    [type]: { metadata: `ask ${name}`, conversation_context: { summary: `${name} asked` } },
  });

const codes = [130472, 131026, 131047, 131048, 131049, 131050, 131053, 470, 999999];
const odd = ({ phone, name }: Person) => ({ display_phone_number: phone, verified_name: name, requester: name });

const KINDS: [kind: string, notification: (person: Person) => object | Promise<unknown>][] = [
  ...['sent', 'delivered', 'read', 'played', 'failed', 'warmed_up'].map((word): (typeof KINDS)[number] => [
    `the status ${word}`,
    (person) => status(person, word),
  ]),
  ...codes.map((code): (typeof KINDS)[number] => [
    `a failure ${code}`,
    (person) => status(person, 'failed', failure(person, code)),
  ]),
  ...[131026, 131050].map((code): (typeof KINDS)[number] => [
    `a failure ${code} of a message that is not known`,
    (person) => status(person, 'failed', { ...failure(person, code), biz_opaque_callback_data: undefined }),
  ]),
  [
    'a status with a price',
    (person) => status(person, 'sent', { pricing: { billable: true, category: 'utility', type: 'regular' } }),
  ],
  ['the preference stop', (person) => preference(person, 'stop')],
  ['the preference resume', (person) => preference(person, 'resume')],
  [
    'a change of number',
    (person) =>
      system(person, {
        type: 'system',
        system: {
          type: 'user_changed_number',
          body: `${person.name} has another number`,
          wa_id: `${person.phone}9`,
          user_id: `${person.userId}9`,
        },
      }),
  ],
  [
    'a change of number to the one that was erased',
    (person) =>
      system(
        { ...person, phone: testPhone(), userId: `DE.${testPhone()}` },
        { type: 'system', system: { type: 'user_changed_number', wa_id: person.phone, user_id: person.userId } },
      ),
  ],
  [
    'a change of the user id',
    (person) =>
      system(person, {
        type: 'system',
        system: { type: 'user_changed_user_id', previous_user_id: person.userId, user_id: `${person.userId}9` },
      }),
  ],
  [
    'another identity',
    (person) =>
      system(person, {
        type: 'system',
        system: { type: 'customer_identity_changed', identity: 'x', customer: person.phone },
      }),
  ],
  [
    'a correction',
    (person) =>
      system(person, {
        type: 'edit',
        edit: { original_message_id: 'wamid.1', message: { type: 'text', text: { body: person.text } } },
      }),
  ],
  ['a withdrawal', (person) => system(person, { type: 'revoke', revoke: { original_message_id: 'wamid.1' } })],
  ['control that was passed', (person) => handover(person, 'control_passed')],
  ['control that was taken', (person) => handover(person, 'control_taken')],
  [
    'a message that was sent in the app before',
    ({ phone, userId, text }) =>
      change('smb_message_echoes', {
        message_echoes: [
          {
            from: own.connection.phoneNumber,
            to: phone,
            to_user_id: userId,
            id: wamid(phone),
            timestamp: String(secondsNow() - 60),
            type: 'text',
            text: { body: text },
          },
        ],
      }),
  ],
  [
    'the history of the app',
    async ({ phone, userId, text }) => {
      const past = (from: string, beside: object) => ({
        from,
        id: wamid(phone),
        timestamp: String(secondsNow() - 600),
        type: 'text',
        text: { body: text },
        ...beside,
      });
      const messages = [
        past(phone, { from_user_id: userId }),
        past(own.connection.phoneNumber, { to: phone, history_context: { status: 'READ' } }),
      ];
      await notify(
        test,
        change('history', {
          history: [{ metadata: { phase: 0, chunk_order: 1, progress: 100 }, threads: [{ id: phone, messages }] }],
        }),
      );
      const sum = await test.app.get(HistoryImportService, { strict: false }).run(own.workspace.id, own.connection.id);
      expect(sum.found).toBeGreaterThan(1);
    },
  ],
  [
    'the address book of the app',
    ({ phone, userId, name }) =>
      change('smb_app_state_sync', {
        state_sync: [
          {
            type: 'contact',
            contact: { full_name: name, first_name: name, phone_number: phone, user_id: userId },
            action: 'add',
            metadata: { timestamp: String(secondsNow()) },
          },
        ],
      }),
  ],
  [
    'a call that ended',
    ({ phone, userId }) =>
      change('calls', {
        calls: [
          {
            id: 'wacid.1',
            from: phone,
            from_user_id: userId,
            event: 'terminate',
            timestamp: String(secondsNow()),
            direction: 'USER_INITIATED',
          },
        ],
      }),
  ],
  ['trouble without a message', (person) => change('messages', failure(person, 131000))],
  [
    'news of a template',
    (person) =>
      change('message_template_status_update', {
        event: 'REJECTED',
        message_template_id: 1,
        message_template_name: person.name,
        message_template_language: 'en',
        reason: person.text,
      }),
  ],
  [
    'news of the number',
    (person) =>
      change('phone_number_name_update', { ...odd(person), decision: 'REJECTED', rejection_reason: person.text }),
  ],
  [
    'news of its quality',
    (person) => change('phone_number_quality_update', { ...odd(person), event: 'UPGRADE', current_limit: 'TIER_1K' }),
  ],
  ['news of the account', (person) => change('account_update', { ...odd(person), event: 'VERIFIED_ACCOUNT' })],
  ['news of its security', (person) => change('security', { ...odd(person), event: 'PIN_CHANGED' })],
  ['a field that is not known', (person) => change('something_new', { ...odd(person), wa_id: person.phone })],
  [
    'the answer to a send, that it was refused',
    ({ phone, userId }) =>
      test.app
        .get(OptOutsService, { strict: false })
        .noteRefusal({ organizationId: own.workspace.id, connectionId: own.connection.id, phone, userId }),
  ],
  [
    'the answer to a send, with the spelling of the number',
    ({ conversationId, phone, userId }) =>
      test.app.get(ContactsService, { strict: false }).adopt({ conversationId, waId: phone, userId }),
  ],
];

/** Tables that name one of the people, but for notifications as they came, which are kept for a time. */
async function naming(...people: Person[]): Promise<string[]> {
  const texts = people.flatMap(({ phone, userId, name, text }) => [phone, userId, name, text]);
  const tables = await rowsWith(test.database, texts);
  return tables.filter((table) => table !== 'public.platform_notification' && table !== 'public.contact_book_removal');
}

const settled = () =>
  waitFor(async () => {
    const rows = await test.database.query(
      `select from platform_notification n where n.state = 'stored' and not exists (
         select from notification_queue q where q.notification_id = n.id and q.due_at > clock_timestamp())`,
    );
    return rows.length === 0;
  });

const erase = (person: Person) => test.app.get(Erasure).erase(own.workspace.id, person.phone);
const late = async (report: object | Promise<unknown>): Promise<void> => {
  if (report instanceof Promise) await report;
  else await notify(test, report);
};

describe('what is reported of a person who was erased names nobody', () => {
  it.each(KINDS)('%s', async (_kind, reportOf) => {
    const person = await live();
    await settled();
    expect(await naming(person)).toContain('public.conversation');
    await erase(person);
    expect(await naming(person)).toEqual([]);
    await late(reportOf(person));
    await settled();
    expect(await naming(person)).toEqual([]);
  });

  it('and the stop is kept', async () => {
    const person = await live();
    await erase(person);
    await late(status(person, 'failed', failure(person, 131050)));
    await settled();
    const { phone: recipient } = person;
    const [found] = await test.app
      .get(OptOutsService, { strict: false })
      .find([{ organizationId: own.workspace.id, connectionId: own.connection.id, recipient, conversationId: null }]);
    expect(found).toMatchObject({ marketing: { source: 'platform' } });
    expect((await own.api.get(`/opt-outs?to=%2B${recipient}`)).body.data).toEqual([]);
    expect(await naming(person)).toEqual([]);
  });

  it('until they write again: then they are a new contact, of whom everything is told', async () => {
    const person = await live();
    await erase(person);
    await notify(test, writes({ ...person, text: 'Again' }));
    await late(preference(person, 'stop'));
    // The platform's times are whole seconds: this one is after the erasure in any case.
    await late(handover(person, 'control_passed', secondsNow() + 1));
    await settled();
    const tables = await naming(person);
    for (const table of ['conversation', 'message', 'opt_out', 'webhook_event'])
      expect(tables).toContain(`public.${table}`);
    const [contact] = await test.database.query(
      'select handover_to from conversation where connection_id = $1 and wa_id = $2',
      [own.connection.id, person.phone],
    );
    expect(contact).toEqual({ handover_to: 'you' });
    // What is of before stays erased.
    const before = await rowsWith(test.database, [person.text]);
    expect(before.filter((table) => table !== 'public.platform_notification')).toEqual([]);
  });
});
