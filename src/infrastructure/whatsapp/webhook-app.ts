import { isObject, type JsonObject } from '../../common/json.js';
import { own, ownId, ownInteger, ownList, ownObject, ownText, ownTime } from './json-access.js';
import { type OfNumber, readDigits, readSaid, type Said } from './webhook-message.js';
import { ECHO_ENVELOPE } from './webhook-names.js';

/**
 * A message of one of the numbers that the API did not send: from the WhatsApp Business app, or from a linked device.
 */
export interface AppMessage extends OfNumber, Said {
  readonly metaMessageId: string;
  /** The customer's number, digits only; null where only a user id is known. */
  readonly contact: string | null;
  readonly userId: string | null;
  readonly occurredAt: Date | null;
}

/** A message from before the number was connected. */
export interface HistoryMessage extends AppMessage {
  readonly direction: 'outbound' | 'inbound';
  /** The status of an outbound message. */
  readonly status: 'sent' | 'delivered' | 'read' | 'failed';
}

/** The contents of one `history` notification. */
export interface HistoryPart {
  readonly messages: HistoryMessage[];
  /** Percentage of the whole history; null where the notification does not say. */
  readonly progress: number | null;
  /** The business does not share its history. */
  readonly isDeclined: boolean;
  /** Messages that can't be read. */
  readonly unreadable: number;
}

/** The error of a history that the business does not share. */
const DECLINED = 2_593_109;

/** Reads one of `message_echoes[]`; a string is the reason why it can't be read. */
export function readEcho(raw: JsonObject, phoneNumberId: string | null): AppMessage | string {
  const contact = readDigits(raw, 'to');
  const userId = ownId(raw, 'to_user_id');
  return readAppMessage(raw, { phoneNumberId, contact, userId });
}

function readAppMessage(
  raw: JsonObject,
  who: Pick<AppMessage, 'phoneNumberId' | 'contact' | 'userId'>,
): AppMessage | string {
  const metaMessageId = ownId(raw, 'id');
  if (metaMessageId === null) return 'a message without an id';
  if (who.contact === null && who.userId === null) return 'a message without a recipient';
  const said = Object.fromEntries(Object.entries(raw).filter(([key]) => !ECHO_ENVELOPE.has(key)));
  return { ...who, metaMessageId, occurredAt: ownTime(raw, 'timestamp'), ...readSaid(said) };
}

/**
 * Reads the value of a `history` notification. Files come in notifications of their own, whose messages are not in
 * threads.
 */
export function readHistory(value: JsonObject): HistoryPart {
  const metadata = ownObject(value, 'metadata');
  const phoneNumberId = ownId(metadata, 'phone_number_id');
  const ownNumber = ownText(metadata, 'display_phone_number')?.replaceAll(/\D/g, '') ?? null;
  const parts = ownList(value, 'history').filter(isObject);
  const found: (HistoryMessage | string)[] = [];
  const readAll = (of: JsonObject, thread: JsonObject | null): void => {
    for (const raw of ownList(of, 'messages')) {
      found.push(isObject(raw) ? readPast(raw, { thread, phoneNumberId, ownNumber }) : 'a message that is no object');
    }
  };
  for (const part of parts) {
    for (const thread of ownList(part, 'threads').filter(isObject)) readAll(thread, thread);
    readAll(part, null);
  }
  readAll(value, null);
  const progress = parts.map((part) => progressOf(ownObject(part, 'metadata'))).filter((each) => each !== null);
  const errors = [value, ...parts].flatMap((part) => ownList(part, 'errors').filter(isObject));
  const messages = found.filter((each) => typeof each !== 'string');
  return {
    messages,
    progress: progress.length === 0 ? null : Math.max(...progress),
    isDeclined: errors.some((error) => ownInteger(error, 'code') === DECLINED),
    unreadable: found.length - messages.length,
  };
}

function progressOf(metadata: JsonObject | null): number | null {
  const progress = Number(own(metadata, 'progress') ?? Number.NaN);
  return Number.isFinite(progress) ? Math.min(100, Math.max(0, progress)) : null;
}

const STATUSES: Readonly<Record<string, HistoryMessage['status']>> = {
  DELIVERED: 'delivered',
  READ: 'read',
  PLAYED: 'read',
  ERROR: 'failed',
};

function readPast(
  raw: JsonObject,
  {
    thread,
    phoneNumberId,
    ownNumber,
  }: { thread: JsonObject | null; phoneNumberId: string | null; ownNumber: string | null },
): HistoryMessage | string {
  const context = ownObject(raw, 'history_context');
  const from = readDigits(raw, 'from');
  const isOwn = own(context, 'from_me') === true || (from !== null && from === ownNumber);
  const direction = isOwn ? 'outbound' : 'inbound';
  const contact = readDigits(thread, 'id') ?? (isOwn ? readDigits(raw, 'to') : from);
  const userId =
    ownId(raw, isOwn ? 'to_user_id' : 'from_user_id') ?? (contact === null ? userIdOf(ownId(thread, 'id')) : null);
  const message = readAppMessage(raw, { phoneNumberId, contact, userId });
  if (typeof message === 'string') return message;
  const status = STATUSES[(ownText(context, 'status') ?? '').toUpperCase()] ?? 'sent';
  return { ...message, direction, status };
}

/** A thread may be named by the user id of a contact who hides the number. */
function userIdOf(id: string | null): string | null {
  return id !== null && /^[A-Z]{2}\./.test(id) ? id : null;
}
