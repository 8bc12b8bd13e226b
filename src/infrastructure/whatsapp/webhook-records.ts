import { isObject, type JsonObject } from '../../common/json.js';
import { own, ownId, ownInteger, ownList, ownObject, ownText, storableText } from './json-access.js';

/** Where a notification belongs; null where the platform left it out. */
interface Origin {
  readonly phoneNumberId: string | null;
  readonly wabaId: string | null;
}

export type NotifiedStatus = 'sent' | 'delivered' | 'read' | 'failed';

/** The status of a message that we sent. */
export interface StatusNotification extends Origin {
  readonly metaMessageId: string;
  /** `played` reads as `read`. */
  readonly status: NotifiedStatus;
  /** The platform's time, in whole seconds. */
  readonly timestamp: Date | null;
  /** Number of the recipient, digits only; missing where it was sent to a user id. */
  readonly recipientId: string | null;
  readonly recipientUserId: string | null;
  /** `biz_opaque_callback_data`: `<message id>.<attempt id>`. */
  readonly callbackData: string | null;
  readonly error: NotifiedError | null;
  readonly raw: Record<string, unknown>;
}

export interface NotifiedError {
  readonly code: number | null;
  readonly title: string | null;
  readonly details: string | null;
}

/** A message that a customer sent, or something about one (`system`, `edit`, `revoke`). */
export interface InboundNotification extends Origin {
  readonly metaMessageId: string;
  /** The customer's number, digits only; null where only a user id is known. */
  readonly from: string | null;
  readonly fromUserId: string | null;
  /** The number as the platform's contact has it. */
  readonly waId: string | null;
  readonly profileName: string | null;
  readonly timestamp: Date | null;
  /** The platform's type; `unknown` where it gave none. */
  readonly type: string;
  /** The object named after the type, as received (`contacts`: a list). */
  readonly content: Record<string, unknown> | unknown[] | null;
  /** Text, caption, title of the button or row, emoji (`''` takes a reaction away). */
  readonly body: string | null;
  /** What the platform says beside the content. */
  readonly context: InboundContext;
  /** The message that this one answers or reacts to. */
  readonly contextMessageId: string | null;
  /** False for what is not a message to us alone: `system`, `edit`, `revoke`, and whatever was said in a group. */
  readonly opensWindow: boolean;
  readonly raw: Record<string, unknown>;
}

/** A customer calls one of the numbers. */
export interface CallNotification extends Origin {
  /** The customer's number, digits only. */
  readonly from: string | null;
  readonly fromUserId: string | null;
  readonly profileName: string | null;
  readonly timestamp: Date | null;
}

/** Everything else that the platform reports about a number or an account. */
export interface ManagementNotification extends Origin {
  /** The webhook's field, such as `message_template_status_update`; `messages.errors` for trouble without a message. */
  readonly field: string;
  readonly occurredAt: Date | null;
  readonly value: Record<string, unknown>;
}

/** Something that could not be read, so that it can be counted. */
export interface UnknownNotification {
  readonly field: string;
  readonly reason: string;
}

export interface WebhookPayload {
  readonly statuses: StatusNotification[];
  readonly inbound: InboundNotification[];
  /** They are in `management` as well. */
  readonly calls: CallNotification[];
  readonly management: ManagementNotification[];
  readonly unknown: UnknownNotification[];
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
export function readInbound(
  raw: JsonObject,
  contacts: readonly JsonObject[],
  origin: Origin,
): InboundNotification | string {
  const metaMessageId = ownId(raw, 'id');
  if (metaMessageId === null) return 'a message without an id';
  const from = readDigits(raw, 'from');
  const userId = ownId(raw, 'from_user_id');
  const contact = contactOf(contacts, from, userId);
  const type = ownText(raw, 'type') || 'unknown';
  const content = own(raw, type);
  const context = readInboundContext(raw, contact);
  return {
    ...origin,
    metaMessageId,
    from,
    fromUserId: userId ?? ownId(contact, 'user_id'),
    waId: readDigits(contact, 'wa_id'),
    profileName: ownText(ownObject(contact, 'profile'), 'name'),
    timestamp: readTime(raw, 'timestamp'),
    type,
    content: isObject(content) ? withoutAddress(type, content) : Array.isArray(content) ? content : null,
    body: isObject(content) ? (BODY_OF.get(type)?.(content) ?? null) : null,
    context,
    // A reaction names its message itself.
    contextMessageId:
      (type === 'reaction' ? ownId(content, 'message_id') : null) ?? ownId(ownObject(raw, 'context'), 'id'),
    opensWindow: !OPENS_NO_WINDOW.has(type) && context.group_id === undefined,
    raw,
  };
}

/** Reads one of `calls[]`; null for anything but a customer who calls. */
export function readCall(
  raw: JsonObject,
  contacts: readonly JsonObject[],
  origin: Origin,
  ownNumber: string | null,
): CallNotification | null {
  const userId = ownId(raw, 'from_user_id');
  const contact = contactOf(contacts, readDigits(raw, 'from'), userId);
  const from = readDigits(raw, 'from') ?? readDigits(contact, 'wa_id');
  const fromUserId = userId ?? ownId(contact, 'user_id');
  if (ownText(raw, 'event') !== 'connect' || (from === null && fromUserId === null)) return null;
  // Where the direction is missing, the caller implies it.
  const direction = ownText(raw, 'direction') ?? (from === ownNumber ? 'BUSINESS_INITIATED' : 'USER_INITIATED');
  if (direction !== 'USER_INITIATED') return null;
  const profileName = ownText(ownObject(contact, 'profile'), 'name');
  return { ...origin, from, fromUserId, profileName, timestamp: readTime(raw, 'timestamp') };
}

const FILE_TYPES: ReadonlySet<string> = new Set(['image', 'video', 'audio', 'document', 'sticker']);

/**
 * A file's object without the platform's own address of it, which ends within minutes and needs the number's token:
 * the file is had by `media_object_id`.
 */
function withoutAddress(type: string, content: JsonObject): JsonObject {
  if (!FILE_TYPES.has(type) || !Object.hasOwn(content, 'url')) return content;
  const { url: _url, ...rest } = content;
  return rest;
}

/** The contact with the sender's number or user id; else the only one there is, unless it is definitely another's. */
function contactOf(contacts: readonly JsonObject[], from: string | null, userId: string | null): JsonObject | null {
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
  for (const [reply, key] of [
    ['button_reply', 'title'],
    ['list_reply', 'title'],
    ['nfm_reply', 'body'],
  ] as const) {
    const text = ownText(ownObject(interactive, reply), key);
    if (text !== null) return text;
  }
  return null;
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

/** Several times the number of fields that the platform is known to send. */
const MAX_BYTES = 16 * 1024;
const MAX_USERNAME = 256;

/** Reads what is beside the content of one of `messages[]`. What is malformed or too large is left out. */
export function readInboundContext(raw: JsonObject, contact: JsonObject | null): InboundContext {
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

const STATUSES: ReadonlyMap<unknown, NotifiedStatus> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
  ['failed', 'failed'],
]);

/** Last second of the year 9999. */
const MAX_SECONDS = 253_402_300_799;

/** Reads one of `statuses[]`; a string says why it can't be read. */
export function readStatus(raw: JsonObject, origin: Origin): StatusNotification | string {
  const metaMessageId = ownId(raw, 'id');
  if (metaMessageId === null) return 'a status without the id of its message';
  const status = STATUSES.get(own(raw, 'status'));
  if (status === undefined) {
    return `the status ${quote(own(raw, 'status'))} is not known`;
  }
  const callbackData = ownText(raw, 'biz_opaque_callback_data');
  return {
    ...origin,
    metaMessageId,
    status,
    timestamp: readTime(raw, 'timestamp'),
    recipientId: readDigits(raw, 'recipient_id'),
    recipientUserId: ownId(raw, 'recipient_user_id'),
    callbackData: callbackData === '' ? null : callbackData,
    error: readError(raw),
    raw,
  };
}

/** The first of `errors[]`; a failed status may have none. */
function readError(raw: JsonObject): NotifiedError | null {
  const error = ownList(raw, 'errors').find((item) => typeof item === 'object' && item !== null);
  if (error === undefined) return null;
  const data = own(error, 'error_data');
  return {
    code: ownInteger(error, 'code'),
    title: ownText(error, 'title') ?? ownText(error, 'message'),
    details: ownText(ownObject(error, 'error_data'), 'details') ?? (typeof data === 'string' ? data : null),
  };
}

/** Seconds since the epoch, as a number or a string of digits; null for anything that is no time. */
export function readTime(value: unknown, key: string): Date | null {
  const seconds = ownInteger(value, key);
  return seconds === null || seconds <= 0 || seconds > MAX_SECONDS ? null : new Date(seconds * 1_000);
}

/** A number of at most 20 digits, with or without `+`; null for anything else (a group, a user id). */
export function readDigits(value: unknown, key: string): string | null {
  const text = ownId(value, key);
  return text === null ? null : (/^\+?(\d{1,20})$/.exec(text)?.[1] ?? null);
}

/** A foreign value inside a sentence of ours, cut short. */
export function quote(value: unknown): string {
  return typeof value === 'string' ? `"${storableText(value.slice(0, 40))}"` : typeof value;
}
