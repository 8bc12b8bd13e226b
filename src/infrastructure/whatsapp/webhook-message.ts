import { isObject, type JsonObject, storableText } from '../../common/json.js';
import { own, ownId, ownList, ownObject, ownText, ownTime } from './json-access.js';
import { MESSAGE_ENVELOPE } from './webhook-names.js';

/** The business phone number of a notification; null where WhatsApp left it out. */
export interface OfNumber {
  readonly phoneNumberId: string | null;
}

/** A customer calls one of the numbers. */
export interface CallNotification extends OfNumber {
  /** The customer's number, digits only; null where only a user id is known. */
  readonly from: string | null;
  readonly userId: string | null;
  readonly profileName: string | null;
  readonly occurredAt: Date | null;
}

/** The content of a message. */
export interface Said {
  /** WhatsApp's type; `unknown` where there is none. */
  readonly type: string;
  /**
   * The object named after the type, as received; a list under its type's name; otherwise all fields without a place of
   * their own here.
   */
  readonly content: Record<string, unknown>;
  /** Text, caption, title of the button or row, emoji (`''` removes a reaction). */
  readonly body: string | null;
  /** WhatsApp's id of the message that this one replies or reacts to. */
  readonly contextMessageId: string | null;
  /** In an edit or a revoke: WhatsApp's id of the message that it changes. */
  readonly originalMetaId?: string | null;
}

/** A message from a customer, or an event about one (`system`, `edit`, `revoke`). */
export interface InboundNotification extends CallNotification, Said {
  readonly metaMessageId: string;
  readonly context: InboundContext;
  /**
   * False where it is not a message to the business alone: `system`, `edit`, `revoke`, standby, and messages in a
   * group.
   */
  readonly opensWindow: boolean;
  /** Received as an observer: another app owns the conversation. */
  readonly standby?: true;
  /** From now on the sender has another number or user id; `from` and `userId` are the former ones. */
  readonly replacement?: Replacement;
}

/** The new names of a contact; null where WhatsApp does not say. */
export interface Replacement {
  /** A new number brings a new user id. */
  readonly of: 'number' | 'user_id';
  readonly waId: string | null;
  readonly userId: string | null;
}

/** Control of a conversation moved to another app, or to this one. */
export interface HandoverNotification extends CallNotification {
  /** An app that is told of a passed conversation has received it; an app from which one was taken has lost it. */
  readonly owner: 'you' | 'other';
  /**
   * The role of the new owner: `customer_service`, `marketing`, `utility`, `ctwa`, `ai_agent`, `escalation`, or a later
   * one.
   */
  readonly role: string | null;
  /** The former owner's note to the new one. */
  readonly note: string | null;
  /** A summary or the last messages, as received. */
  readonly context: JsonObject | null;
}

/** What WhatsApp reports about a customer's message besides its content; absent fields have no value. */
export interface InboundContext {
  readonly context?: {
    readonly forwarded?: true;
    readonly frequently_forwarded?: true;
    /** The product that the customer asks about. */
    readonly referred_product?: JsonObject;
    /** The message that this one replies to, if it is not one of ours. */
    readonly quoted_platform_id?: string;
  };
  /** The advertisement or post that led the customer here, as received. */
  readonly referral?: JsonObject;
  /** The state of the customer's encryption keys, if the number checks for changes. */
  readonly identity?: JsonObject;
  readonly username?: string;
  /** Only on messages in a group. */
  readonly group_id?: string;
}

/** The part of a notification that is about one number. */
export interface Change {
  readonly phoneNumberId: string | null;
  readonly contacts: readonly JsonObject[];
  readonly standby: boolean;
}

/** Types that are not a customer's new message: a change of number, an edit, a revoke. */
export const NO_NEW_MESSAGE: ReadonlySet<string> = new Set(['system', 'edit', 'revoke']);

/** Where each type has its readable text; types without an entry have none. */
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
  ['edit', editedBody],
]);

/** Reads one of `messages[]`; a string is the reason why it can't be read. */
export function readInbound(
  raw: JsonObject,
  { contacts, phoneNumberId, standby }: Change,
): InboundNotification | string {
  const metaMessageId = ownId(raw, 'id');
  if (metaMessageId === null) return 'a message without an id';
  const contact = contactOf(contacts, raw);
  const said = readSaid(raw);
  const { type } = said;
  const content = own(raw, type);
  const context = readInboundContext(raw, contact);
  const replacement = type === 'system' && isObject(content) ? readReplacement(content) : null;
  const sender = senderOf(raw, contact);
  return {
    phoneNumberId,
    metaMessageId,
    ...sender,
    from: sender.from ?? sharedNumber(raw, type),
    userId: sender.userId ?? (replacement === null ? null : ownId(content, 'previous_user_id')),
    ...said,
    context,
    opensWindow: !standby && !NO_NEW_MESSAGE.has(type) && context.group_id === undefined,
    ...(standby && { standby }),
    ...(replacement !== null && { replacement }),
  };
}

/** Reads the content of a message. */
export function readSaid(raw: JsonObject): Said {
  const type = ownText(raw, 'type') || 'unknown';
  const content = own(raw, type);
  return {
    type,
    content: contentOf(raw, type),
    body: isObject(content) ? (BODY_OF.get(type)?.(content) ?? null) : null,
    // A reaction contains its message's id.
    contextMessageId:
      (type === 'reaction' ? ownId(content, 'message_id') : null) ?? ownId(ownObject(raw, 'context'), 'id'),
    ...((type === 'edit' || type === 'revoke') && { originalMetaId: ownId(content, 'original_message_id') }),
  };
}

/** Older notifications call the new number `new_wa_id`, and the kind of change `customer_…`. */
function readReplacement(system: JsonObject): Replacement | null {
  const kind = ownText(system, 'type');
  const userId = ownId(system, 'user_id');
  if (kind === 'user_changed_user_id') return { of: 'user_id', waId: null, userId };
  if (kind !== 'user_changed_number' && kind !== 'customer_changed_number') return null;
  return { of: 'number', waId: readDigits(system, 'wa_id') ?? readDigits(system, 'new_wa_id'), userId };
}

/** The sender's own number, where they share it on request; null in any other message. */
function sharedNumber(raw: JsonObject, type: string): string | null {
  if (type !== 'contacts') return null;
  const cards = ownList(raw, 'contacts').filter(isObject);
  const isAnswer = [raw, ...cards].some((each) => ownText(each, 'origin') === 'contact_request');
  const [phone] = ownList(cards[0], 'phones').filter(isObject);
  if (!isAnswer || phone === undefined) return null;
  const digits = ownText(phone, 'phone')?.replaceAll(/[\s().-]/g, '');
  return readDigits(phone, 'wa_id') ?? readDigits({ digits }, 'digits');
}

/** Reads one of `calls[]`; null unless a customer calls. */
export function readCall(
  raw: JsonObject,
  { contacts, phoneNumberId }: Change,
  ownNumber: string | null,
): CallNotification | null {
  const sender = senderOf(raw, contactOf(contacts, raw));
  if (ownText(raw, 'event') !== 'connect' || (sender.from === null && sender.userId === null)) return null;
  // If the direction is missing, the caller implies it.
  const direction = ownText(raw, 'direction') ?? (sender.from === ownNumber ? 'BUSINESS_INITIATED' : 'USER_INITIATED');
  return direction === 'USER_INITIATED' ? { phoneNumberId, ...sender } : null;
}

/**
 * Reads one change of control; a string is the reason why it can't be read. Null for an unknown type, which is reported
 * already.
 */
export function readHandover(
  value: JsonObject,
  { phoneNumberId, contacts }: Change,
): HandoverNotification | string | null {
  const type = ownText(value, 'type') ?? '';
  if (type === '') return 'a handover without a type';
  if (type !== 'control_passed' && type !== 'control_taken') return null;
  const sender = ownObject(value, 'sender');
  const contact = contacts[0] ?? null;
  const given = ownObject(value, type);
  const role = newOwnerRole(given);
  const note = ownText(given, 'metadata');
  const from = readDigits(sender, 'phone_number') ?? readDigits(sender, 'wa_id') ?? readDigits(contact, 'wa_id');
  const userId = ownId(sender, 'user_id') ?? ownId(contact, 'user_id');
  if (from === null && userId === null) return 'a handover without a contact';
  return {
    phoneNumberId,
    from,
    userId,
    profileName: ownText(ownObject(contact, 'profile'), 'name'),
    occurredAt: ownTime(value, 'timestamp'),
    // Meta's own agent is never this app, even if this app is notified.
    owner: type === 'control_passed' && role !== 'ai_agent' ? 'you' : 'other',
    role,
    note: note === null ? null : storableText(note.slice(0, MAX_NOTE)),
    context: boundedObject(given, 'conversation_context') ?? boundedObject(value, 'conversation_context'),
  };
}

/** The author or caller, and the time. */
function senderOf(raw: JsonObject, contact: JsonObject | null): Omit<CallNotification, 'phoneNumberId'> {
  return {
    from: readDigits(raw, 'from') ?? readDigits(contact, 'wa_id'),
    userId: ownId(raw, 'from_user_id') ?? ownId(contact, 'user_id'),
    profileName: ownText(ownObject(contact, 'profile'), 'name'),
    occurredAt: ownTime(raw, 'timestamp'),
  };
}

const FILE_TYPES: ReadonlySet<string> = new Set(['image', 'video', 'audio', 'document', 'sticker']);
/** 32 bytes in base64, WhatsApp's form of a file's hash. */
const SHA256 = /^[A-Za-z0-9+/]{43}=$/;

/** The received object or list named after the type; where there is none, all other fields. */
function contentOf(raw: JsonObject, type: string): JsonObject {
  const content = own(raw, type);
  if (Array.isArray(content)) return { [type]: content };
  if (!isObject(content)) return Object.fromEntries(Object.entries(raw).filter(([key]) => !MESSAGE_ENVELOPE.has(key)));
  const shown = type === 'edit' ? editOf(content) : FILE_TYPES.has(type) ? fileOf(content) : content;
  // The reason why it can't be shown, if WhatsApp gives one.
  return Array.isArray(raw.errors) ? { ...shown, errors: raw.errors } : shown;
}

/** Without WhatsApp's address of the file, which expires within minutes and needs the number's token. */
function fileOf(content: JsonObject): JsonObject {
  const shown = Object.fromEntries(Object.entries(content).filter(([key]) => key !== 'url'));
  const sha256 = ownText(content, 'sha256');
  return sha256 !== null && SHA256.test(sha256)
    ? { ...shown, sha256_hex: Buffer.from(sha256, 'base64').toString('hex') }
    : shown;
}

/** The new message has the form of any other. */
function editOf(content: JsonObject): JsonObject {
  const message = ownObject(content, 'message');
  const type = ownText(message, 'type');
  const file = type !== null && FILE_TYPES.has(type) ? ownObject(message, type) : null;
  return message === null || type === null || file === null
    ? content
    : { ...content, message: { ...message, [type]: fileOf(file) } };
}

/** The contact with the sender's number or user id; otherwise the only contact, unless it is certainly another's. */
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
  // WhatsApp writes some numbers (Brazil, Mexico) in two ways, so a different number alone proves nothing.
  return otherUser ? null : only;
}

function editedBody(edit: JsonObject): string | null {
  const message = ownObject(edit, 'message') ?? {};
  return own(message, 'type') === 'edit' ? null : readSaid(message).body;
}

function interactiveBody(interactive: JsonObject): string | null {
  return (
    ownText(ownObject(interactive, 'button_reply'), 'title') ??
    ownText(ownObject(interactive, 'list_reply'), 'title') ??
    ownText(ownObject(interactive, 'nfm_reply'), 'body')
  );
}

/** Several times the number of fields that WhatsApp is known to send. */
const MAX_BYTES = 16 * 1024;
const MAX_USERNAME = 256;
/** WhatsApp allows notes of 2,000 characters. */
const MAX_NOTE = 4_000;
const MAX_ROLE = 64;

/** Reads the fields beside the content of one of `messages[]`. Malformed or too large ones are left out. */
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

/** The Business Agent has two names. */
function newOwnerRole(handover: JsonObject | null): string | null {
  const role = ownText(handover, 'new_owner_role') ?? ownText(handover, 'new_owner_app_role');
  if (role === null || role === '') return null;
  return role === 'meta_business_agent' ? 'ai_agent' : storableText(role.slice(0, MAX_ROLE));
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

/** A number of at most 20 digits, with or without `+`; null for anything else (a group, a user id). */
export function readDigits(value: unknown, key: string): string | null {
  const text = ownId(value, key);
  return text === null ? null : (/^\+?(\d{1,20})$/.exec(text)?.[1] ?? null);
}
