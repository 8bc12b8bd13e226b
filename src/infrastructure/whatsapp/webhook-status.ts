import type { JsonObject } from '../../common/json.js';
import { own, ownId, ownInteger, ownList, ownObject, ownText, storableText } from './json-access.js';
import type { NotifiedError, NotifiedStatus, StatusNotification } from './webhook-payload.types.js';

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
export function readStatus(
  raw: JsonObject,
  origin: { phoneNumberId: string | null; wabaId: string | null },
): StatusNotification | string {
  const metaMessageId = ownId(raw, 'id');
  if (metaMessageId === null) {
    return 'a status without the id of its message';
  }
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
  if (error === undefined) {
    return null;
  }
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
