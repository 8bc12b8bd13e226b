import type { JsonObject } from '../../common/json.js';
import { own, ownId, ownInteger, ownObject, ownText, ownTime } from './json-access.js';
import type { OfNumber } from './webhook-message.js';

interface News extends OfNumber {
  readonly occurredAt: Date | null;
}

interface OfContact extends News {
  /** The customer's number, digits only; null where only a user id is known. */
  readonly from: string | null;
  readonly userId: string | null;
}

interface OfMessage extends News {
  readonly metaMessageId: string;
  readonly callbackData: string | null;
}

/** A customer paid, or failed to pay, for an order in one of our messages. */
export interface PaymentNews extends OfContact, OfMessage {
  readonly kind: 'payment';
  /** `new`, `pending`, `captured`, `canceled`, `failed`, or a later word. */
  readonly status: string;
  /** As received. */
  readonly payment: JsonObject;
}

/** A call has ended. */
export interface CallNews extends OfContact {
  readonly kind: 'call';
  readonly callId: string | null;
  readonly isOutbound: boolean;
  /** In WhatsApp's words: `COMPLETED`, `FAILED`. */
  readonly status: string | null;
  /** Null: the call was not answered. */
  readonly startedAt: Date | null;
  readonly durationSeconds: number | null;
}

/** An error that belongs to no message. */
export interface ErrorNews extends News {
  readonly kind: 'error';
  readonly code: number | null;
}

/** One of our messages was deleted by its recipient, or WhatsApp warns about it. */
export interface NoteNews extends OfMessage {
  readonly kind: 'note';
  readonly note: 'deleted' | 'warned';
  readonly code: number | null;
}

/** Reports that change no message: they become an event, or an entry in a message's timeline. */
export type PlatformNews = PaymentNews | CallNews | ErrorNews | NoteNews;

const NOTES: ReadonlyMap<unknown, NoteNews['note']> = new Map([
  ['deleted', 'deleted'],
  ['warning', 'warned'],
]);

/** Reads one of `statuses[]` that is not about delivery; null: it is. A string is the reason why it can't be read. */
export function readStatusNews(raw: JsonObject, phoneNumberId: string | null): PlatformNews | string | null {
  const payment = ownObject(raw, 'payment');
  const isPayment = payment !== null || own(raw, 'type') === 'payment';
  const note = NOTES.get(own(raw, 'status'));
  if (!isPayment && note === undefined) return null;
  const metaMessageId = ownId(raw, 'id');
  if (metaMessageId === null) return 'a status without the id of its message';
  const callbackData = ownText(raw, 'biz_opaque_callback_data') || null;
  const of = { phoneNumberId, occurredAt: ownTime(raw, 'timestamp'), metaMessageId, callbackData };
  if (!isPayment)
    return { kind: 'note', ...of, note: note as NoteNews['note'], code: ownInteger(firstError(raw), 'code') };
  const status = ownText(raw, 'status');
  if (status === null) return 'a payment without a status';
  const contact = { from: digits(raw, 'recipient_id'), userId: ownId(raw, 'recipient_user_id') };
  return { kind: 'payment', ...of, ...contact, status, payment: payment ?? {} };
}

/** Reads the end of a call; null for any other event of a call. */
export function readCallNews(raw: JsonObject, phoneNumberId: string | null, ownNumber: string | null): CallNews | null {
  if (ownText(raw, 'event') !== 'terminate') return null;
  const [from, to] = [digits(raw, 'from'), digits(raw, 'to')];
  // If the direction is missing, the caller implies it.
  const direction = ownText(raw, 'direction') ?? (from !== null && from === ownNumber ? 'BUSINESS_INITIATED' : '');
  const isOutbound = direction === 'BUSINESS_INITIATED';
  return {
    kind: 'call',
    phoneNumberId,
    occurredAt: ownTime(raw, 'end_time') ?? ownTime(raw, 'timestamp'),
    from: isOutbound ? to : from,
    userId: ownId(raw, isOutbound ? 'to_user_id' : 'from_user_id'),
    callId: ownId(raw, 'id'),
    isOutbound,
    status: ownText(raw, 'status'),
    startedAt: ownTime(raw, 'start_time'),
    durationSeconds: ownInteger(raw, 'duration'),
  };
}

/** Reads one of the `errors[]` beside messages. */
export function readErrorNews(raw: JsonObject, phoneNumberId: string | null, occurredAt: Date | null): ErrorNews {
  return {
    kind: 'error',
    phoneNumberId,
    occurredAt,
    code: ownInteger(raw, 'code'),
  };
}

function firstError(raw: JsonObject): unknown {
  const errors = own(raw, 'errors');
  return Array.isArray(errors) ? (errors[0] as unknown) : null;
}

function digits(raw: JsonObject, key: string): string | null {
  return /^\+?(\d{1,20})$/.exec(ownId(raw, key) ?? '')?.[1] ?? null;
}
