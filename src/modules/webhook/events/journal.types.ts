import type { EventType, WebhookEvent } from '../webhook.types.js';

/** A place in the order of a workspace's events: after this event. */
export interface JournalPlace {
  /** Decimal, as the type xid8 is written. */
  transaction: string;
  /** The id contains the time of the place. */
  id: string;
}

/** The selection of a journal's reader. */
export interface JournalReader {
  organizationId: string;
  after: JournalPlace;
  events: readonly WebhookEvent[];
  /** Empty: all numbers. */
  connectionIds: readonly string[];
}

export interface JournalEvent extends JournalPlace {
  type: EventType;
  occurredAt: Date;
  /** Null: the event concerns no conversation. */
  conversationId: string | null;
  /** The body of a webhook delivery. */
  body: string;
}
