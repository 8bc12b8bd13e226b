import { createHmac } from 'node:crypto';
import { ERROR_TITLES } from '../graph-error.js';
import { stepsOf, type TakenMessage } from '../messages/message-log.js';
import type { Numbers } from '../numbers/numbers.js';
import { digitsOf, type Inbound, type People } from '../people.js';

/** One status of an accepted message; its JSON is made only when it is posted. */
export interface StatusNotification {
  readonly kind: 'status';
  readonly message: TakenMessage;
  readonly step: number;
  /** True: in a separate request. */
  readonly alone: boolean;
  /** Called once, when it was acknowledged or dropped. */
  readonly settled?: () => void;
}

export interface InboundNotification extends Inbound {
  readonly kind: 'inbound';
  readonly sequence: number;
}

/** Any other body, posted unchanged. */
interface RawNotification {
  readonly kind: 'raw';
  readonly sequence: number;
  readonly body: object;
}

/** Stored until acknowledged; statuses are stored with their message. */
export type QueuedNotification = InboundNotification | RawNotification;
export type Outgoing = StatusNotification | QueuedNotification;

/** A notification ready to send: the bytes, and the signatures over exactly these bytes. */
export interface SignedBody {
  bytes: Buffer;
  headers: Record<string, string>;
}

/**
 * JSON in WhatsApp's form: characters outside ASCII as `\uXXXX`, slashes as `\/`. A receiver that signs its own
 * rendering of a parsed body gets another signature.
 */
export function escapedJson(value: object): string {
  return JSON.stringify(value).replaceAll(/[/\u0080-\uffff]/g, (character) =>
    character === '/' ? '\\/' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Renders and signs a notification. */
export function signBody(value: object, appSecret: string): SignedBody {
  const bytes = Buffer.from(escapedJson(value), 'latin1');
  return {
    bytes,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'facebookexternalua',
      'x-hub-signature': `sha1=${createHmac('sha1', appSecret).update(bytes).digest('hex')}`,
      'x-hub-signature-256': `sha256=${createHmac('sha256', appSecret).update(bytes).digest('hex')}`,
    },
  };
}

/** One change of a field; changes of messages have no time. @param time `entry.time` in seconds */
export function envelopeOf(id: string, field: string, value: unknown, time = Math.floor(Date.now() / 1000)): object {
  const entry = { id, time: field === 'messages' ? undefined : time, changes: [{ value, field }] };
  return { object: 'whatsapp_business_account', entry: [entry] };
}

type Packed = StatusNotification | InboundNotification;

/** Packs many statuses and messages into one body: an entry per business account, a change per number and kind. */
export class EnvelopeBuilder {
  constructor(
    private readonly numbers: Numbers,
    private readonly people: People,
    private readonly gapMs: number,
  ) {}

  build(items: readonly Packed[]): object {
    const accounts = grouped(items, (item) => this.numbers.get(senderOf(item))?.wabaId ?? '0');
    const entry = [...accounts].map(([id, ofAccount]) => {
      const changes = grouped(ofAccount, (item) => `${item.kind} ${senderOf(item)}`);
      return { id, changes: [...changes.values()].map((some) => ({ value: this.value(some), field: 'messages' })) };
    });
    return { object: 'whatsapp_business_account', entry };
  }

  /** @param items of one number and kind */
  private value(items: readonly Packed[]): object {
    const [first] = items;
    const phone_number_id = first === undefined ? '' : senderOf(first);
    const display_phone_number = digitsOf(this.numbers.get(phone_number_id)?.displayPhoneNumber ?? '');
    const contacts = new Map<string, object>();
    const payloads = items.map((item) => {
      const contact = item.kind === 'status' ? statusContact(item.message, item.step, this.people) : item.contact;
      if (contact !== null) contacts.set(customerOf(item), contact);
      return item.kind === 'status' ? statusJson(item.message, item.step, this.gapMs, this.people) : item.message;
    });
    return {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number, phone_number_id },
      contacts: contacts.size === 0 ? undefined : [...contacts.values()],
      [first?.kind === 'status' ? 'statuses' : 'messages']: payloads,
    };
  }
}

/** The business's number, by its id. */
export function senderOf(item: Packed): string {
  return item.kind === 'status' ? item.message.phoneNumberId : item.phoneNumberId;
}

/** By the number or id under which the platform knows the customer. */
export function customerOf(item: Packed): string {
  return item.kind === 'status' ? (item.message.waId ?? item.message.to) : item.party;
}

function grouped(items: readonly Packed[], keyOf: (item: Packed) => string): Map<string, Packed[]> {
  const groups = new Map<string, Packed[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

const FAILURE_DETAILS: Readonly<Record<number, string>> = {
  131042: 'The business account has no valid payment method',
  131026: 'The number is not on WhatsApp, runs an old version, or has not accepted the terms of service',
  131053: 'The media could not be fetched, or is not of a type that such a message can have',
  131047: 'More than 24 hours have passed since the customer last wrote to this number',
};

/**
 * One entry of `statuses[]`, in the form of v24 and later: without `conversation`; `pricing` with `sent` and with one
 * more status.
 */
function statusJson(message: TakenMessage, stepIndex: number, gapMs: number, people: People): object {
  const steps = stepsOf(message.plan);
  const step = steps[stepIndex];
  if (step === undefined) throw new Error(`plan ${message.plan} has no step ${stepIndex}`);
  const atSeconds = Math.floor((message.takenAt + step.gaps * gapMs) / 1000);
  const failed = step.status === 'failed';
  // The price comes again after `sent`: with `delivered`, or with `read` if `delivered` is skipped.
  const priced =
    step.status === 'sent' ||
    step.status === 'delivered' ||
    (step.status === 'read' && !steps.some((other) => other.status === 'delivered'));
  const userId = message.waId === null ? message.to : people.userIdOf(message.waId);
  return {
    id: message.id,
    status: step.status,
    timestamp: String(atSeconds),
    recipient_id: message.waId ?? undefined,
    recipient_user_id: failed && message.waId !== null ? undefined : userId,
    biz_opaque_callback_data: message.callback ?? undefined,
    pricing: priced ? pricingOf(message) : undefined,
    errors: step.errorCode === undefined ? undefined : [failureJson(step.errorCode)],
  };
}

/**
 * The `contacts[]` entry beside a status; null for `failed`, which has none. Every third message has no `profile`, like
 * real payloads: code that expects one loses its receipts.
 */
function statusContact(message: TakenMessage, stepIndex: number, people: People): object | null {
  const status = stepsOf(message.plan)[stepIndex]?.status;
  if (status === 'failed') return null;
  const party = message.waId ?? message.to;
  const username = status === 'sent' ? undefined : people.usernameOf(party);
  return {
    profile: message.sequence % 3 === 0 ? undefined : { name: people.profileNameOf(party), username },
    wa_id: message.waId ?? undefined,
    user_id: message.waId === null ? message.to : people.userIdOf(message.waId),
  };
}

function pricingOf(message: TakenMessage): object {
  const free = message.isFree === true;
  const type = free ? 'free_customer_service' : 'regular';
  return { billable: !free, pricing_model: 'PMP', type, category: message.pricing };
}

function failureJson(code: number): object {
  const title = ERROR_TITLES[code]?.title ?? 'Unknown error';
  return {
    code,
    title,
    message: title,
    error_data: { details: FAILURE_DETAILS[code] ?? title },
    href: '/documentation/business-messaging/whatsapp/support/error-codes',
  };
}
