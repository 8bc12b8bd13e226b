import { isObject, type JsonObject, storableText } from '../../common/json.js';
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
import { isManagementField, isUnused, nameOf, unknownKeys, unknownKind, unknownType } from './webhook-names.js';

/** A notification is about one business phone number; null where the platform left it out. */
interface OfNumber {
  readonly phoneNumberId: string | null;
}

/** What the platform charges for a message, in its own words; the amount is in no notification. */
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
  /** `biz_opaque_callback_data`: what we sent along with the message. */
  readonly callbackData: string | null;
  readonly error: { code: number | null; title: string | null; details: string | null } | null;
  /** On one or two of a message's statuses. */
  readonly pricing: Pricing | null;
}

/** A customer calls one of the numbers. */
export interface CallNotification extends OfNumber {
  /** The customer's number, digits only; null where only a user id is known. */
  readonly from: string | null;
  readonly userId: string | null;
  readonly profileName: string | null;
  readonly occurredAt: Date | null;
}

/** A message that a customer sent, or something about one (`system`, `edit`, `revoke`). */
export interface InboundNotification extends CallNotification {
  readonly metaMessageId: string;
  /** The platform's type; `unknown` where it gave none. */
  readonly type: string;
  /** The object named after the type, as received; a list under its type's name; else what has no other field here. */
  readonly content: Record<string, unknown>;
  /** Text, caption, title of the button or row, emoji (`''` takes a reaction away). */
  readonly body: string | null;
  readonly context: InboundContext;
  /** The platform's id of the message that this one answers or reacts to. */
  readonly contextMessageId: string | null;
  /** False for what is not a message to us alone: `system`, `edit`, `revoke`, and whatever was said in a group. */
  readonly opensWindow: boolean;
}

/** What the platform says of a customer's message beside its content; each is left out where it says nothing. */
export interface InboundContext {
  readonly context?: {
    readonly forwarded?: true;
    readonly frequently_forwarded?: true;
    /** The product that the customer asks about. */
    readonly referred_product?: JsonObject;
    /** The message that this one answers, where it is none of ours. */
    readonly quoted_platform_id?: string;
  };
  /** The advertisement or post that led the customer here, as received. */
  readonly referral?: JsonObject;
  /** State of the customer's keys, where the number checks for changes. */
  readonly identity?: JsonObject;
  readonly username?: string;
  /** Only on what was said in a group. */
  readonly group_id?: string;
}

/** Everything else that the platform reports about a number or an account. */
export interface ManagementNotification extends OfNumber {
  /** The webhook's field, such as `message_template_status_update`; `messages.errors` for trouble without a message. */
  readonly field: string;
  /** Of the business account. */
  readonly wabaId: string | null;
  readonly occurredAt: Date | null;
  readonly value: Record<string, unknown>;
}

export interface WebhookPayload {
  readonly statuses: StatusNotification[];
  readonly inbound: InboundNotification[];
  /** They are in `management` as well. */
  readonly calls: CallNotification[];
  readonly management: ManagementNotification[];
  /** What could not be read, and names that Herald does not know, so that they can be counted and shown. */
  readonly unknown: { field: string; reason: string }[];
  /** Known names that Herald does nothing with. */
  readonly unused: string[];
}

const OBJECT = 'whatsapp_business_account';
/** The only category of `user_preferences` so far. */
export const MARKETING_PREFERENCE = 'marketing_messages';

/** Reads a notification's bytes. What is no JSON at all gives one `unknown`; see `parseWebhookPayload`. */
export function parseWebhookBody(rawBody: Buffer | string): WebhookPayload {
  const payload = parseJson(typeof rawBody === 'string' ? rawBody : rawBody.toString('utf8'));
  if (payload !== undefined) return parseWebhookPayload(payload);
  const unknown = [{ field: 'body', reason: 'the body is not JSON' }];
  return { statuses: [], inbound: [], calls: [], management: [], unknown, unused: [] };
}

/**
 * Reads every entry, change, message and status of a parsed notification. Never throws: what can't be read is named in
 * `unknown` and costs its neighbours nothing. All text can be stored (no U+0000, no lone surrogate).
 */
export function parseWebhookPayload(received: unknown): WebhookPayload {
  const reader = new PayloadReader();
  reader.read(storableJson(received));
  return reader.result;
}

/** The part of a notification that is about one number. */
interface Change {
  readonly phoneNumberId: string | null;
  readonly contacts: readonly JsonObject[];
}

class PayloadReader {
  readonly result: WebhookPayload = { statuses: [], inbound: [], calls: [], management: [], unknown: [], unused: [] };

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
    const about = { phoneNumberId, contacts: ownList(value, 'contacts').filter(isObject) };
    if (field === 'messages') {
      this.noteNames(unknownKeys(field, value));
      for (const contact of about.contacts) this.noteNames(unknownKeys('messages.contacts', contact));
      // Messages, statuses and errors may be beside each other.
      for (const raw of this.objectsIn(value, 'messages', field)) {
        const message = readInbound(raw, about);
        this.keep(message, this.result.inbound, 'messages.messages');
        if (typeof message === 'object') this.noteMessage(raw, message.type);
      }
      for (const raw of this.objectsIn(value, 'statuses', field)) {
        const status = readStatus(raw, about);
        this.keep(status, this.result.statuses, statusName(raw));
        if (typeof status === 'object') this.noteNames(unknownKeys('messages.statuses', raw));
      }
      for (const error of this.objectsIn(value, 'errors', field)) {
        this.noteNames(['messages.errors']);
        this.result.management.push({ field: 'messages.errors', ...place, value: error });
      }
    } else {
      this.noteNames([unknownKind(field, value), isUnused(field) ? field : null]);
      if (field === 'calls') this.readCalls(value, about);
      if (field === 'user_preferences') this.notePreferences(value);
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

  private readCalls(value: JsonObject, about: Change): void {
    const ownNumber = readDigits(ownObject(value, 'metadata'), 'display_phone_number');
    for (const raw of this.objectsIn(value, 'calls', 'calls')) {
      const call = readCall(raw, about, ownNumber);
      if (call !== null) this.result.calls.push(call);
    }
  }

  private noteMessage(raw: JsonObject, type: string): void {
    const unknown = unknownType(type);
    // Of a type that is not known, everything is kept as the message's content.
    if (unknown !== null) return this.noteNames([unknown]);
    const content = ownObject(raw, type);
    this.noteNames(
      content === null ? [] : [...unknownKeys('messages.messages', raw, type), unknownKind(type, content)],
    );
  }

  private noteNames(names: readonly (string | null)[]): void {
    for (const name of names) {
      if (name === null) continue;
      if (isUnused(name)) this.result.unused.push(name);
      else this.skip(name, `${name} is not known`);
    }
  }

  private skip(field: string, reason: string): void {
    this.result.unknown.push({ field, reason });
  }

  private keep<T>(read: T | string, into: T[], field: string): void {
    if (typeof read === 'string') this.skip(field, read);
    else into.push(read);
  }

  /** The objects in a list; whatever else is there is named in `unknown`. */
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

/** Not a customer's new message: a change of number, a correction, a withdrawal. */
const OPENS_NO_WINDOW: ReadonlySet<string> = new Set(['system', 'edit', 'revoke']);

/** Where the readable text of each type stands; a type without a row has none. */
const BODY_OF: ReadonlyMap<string, (content: JsonObject) => string | null> = new Map([
  ['text', (text) => ownText(text, 'body')],
  ['image', (image) => ownText(image, 'caption')],
  ['video', (video) => ownText(video, 'caption')],
  ['document', (document) => ownText(document, 'caption')],
  ['button', (button) => ownText(button, 'text')],
  ['interactive', interactiveBody],
  ['reaction', (reaction) => ownText(reaction, 'emoji')],
  ['order', (order) => ownText(order, 'text')],
  ['system', (system) => ownText(system, 'body')],
]);

/** Reads one of `messages[]`; a string says why it can't be read. */
function readInbound(raw: JsonObject, { contacts, phoneNumberId }: Change): InboundNotification | string {
  const metaMessageId = ownId(raw, 'id');
  if (metaMessageId === null) return 'a message without an id';
  const contact = contactOf(contacts, raw);
  const type = ownText(raw, 'type') || 'unknown';
  const content = own(raw, type);
  const context = readInboundContext(raw, contact);
  return {
    phoneNumberId,
    metaMessageId,
    ...senderOf(raw, contact),
    type,
    content: contentOf(raw, type),
    body: isObject(content) ? (BODY_OF.get(type)?.(content) ?? null) : null,
    context,
    // A reaction names its message itself.
    contextMessageId:
      (type === 'reaction' ? ownId(content, 'message_id') : null) ?? ownId(ownObject(raw, 'context'), 'id'),
    opensWindow: !OPENS_NO_WINDOW.has(type) && context.group_id === undefined,
  };
}

/** Reads one of `calls[]`; null for anything but a customer who calls. */
function readCall(
  raw: JsonObject,
  { contacts, phoneNumberId }: Change,
  ownNumber: string | null,
): CallNotification | null {
  const sender = senderOf(raw, contactOf(contacts, raw));
  if (ownText(raw, 'event') !== 'connect' || (sender.from === null && sender.userId === null)) return null;
  // Where the direction is missing, the caller implies it.
  const direction = ownText(raw, 'direction') ?? (sender.from === ownNumber ? 'BUSINESS_INITIATED' : 'USER_INITIATED');
  return direction === 'USER_INITIATED' ? { phoneNumberId, ...sender } : null;
}

/** Who wrote or called, and when. */
function senderOf(raw: JsonObject, contact: JsonObject | null): Omit<CallNotification, 'phoneNumberId'> {
  return {
    from: readDigits(raw, 'from') ?? readDigits(contact, 'wa_id'),
    userId: ownId(raw, 'from_user_id') ?? ownId(contact, 'user_id'),
    profileName: ownText(ownObject(contact, 'profile'), 'name'),
    occurredAt: ownTime(raw, 'timestamp'),
  };
}

const FILE_TYPES: ReadonlySet<string> = new Set(['image', 'video', 'audio', 'document', 'sticker']);

/** What the other fields of a notification contain already. */
const ENVELOPE: ReadonlySet<string> = new Set([
  'from',
  'from_user_id',
  'from_parent_user_id',
  'id',
  'timestamp',
  'type',
  'context',
  'referral',
  'identity',
  'group_id',
]);

/** What was received; where neither an object nor a list has the type's name, whatever else came. */
function contentOf(raw: JsonObject, type: string): JsonObject {
  const content = own(raw, type);
  if (Array.isArray(content)) return { [type]: content };
  if (!isObject(content)) return Object.fromEntries(Object.entries(raw).filter(([key]) => !ENVELOPE.has(key)));
  // Without the platform's own address of a file, which ends within minutes and needs the number's token.
  const shown = FILE_TYPES.has(type)
    ? Object.fromEntries(Object.entries(content).filter(([key]) => key !== 'url'))
    : content;
  // Why it can't be shown, where the platform says so.
  return Array.isArray(raw.errors) ? { ...shown, errors: raw.errors } : shown;
}

/** The contact with the sender's number or user id; else the only one there is, unless it is definitely another's. */
function contactOf(contacts: readonly JsonObject[], raw: JsonObject): JsonObject | null {
  const from = readDigits(raw, 'from');
  const userId = ownId(raw, 'from_user_id');
  const named = contacts.find(
    (contact) =>
      (userId !== null && ownId(contact, 'user_id') === userId) ||
      (from !== null && readDigits(contact, 'wa_id') === from),
  );
  if (named !== undefined) return named;
  const [only, ...others] = contacts;
  if (only === undefined || others.length > 0) return null;
  const otherUser = userId !== null && ownId(only, 'user_id') !== null;
  // The platform writes some numbers (Brazil, Mexico) in two ways, so another number alone proves nothing.
  return otherUser ? null : only;
}

function interactiveBody(interactive: JsonObject): string | null {
  return (
    ownText(ownObject(interactive, 'button_reply'), 'title') ??
    ownText(ownObject(interactive, 'list_reply'), 'title') ??
    ownText(ownObject(interactive, 'nfm_reply'), 'body')
  );
}

/** Several times the number of fields that the platform is known to send. */
const MAX_BYTES = 16 * 1024;
const MAX_USERNAME = 256;

/** Reads what is beside the content of one of `messages[]`. What is malformed or too large is left out. */
function readInboundContext(raw: JsonObject, contact: JsonObject | null): InboundContext {
  const given = ownObject(raw, 'context');
  const keyHash = ownId(contact, 'identity_key_hash');
  const username = ownText(ownObject(contact, 'profile'), 'username');
  const context = present({
    forwarded: own(given, 'forwarded') === true || null,
    frequently_forwarded: own(given, 'frequently_forwarded') === true || null,
    referred_product: boundedObject(given, 'referred_product'),
  });
  return present({
    context: Object.keys(context).length === 0 ? null : context,
    referral: boundedObject(raw, 'referral'),
    identity: boundedObject(raw, 'identity') ?? (keyHash === null ? null : { hash: keyHash }),
    username: username === null || username === '' ? null : storableText(username.slice(0, MAX_USERNAME)),
    group_id: ownId(raw, 'group_id'),
  });
}

function boundedObject(parent: JsonObject | null, key: string): JsonObject | null {
  const found = ownObject(parent, key);
  return found === null || Buffer.byteLength(JSON.stringify(found)) > MAX_BYTES ? null : found;
}

function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}

const STATUSES: ReadonlyMap<unknown, StatusNotification['status']> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
  ['failed', 'failed'],
]);

const MAX_WORD = 64;

/** `messages.statuses[warmed_up]` for a status that is not known. */
function statusName(raw: JsonObject): string {
  const status = ownText(raw, 'status');
  return status === null || STATUSES.has(status) ? 'messages.statuses' : `messages.statuses[${nameOf(status)}]`;
}

/** Reads one of `statuses[]`; a string says why it can't be read. */
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
  const word = (key: string) => ownText(given, key)?.slice(0, MAX_WORD) || null;
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

/** A number of at most 20 digits, with or without `+`; null for anything else (a group, a user id). */
function readDigits(value: unknown, key: string): string | null {
  const text = ownId(value, key);
  return text === null ? null : (/^\+?(\d{1,20})$/.exec(text)?.[1] ?? null);
}

/** A foreign value inside a sentence of ours, cut short. */
function quote(value: unknown): string {
  return typeof value === 'string' ? `"${storableText(value.slice(0, 40))}"` : typeof value;
}
