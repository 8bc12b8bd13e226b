import type { TakenMessage } from '../messages/taken-message.js';

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

/** A customer's message. */
export interface InboundNotification {
  readonly kind: 'inbound';
  readonly sequence: number;
  readonly phoneNumberId: string;
  /** Number or user id of the customer. */
  readonly party: string;
  /** Milliseconds; opens the customer's window. */
  readonly writtenAt: number;
  readonly contact: object | null;
  readonly message: object;
}

/** Any other body, posted as it is. */
export interface RawNotification {
  readonly kind: 'raw';
  readonly sequence: number;
  readonly body: object;
}

export type Outgoing = StatusNotification | InboundNotification | RawNotification;
