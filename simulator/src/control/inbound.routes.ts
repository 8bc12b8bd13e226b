import { invalidParam, PlainError } from '../graph-error.js';
import { type Call, control, type Route } from '../http/call.js';
import { isObject, type JsonObject, Param } from '../http/param.js';
import { addressOf } from '../media/media.routes.js';
import { MAX_MEDIA_BYTES, MEDIA_KINDS, type MediaKind, saveFile } from '../media/media-store.js';
import { paddedTo, SAMPLE_FILES } from '../media/sample-files.js';
import type { IdSource } from '../ids.js';
import { digitsOf, type InboundLog } from '../people.js';
import type { Platform } from '../platform.js';
import type { SimulatorNumber } from '../simulator.types.js';
import { limitOf, numberOf } from './control.routes.js';

/** How long a customer's file can be fetched. */
const INBOUND_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
const MAX_WISH_BYTES = 1024 * 1024 * 1024;
const MAX_LISTED = 1_000;
/** How long WhatsApp shows that the business is typing. */
const TYPING_MS = 25_000;

/** A customer writes to one of the numbers, or calls it. */
export function inboundRoutes(platform: Platform): Route[] {
  return [
    control('post', '/inbound', async (call) => {
      const { param } = call;
      const message = await withFile(
        platform,
        call,
        String(param.get('phone_number_id').value),
        param.get('message').value,
      );
      return receive(platform, param, message);
    }),
    control('get', '/inbound', (call) => listInbound(platform.inboundLog, limitOf(call))),
  ];
}

/** The last messages of customers, and whether the business has read them. */
function listInbound(inboundLog: InboundLog, limit: number): object {
  const timeOf = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  const data = inboundLog.list(Math.min(limit, MAX_LISTED)).map((fact) => ({
    id: fact.id,
    phone_number_id: fact.phoneNumberId,
    from: fact.party,
    written_at: timeOf(fact.writtenAt),
    read_at: timeOf(fact.readAt),
    reads: fact.reads ?? 0,
    typing_until: timeOf(fact.typingAt === undefined ? undefined : fact.typingAt + TYPING_MS),
  }));
  return { data };
}

/** The customer's names in notifications; without the number if it is hidden. */
interface Contact {
  profile?: object;
  wa_id?: string;
  user_id: string;
}

function receive(platform: Platform, body: Param, given: unknown): object {
  const { people } = platform;
  const phoneNumberId = body.text('phone_number_id', 20);
  const number = numberOf(platform.numbers, phoneNumberId);
  const userId = textOf(body, 'user_id');
  const username = textOf(body, 'username');
  const isHidden = body.flag('without_from');
  const from = textOf(body, 'from');
  const waId = from === undefined ? null : digitsOf(from);
  if (waId === '') throw invalidParam('"from" must hold the customer\'s number.');
  if (waId === null && userId === undefined) throw invalidParam('"from" is missing: the number of the customer.');

  const profileName = textOf(body, 'profile_name');
  if (waId !== null) people.learn(waId, { userId, username, profileName });
  const customerId = userId ?? people.userIdOf(waId as string);
  if (waId === null || isHidden) people.learn(customerId, { username, profileName });
  const shown = isHidden ? null : waId;
  const party = shown ?? customerId;
  if (people.hasBlocked(phoneNumberId, party)) {
    throw new PlainError(400, 'The number has blocked this customer, who can not write to it.');
  }
  const profile = { name: people.profileNameOf(party), username: people.usernameOf(party) };
  const contact: Contact = {
    profile: body.flag('without_profile') ? undefined : profile,
    wa_id: shown ?? undefined,
    user_id: customerId,
  };
  if (body.flag('call')) return ring(platform, number, contact);
  const message = completeMessage(platform.ids, given, contact, waId ?? customerId);
  platform.announce({
    phoneNumberId,
    party,
    writtenAt: Number(message.timestamp) * 1000,
    contact: message.type === 'system' ? null : contact,
    message,
  });
  return { success: true, id: message.id, timestamp: message.timestamp, user_id: customerId, message };
}

/** The customer calls: this opens the window like a message. */
function ring(platform: Platform, number: SimulatorNumber, contact: Contact): object {
  const { phoneNumberId, wabaId } = number;
  const own = digitsOf(number.displayPhoneNumber);
  const { wa_id: from, user_id: userId } = contact;
  const party = from ?? userId;
  const writtenAt = Date.now();
  const id = platform.ids.inboundWamid(platform.ids.nextSequence(), party).replace('wamid', 'wacid');
  platform.inboundLog.add({ id, phoneNumberId, party, writtenAt });
  platform.notifyAccount(wabaId, 'calls', {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: own, phone_number_id: phoneNumberId },
    contacts: [contact],
    calls: [
      {
        id,
        from,
        from_user_id: userId,
        to: own,
        event: 'connect',
        direction: 'USER_INITIATED',
        timestamp: String(Math.floor(writtenAt / 1000)),
        session: { sdp_type: 'offer', sdp: 'v=0' },
      },
    ],
  });
  return { success: true, id, user_id: userId };
}

/** Adds the fields that every message object has; given fields stay, so that repeats can be sent too. */
function completeMessage(
  ids: IdSource,
  given: unknown,
  { wa_id: waId, user_id: userId }: Contact,
  partyOfId: string,
): JsonObject & { id: string; timestamp: string; type: string } {
  const content = typeof given === 'string' ? { text: { body: given } } : (given ?? { text: { body: 'Hello' } });
  if (!isObject(content)) throw invalidParam('"message" must be a message object, or a text.');
  const type = content.type ?? 'text';
  if (typeof type !== 'string') throw invalidParam('"message.type" must be a text.');
  if (content[type] === undefined && type !== 'unsupported') {
    throw invalidParam(`"message.${type}" is missing: a message of type ${type} has its content there.`);
  }
  const timestamp = content.timestamp === undefined ? Math.floor(Date.now() / 1000) : Number(content.timestamp);
  if (!Number.isInteger(timestamp)) throw invalidParam('"message.timestamp" must be whole seconds since 1970.');
  const id = content.id ?? ids.inboundWamid(ids.nextSequence(), partyOfId);
  if (typeof id !== 'string' || id === '' || /\s/.test(id)) throw invalidParam('"message.id" must be an id.');
  const from = waId === undefined ? {} : { from: waId };
  return { ...from, from_user_id: userId, ...content, id, timestamp: String(timestamp), type };
}

/**
 * Makes a real file for an image, video, audio, document or sticker, from `file` in the call. Returns the message with
 * the file's facts; unchanged for another type, or with an id from the caller.
 *
 * @throws PlainError for a `file` that can't be made
 */
export async function withFile(
  platform: Platform,
  call: Call,
  phoneNumberId: string,
  message: unknown,
): Promise<unknown> {
  const { ids, media, numbers } = platform;
  const body = call.param;
  const isAsked = body.get('file').isGiven;
  const file = isAsked ? body.object('file') : new Param({}, 'file');
  const kind = isObject(message) ? MEDIA_KINDS.find((one) => one === message.type) : undefined;
  if (!isObject(message) || kind === undefined || numbers.get(phoneNumberId) === undefined) return message;
  const content = message[kind] ?? (isAsked ? {} : undefined);
  if (!isObject(content) || (content.id !== undefined && !isAsked)) return message;

  const sample = SAMPLE_FILES[kind];
  const size = file.optionalNumber('size_bytes', 1, MAX_WISH_BYTES);
  const base64 = file.optionalText('base64', MAX_WISH_BYTES);
  if (base64 !== undefined && !/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(base64)) {
    throw invalidParam('"file.base64" must be base64.');
  }
  const given = new Param(content, `message['${kind}']`);
  const mimeType = textOf(file, 'mime_type') ?? textOf(given, 'mime_type') ?? sample.mimeType;
  const filename = textOf(file, 'filename') ?? sample.filename;
  const bytes = base64 === undefined ? sample.bytes : Buffer.from(base64, 'base64');
  const wanted = Math.floor(size ?? bytes.length);
  if (wanted > MAX_MEDIA_BYTES) return tooLarge(message, kind);

  const id = ids.newObjectId();
  const { sha256, sizeBytes } = await saveFile(media.pathOf(id), paddedTo(bytes, wanted));
  const createdAt = Date.now();
  const expiresAt = createdAt + INBOUND_LIFE_MS;
  const source = 'webhook';
  media.add({ id, phoneNumberId, mimeType, sha256, sizeBytes, source, usable: true, createdAt, expiresAt });
  const facts = {
    ...(kind === 'audio' && { voice: mimeType.includes('opus') }),
    ...(kind === 'sticker' && { animated: false }),
    ...(kind === 'document' && { filename }),
    mime_type: mimeType,
    sha256: Buffer.from(sha256, 'hex').toString('base64'),
    id,
    url: addressOf(platform, call, id, source, null),
  };
  return { ...message, [kind]: { ...facts, ...content } };
}

/** WhatsApp does not fetch more than 100 MiB from a customer; an error replaces the message. */
function tooLarge(message: JsonObject, kind: MediaKind): JsonObject {
  const { [kind]: _, ...rest } = message;
  const title = 'Media download error';
  const details = 'The file that the customer sent is too large to be downloaded';
  return { ...rest, type: 'unsupported', errors: [{ code: 131052, title, message: title, error_data: { details } }] };
}

/** A non-empty text; undefined where it is absent. */
function textOf(param: Param, key: string): string | undefined {
  return param.get(key).isGiven ? param.text(key, 1000) : undefined;
}
