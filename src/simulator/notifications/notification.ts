import { createHmac } from 'node:crypto';
import type { TakenMessage } from '../messages/message-log.js';

/** One status of a taken message; its JSON is made only when it is posted. */
export interface StatusNotification {
  readonly kind: 'status';
  readonly message: TakenMessage;
  readonly step: number;
  /** True: in a request of its own. */
  readonly alone: boolean;
  /** Called once, when it was acknowledged or given up. */
  readonly settled?: () => void;
}

/** A customer's message on its way in. */
export interface Inbound {
  readonly phoneNumberId: string;
  /** The customer's number, or user id where the number is not shown. */
  readonly party: string;
  /** Milliseconds; opens the customer's window. */
  readonly writtenAt: number;
  readonly contact: object | null;
  readonly message: { readonly id: string; readonly [key: string]: unknown };
}

export interface InboundNotification extends Inbound {
  readonly kind: 'inbound';
  readonly sequence: number;
}

/** Any other body, posted as it is. */
export interface RawNotification {
  readonly kind: 'raw';
  readonly sequence: number;
  readonly body: object;
}

/** What is stored until it is acknowledged; statuses are stored with their message. */
export type QueuedNotification = InboundNotification | RawNotification;
export type Outgoing = StatusNotification | QueuedNotification;

/** A notification as it goes over the wire: the bytes, and the signatures over exactly these bytes. */
export interface SignedBody {
  bytes: Buffer;
  headers: Record<string, string>;
}

/**
 * JSON as the platform writes it: every character outside ASCII as `\uXXXX`, every slash as `\/`. A receiver that parses a body and
 * signs its own rendering of it finds another signature.
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
