import { isObject, type JsonObject } from '../../common/json.js';
import { own, ownId, ownObject, ownText } from './json-access.js';
import { readInboundContext } from './inbound-context.js';
import type { CallNotification, InboundNotification } from './webhook-payload.types.js';
import { readDigits, readTime } from './webhook-status.js';

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
  origin: { phoneNumberId: string | null; wabaId: string | null },
): InboundNotification | string {
  const metaMessageId = ownId(raw, 'id');
  if (metaMessageId === null) {
    return 'a message without an id';
  }
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
  origin: { phoneNumberId: string | null; wabaId: string | null },
  ownNumber: string | null,
): CallNotification | null {
  const userId = ownId(raw, 'from_user_id');
  const contact = contactOf(contacts, readDigits(raw, 'from'), userId);
  const from = readDigits(raw, 'from') ?? readDigits(contact, 'wa_id');
  const fromUserId = userId ?? ownId(contact, 'user_id');
  if (ownText(raw, 'event') !== 'connect' || (from === null && fromUserId === null)) return null;
  // Where the direction is missing, the caller tells it.
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

/** The contact with the sender's number or user id; else the only one there is, unless it is surely another's. */
function contactOf(contacts: readonly JsonObject[], from: string | null, userId: string | null): JsonObject | null {
  const named = contacts.find(
    (contact) =>
      (userId !== null && ownId(contact, 'user_id') === userId) ||
      (from !== null && readDigits(contact, 'wa_id') === from),
  );
  if (named !== undefined) {
    return named;
  }
  const [only, ...others] = contacts;
  if (only === undefined || others.length > 0) {
    return null;
  }
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
    if (text !== null) {
      return text;
    }
  }
  return null;
}
