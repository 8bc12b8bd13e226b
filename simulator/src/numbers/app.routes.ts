import { numberOf } from '../control/control.routes.js';
import { withFile } from '../control/inbound.routes.js';
import { invalidParam } from '../graph-error.js';
import { type Call, control, type Route } from '../http/call.js';
import { isObject, type JsonObject } from '../http/param.js';
import { digitsOf, isNamedByUserId, partyOf } from '../people.js';
import type { Platform } from '../platform.js';
import type { AppHistory } from './numbers.js';
import type { SimulatorNumber } from '../simulator.types.js';

const MAX_TEXT = 4_096;
const MAX_CONTACTS = 50;
const MAX_MESSAGES = 500;
const LATEST_TIME = 10_000_000_000;
const STATUSES = ['sent', 'delivered', 'read', 'failed'];
/** Below every message of a history, so that a repeated one has the same ids, and no other message has them. */
const HISTORY_SEQUENCE = 900_000_000;
const DAY_SECONDS = 86_400;
const HISTORY_DAYS = 180;
const DECLINED = {
  code: 2593109,
  title: 'History sharing is turned off by the business from the WhatsApp Business App',
  message: 'History sharing is turned off by the business from the WhatsApp Business App',
  error_data: { details: 'History sharing is turned off by the business from the WhatsApp Business App' },
};

/** A number in the WhatsApp Business app: the business's actions there, and the call that requests its data. */
export function appRoutes(platform: Platform): Route[] {
  const { number } = platform.nodes;
  return [
    number.on('post', '/smb_app_data', (sender, call) => share(platform, sender, call)),
    control('post', '/numbers/:id/app', (call) => actInApp(platform, call)),
  ];
}

/** Each kind may be requested once; the data comes by notifications. */
async function share(platform: Platform, number: SimulatorNumber, call: Call): Promise<object> {
  const { numbers, ids } = platform;
  const { phoneNumberId } = number;
  const { param } = call;
  param.product();
  const kind = param.oneOf('sync_type', ['smb_app_state_sync', 'history']);
  if (numbers.factsOf(phoneNumberId).onBizApp !== 'YES') {
    throw invalidParam('The number is not in the WhatsApp Business app.');
  }
  const { shared = [], appHistory = {} } = numbers.stateOf(phoneNumberId);
  if (shared.includes(kind)) throw invalidParam(`${kind} was asked for already; it can be asked for once.`);
  numbers.setState(phoneNumberId, { shared: [...shared, kind] });
  if (kind === 'history') await announceHistory(platform, number, call, appHistory);
  else for (const party of partiesOf(appHistory.contacts)) announceContact(platform, number, party, 'add');
  return { messaging_product: 'whatsapp', request_id: ids.newObjectId() };
}

/** The business writes, changes a contact, or shares its history in the app; from then on the number is in the app. */
async function actInApp(platform: Platform, call: Call): Promise<object> {
  const { numbers } = platform;
  const number = numberOf(numbers, call.pathParam('id'));
  const { param } = call;
  const action = param.oneOf('action', ['send', 'contact', 'history']);
  const { phoneNumberId } = number;
  if (numbers.factsOf(phoneNumberId).onBizApp !== 'YES') numbers.change(phoneNumberId, { onBizApp: 'YES' });
  if (action === 'send') return sendInApp(platform, number, call);
  if (action === 'contact') {
    const party = partyOf(param.text('to', 100));
    const change = param.optionalOneOf('change', ['add', 'remove']) ?? 'add';
    announceContact(platform, number, party, change, param.optionalText('name', 200));
    return { success: true, to: party, change };
  }
  const history = {
    contacts: param.optionalNumber('contacts', 0, MAX_CONTACTS),
    messages: param.optionalNumber('messages', 1, MAX_MESSAGES),
    declined: param.flag('declined'),
  };
  numbers.setState(phoneNumberId, { appHistory: history });
  return {
    success: true,
    messages: param.flag('notify', true) ? await announceHistory(platform, number, call, history) : 0,
  };
}

async function sendInApp(platform: Platform, number: SimulatorNumber, call: Call): Promise<object> {
  const { ids, people } = platform;
  const { param } = call;
  const party = partyOf(param.text('to', 100));
  const timestamp = String(param.optionalNumber('time', 0, LATEST_TIME) ?? Math.floor(Date.now() / 1000));
  const text = param.optionalText('text', MAX_TEXT) ?? 'We are open until eight.';
  const statuses = param.optionalTexts('statuses', 10, (one) => STATUSES.includes(one), STATUSES.join(', '));
  const given = param.get('message').value ?? { type: 'text', text: { body: text } };
  if (!isObject(given)) throw invalidParam('"message" must be a message object.');
  const id = param.optionalText('id', 512) ?? ids.outboundWamid(ids.nextSequence(), party);
  const message = (await withFile(platform, call, number.phoneNumberId, given)) as JsonObject;
  const to = isNamedByUserId(party) ? { to_user_id: party } : { to: party, to_user_id: people.userIdOf(party) };
  const echo = { from: digitsOf(number.displayPhoneNumber), ...to, ...message, id, timestamp };
  announce(platform, number, 'smb_message_echoes', { message_echoes: [echo] });
  for (const status of statuses ?? ['sent', 'delivered', 'read']) {
    const recipient = isNamedByUserId(party)
      ? { recipient_user_id: party }
      : { recipient_id: party, recipient_user_id: people.userIdOf(party) };
    const errors = status === 'failed' ? [{ code: 131026, title: 'Message undeliverable' }] : undefined;
    announce(platform, number, 'messages', { statuses: [{ id, status, timestamp, ...recipient, errors }] });
  }
  return { success: true, id, timestamp, message: echo };
}

function announceContact(
  platform: Platform,
  number: SimulatorNumber,
  party: string,
  action: 'add' | 'remove',
  given?: string,
): void {
  const name = given ?? platform.people.profileNameOf(party);
  const contact = { full_name: name, first_name: name.split(' ')[0], phone_number: party };
  const metadata = { timestamp: String(Math.floor(Date.now() / 1000)) };
  announce(platform, number, 'smb_app_state_sync', { state_sync: [{ type: 'contact', contact, action, metadata }] });
}

/** In WhatsApp's form: in phases, and a message's file in a separate notification. Returns how many messages it has. */
async function announceHistory(
  platform: Platform,
  number: SimulatorNumber,
  call: Call,
  { contacts, messages = 6, declined = false }: AppHistory,
): Promise<number> {
  if (declined) {
    announce(platform, number, 'history', { history: [{ errors: [DECLINED] }] });
    return 0;
  }
  const { ids } = platform;
  const now = Math.floor(Date.now() / 1000);
  const own = digitsOf(number.displayPhoneNumber);
  const threads = partiesOf(contacts).map((party, thread) =>
    Array.from({ length: messages }, (_, index) => {
      const isOwn = index % 2 === 0;
      const sequence = HISTORY_SEQUENCE + thread * MAX_MESSAGES + index;
      const ageSeconds = Math.floor((index / messages) * HISTORY_DAYS * DAY_SECONDS) + 3_600;
      const hasFile = thread === 0 && index === 0;
      const said = hasFile ? { type: 'media_placeholder' } : { type: 'text', text: { body: `Message ${index + 1}` } };
      return {
        ageSeconds,
        message: {
          from: isOwn ? own : party,
          ...(isOwn && { to: party }),
          id: isOwn ? ids.outboundWamid(sequence, party) : ids.inboundWamid(sequence, party),
          timestamp: String(now - ageSeconds),
          ...said,
          history_context: { status: isOwn ? 'DELIVERED' : 'READ' },
        },
      };
    }),
  );
  const phases = [1, 90, HISTORY_DAYS + 1].map((days) => days * DAY_SECONDS);
  for (const [phase, end] of phases.entries()) {
    const start = phases[phase - 1] ?? 0;
    const found = partiesOf(contacts).map((id, thread) => ({
      id,
      messages: (threads[thread] ?? [])
        .filter(({ ageSeconds }) => ageSeconds >= start && ageSeconds < end)
        .map(({ message }) => message),
    }));
    const progress = Math.round(((phase + 1) / phases.length) * 100);
    announce(platform, number, 'history', {
      history: [
        { metadata: { phase, chunk_order: 1, progress }, threads: found.filter((one) => one.messages.length > 0) },
      ],
    });
  }
  const placeholder = threads[0]?.[0]?.message;
  if (placeholder !== undefined) {
    const { type: _, ...rest } = placeholder;
    const file = { type: 'image', image: { caption: 'The menu' } };
    const shown = (await withFile(platform, call, number.phoneNumberId, file)) as JsonObject;
    announce(platform, number, 'history', { messages: [{ ...rest, ...shown }] });
  }
  return threads.reduce((sum, thread) => sum + thread.length, 0);
}

/** Parties with numbers reserved for fiction. */
function partiesOf(contacts = 2): string[] {
  return Array.from({ length: contacts }, (_, index) => `155501${String(9_900 + index).padStart(5, '0')}`);
}

function announce(platform: Platform, number: SimulatorNumber, field: string, value: object): void {
  const { phoneNumberId, displayPhoneNumber, wabaId } = number;
  const metadata = { display_phone_number: digitsOf(displayPhoneNumber), phone_number_id: phoneNumberId };
  platform.notifyAccount(wabaId, field, { messaging_product: 'whatsapp', metadata, ...value });
}
