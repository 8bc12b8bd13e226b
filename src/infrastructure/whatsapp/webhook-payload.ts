import { isObject, type JsonObject, storableText } from '../../common/json.js';
import { type AppMessage, readEcho } from './webhook-app.js';
import {
  own,
  ownId,
  ownInteger,
  ownList,
  ownObject,
  ownText,
  ownTime,
  parseJson,
  storableJson,
} from './json-access.js';
import {
  type CallNotification,
  type Change,
  type HandoverNotification,
  type InboundNotification,
  type OfNumber,
  readCall,
  readDigits,
  readHandover,
  readInbound,
} from './webhook-message.js';
import { type PlatformNews, readCallNews, readErrorNews, readStatusNews } from './webhook-news.js';
import { isManagementField, isUnused, nameOf, unknownKeys, unknownKind, unknownType } from './webhook-names.js';

/** WhatsApp's price of a message, in its own words; no notification has the amount. */
export interface Pricing {
  readonly billable: boolean | null;
  readonly category: string | null;
  readonly type: string | null;
  readonly subtype: string | null;
  readonly model: string | null;
}

/** The status of a message that we sent. */
export interface StatusNotification extends OfNumber {
  readonly metaMessageId: string;
  /** `played` reads as `read`. */
  readonly status: 'sent' | 'delivered' | 'read' | 'failed';
  /** The platform's time, in whole seconds. */
  readonly occurredAt: Date | null;
  /** Number of the recipient, digits only; missing where it was sent to a user id. */
  readonly recipientId: string | null;
  readonly recipientUserId: string | null;
  /** `biz_opaque_callback_data`: the data that we sent along with the message. */
  readonly callbackData: string | null;
  readonly error: { code: number | null; title: string | null; details: string | null } | null;
  /** Present in one or two of a message's statuses. */
  readonly pricing: Pricing | null;
}

/** Every other report about a number or an account. */
export interface ManagementNotification extends OfNumber {
  /**
   * The webhook's field, such as `message_template_status_update`; `messages.errors` for an error without a message.
   */
  readonly field: string;
  /** The id of the business account. */
  readonly wabaId: string | null;
  readonly occurredAt: Date | null;
  readonly value: Record<string, unknown>;
}

export interface WebhookPayload {
  readonly statuses: StatusNotification[];
  readonly inbound: InboundNotification[];
  /** Also in `management`. */
  readonly calls: CallNotification[];
  /** Also in `management`. */
  readonly handovers: HandoverNotification[];
  /** Messages sent in the app. */
  readonly echoes: AppMessage[];
  readonly management: ManagementNotification[];
  /** Numbers and user ids of all contacts, senders, recipients and participants, in their received spelling. */
  readonly named: string[];
  /** Reports that change no message. Errors are in `management` as well. */
  readonly news: PlatformNews[];
  /** Unreadable parts and unknown names, to be counted and shown. */
  readonly unknown: { field: string; reason: string }[];
  /** Known names that Herald does not use. */
  readonly unused: string[];
}

const OBJECT = 'whatsapp_business_account';
/** The only category of `user_preferences` so far. */
export const MARKETING_PREFERENCE = 'marketing_messages';

/** Reads a notification's bytes. Text that is not JSON gives one `unknown`; see `parseWebhookPayload`. */
export function parseWebhookBody(rawBody: Buffer | string): WebhookPayload {
  const payload = parseJson(typeof rawBody === 'string' ? rawBody : rawBody.toString('utf8'));
  if (payload !== undefined) return parseWebhookPayload(payload);
  const unknown = [{ field: 'body', reason: 'the body is not JSON' }];
  return { ...nothingRead(), unknown };
}

/** The result of a notification without content. */
export function nothingRead(): WebhookPayload {
  return {
    statuses: [],
    inbound: [],
    calls: [],
    handovers: [],
    echoes: [],
    management: [],
    named: [],
    news: [],
    unknown: [],
    unused: [],
  };
}

/**
 * Reads every entry, change, message and status of a parsed notification. Never throws: an unreadable part is listed in
 * `unknown` and does not affect the others. All text can be stored (no U+0000, no unpaired surrogates).
 */
export function parseWebhookPayload(received: unknown): WebhookPayload {
  const reader = new PayloadReader();
  reader.read(storableJson(received));
  return reader.result;
}

const CONTACT_NAMES = ['wa_id', 'user_id'];
const SENDER_NAMES = ['from', 'from_user_id'];
const RECIPIENT_NAMES = [
  'recipient_id',
  'recipient_user_id',
  'recipient_participant_id',
  'recipient_participant_user_id',
];

/** The account and number of a change, and its time. */
type Place = Pick<ManagementNotification, 'wabaId' | 'occurredAt' | 'phoneNumberId'>;

class PayloadReader {
  readonly result = nothingRead();

  read(payload: unknown): void {
    if (!isObject(payload)) return this.skip('body', `the body is not an object but ${kindOf(payload)}`);
    const object = own(payload, 'object');
    if (object !== undefined && object !== OBJECT) {
      return this.skip('object', `the object ${quote(object)} is not known`);
    }
    if (own(payload, 'entry') === undefined) this.skip('entry', 'there is no entry');
    for (const entry of this.objectsIn(payload, 'entry')) {
      for (const change of this.objectsIn(entry, 'changes')) this.readChange(change, entry);
    }
  }

  private readChange(change: JsonObject, entry: JsonObject): void {
    const field = ownText(change, 'field') ?? '';
    const name = field === '' ? 'changes' : nameOf(field);
    const value = ownObject(change, 'value');
    if (value === null) return this.skip(name, `the value is not an object but ${kindOf(own(change, 'value'))}`);
    if (field !== 'messages' && !isManagementField(field)) {
      return this.skip(name, `the field ${quote(field)} is not known`);
    }
    const phoneNumberId =
      ownId(ownObject(value, 'metadata'), 'phone_number_id') ??
      ownId(value, 'phone_number_id') ??
      ownId(ownObject(value, 'recipient'), 'phone_number_id');
    const place = { wabaId: ownId(entry, 'id'), occurredAt: ownTime(entry, 'time'), phoneNumberId };
    const about = { phoneNumberId, contacts: ownList(value, 'contacts').filter(isObject), standby: false };
    if (field === 'messages') this.readMessages(field, value, about, place);
    else {
      this.noteNames([unknownKind(field, value), isUnused(field) ? field : null]);
      if (field === 'calls') this.readCalls(value, about);
      else if (field === 'standby') this.readStandby(value, about, place);
      else if (field === 'messaging_handovers') this.readHandover(value, about);
      else if (field === 'smb_message_echoes') return this.readEchoes(value, about);
      else if (field === 'user_preferences') this.notePreferences(value);
      this.result.management.push({ field, ...place, value });
    }
  }

  private notePreferences(value: JsonObject): void {
    for (const preference of this.objectsIn(value, 'user_preferences', 'user_preferences')) {
      const category = ownText(preference, 'category') ?? MARKETING_PREFERENCE;
      const isKnown = category === MARKETING_PREFERENCE;
      this.noteNames([isKnown ? unknownKind('user_preferences', preference) : `user_preferences[${nameOf(category)}]`]);
    }
  }

  /** Messages, statuses and errors may occur together. */
  private readMessages(field: 'messages' | 'standby', value: JsonObject, about: Change, place: Place): void {
    this.noteNames(unknownKeys(field, value));
    for (const contact of about.contacts) {
      this.noteNames(unknownKeys('messages.contacts', contact));
      this.notePeople(contact, CONTACT_NAMES);
    }
    for (const raw of this.objectsIn(value, 'messages', field)) {
      this.notePeople(raw, SENDER_NAMES);
      const message = readInbound(raw, about);
      this.keep(message, this.result.inbound, `${field}.messages`);
      if (typeof message === 'object') this.noteMessage(raw, message.type);
    }
    for (const raw of this.objectsIn(value, 'statuses', field)) {
      this.notePeople(raw, RECIPIENT_NAMES);
      const news = about.standby ? null : readStatusNews(raw, about.phoneNumberId);
      if (news !== null) {
        this.keep(news, this.result.news, statusName(raw));
        this.noteNames(unknownKeys('messages.statuses', raw, 'payment'));
        continue;
      }
      const status = readStatus(raw, about);
      // A status of another app's message; all that we send has callback data.
      if (about.standby && typeof status === 'object' && status.callbackData === null) {
        this.noteNames(['standby.statuses']);
        continue;
      }
      this.keep(status, this.result.statuses, statusName(raw));
      if (typeof status === 'object') this.noteNames(unknownKeys('messages.statuses', raw));
    }
    if (about.standby && own(value, 'message_echoes') !== undefined) this.noteNames(['standby.message_echoes']);
    for (const error of this.objectsIn(value, 'errors', field)) {
      this.result.management.push({ field: 'messages.errors', ...place, value: error });
      this.result.news.push(readErrorNews(error, place.phoneNumberId, place.occurredAt));
    }
  }

  /** What an observer receives: customers' messages to another app, its answers, and their statuses. */
  private readStandby(value: JsonObject, about: Change, place: Place): void {
    const { metadata: _, messaging_product: __, standby = {}, ...beside } = value;
    for (const part of Array.isArray(standby) ? standby : [standby]) {
      if (!isObject(part)) {
        this.skip('standby.standby', `what is on standby is not an object but ${kindOf(part)}`);
        continue;
      }
      const contacts = ownList(part, 'contacts').filter(isObject);
      const all = { ...beside, ...part };
      this.readMessages(
        'standby',
        all,
        { ...about, contacts: contacts.length > 0 ? contacts : about.contacts, standby: true },
        place,
      );
    }
  }

  private readHandover(value: JsonObject, about: Change): void {
    const handover = readHandover(value, about);
    if (typeof handover === 'string') this.skip('messaging_handovers', handover);
    else if (handover !== null) this.result.handovers.push(handover);
  }

  private readEchoes(value: JsonObject, { phoneNumberId }: Change): void {
    const within = 'smb_message_echoes';
    this.noteNames(unknownKeys(within, value));
    for (const raw of this.objectsIn(value, 'message_echoes', within)) {
      const echo = readEcho(raw, phoneNumberId);
      this.keep(echo, this.result.echoes, `${within}.message_echoes`);
      if (typeof echo === 'object') this.noteMessage(raw, echo.type, `${within}.message_echoes`);
    }
  }

  private readCalls(value: JsonObject, about: Change): void {
    const ownNumber = readDigits(ownObject(value, 'metadata'), 'display_phone_number');
    for (const raw of this.objectsIn(value, 'calls', 'calls')) {
      const call = readCall(raw, about, ownNumber);
      if (call !== null) this.result.calls.push(call);
      const news = readCallNews(raw, about.phoneNumberId, ownNumber);
      if (news !== null) this.result.news.push(news);
    }
  }

  private noteMessage(raw: JsonObject, type: string, within = 'messages.messages'): void {
    const unknown = unknownType(type, within);
    // For an unknown type, everything is stored as the message's content.
    if (unknown !== null) return this.noteNames([unknown]);
    const content = ownObject(raw, type);
    this.noteNames(content === null ? [] : [...unknownKeys(within, raw, type), unknownKind(type, content)]);
  }

  private noteNames(names: readonly (string | null)[]): void {
    for (const name of names) {
      if (name === null) continue;
      if (isUnused(name)) this.result.unused.push(name);
      else this.skip(name, `${name} is not known`);
    }
  }

  private notePeople(raw: JsonObject, keys: readonly string[]): void {
    for (const key of keys) {
      const name = ownId(raw, key);
      if (name !== null) this.result.named.push(name);
    }
  }

  private skip(field: string, reason: string): void {
    this.result.unknown.push({ field, reason });
  }

  private keep<T>(read: T | string, into: T[], field: string): void {
    if (typeof read === 'string') this.skip(field, read);
    else into.push(read);
  }

  /** The objects in a list; other values are listed in `unknown`. */
  private *objectsIn(parent: JsonObject, key: string, within?: string): Generator<JsonObject> {
    const field = within === undefined ? key : `${within}.${key}`;
    const value = own(parent, key);
    if (value !== undefined && value !== null && typeof value !== 'object') {
      this.skip(field, `the list is not an array but ${kindOf(value)}`);
    }
    for (const item of ownList(parent, key)) {
      if (isObject(item)) yield item;
      else this.skip(field, `an item is not an object but ${kindOf(item)}`);
    }
  }
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

const STATUSES: ReadonlyMap<unknown, StatusNotification['status']> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
  ['failed', 'failed'],
]);

const MAX_WORD = 64;

/** `messages.statuses[warmed_up]` for an unknown status. */
function statusName(raw: JsonObject): string {
  const status = ownText(raw, 'status');
  return status === null || STATUSES.has(status) ? 'messages.statuses' : `messages.statuses[${nameOf(status)}]`;
}

/** Reads one of `statuses[]`; a string is the reason why it can't be read. */
function readStatus(raw: JsonObject, { phoneNumberId }: Change): StatusNotification | string {
  const metaMessageId = ownId(raw, 'id');
  if (metaMessageId === null) return 'a status without the id of its message';
  const status = STATUSES.get(own(raw, 'status'));
  if (status === undefined) {
    return `the status ${quote(own(raw, 'status'))} is not known`;
  }
  const callbackData = ownText(raw, 'biz_opaque_callback_data');
  return {
    phoneNumberId,
    metaMessageId,
    status,
    occurredAt: ownTime(raw, 'timestamp'),
    recipientId: readDigits(raw, 'recipient_id'),
    recipientUserId: ownId(raw, 'recipient_user_id'),
    callbackData: callbackData === '' ? null : callbackData,
    error: readError(raw),
    pricing: readPricing(raw),
  };
}

function readPricing(raw: JsonObject): Pricing | null {
  const given = ownObject(raw, 'pricing');
  if (given === null) return null;
  const billable = own(given, 'billable');
  const word = (key: string) => storableText(ownText(given, key)?.slice(0, MAX_WORD) ?? '') || null;
  const [category, type] = [word('category'), word('type')];
  if (category === null && type === null) return null;
  return {
    billable: typeof billable === 'boolean' ? billable : null,
    category,
    type,
    subtype: word('subtype'),
    model: word('pricing_model'),
  };
}

/** The first of `errors[]`; a failed status may have none. */
function readError(raw: JsonObject): StatusNotification['error'] {
  const error = ownList(raw, 'errors').find((item) => typeof item === 'object' && item !== null);
  if (error === undefined) return null;
  const data = own(error, 'error_data');
  return {
    code: ownInteger(error, 'code'),
    title: ownText(error, 'title') ?? ownText(error, 'message'),
    details: ownText(ownObject(error, 'error_data'), 'details') ?? (typeof data === 'string' ? data : null),
  };
}

/** A foreign value inside one of our sentences, shortened. */
function quote(value: unknown): string {
  return typeof value === 'string' ? `"${storableText(value.slice(0, 40))}"` : typeof value;
}
