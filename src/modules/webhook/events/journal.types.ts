import type { EventType, WebhookEvent } from '../webhook.types.js';

/** A place in the order of a workspace's events: behind this one. */
export interface JournalPlace {
  /** Decimal, as the type xid8 is written. */
  transaction: string;
  /** Its time is that of the place. */
  id: string;
}

/** What a reader of the journal takes. */
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
  /** Null: it is about none. */
  conversationId: string | null;
  /** As a webhook's delivery has it. */
  body: string;
}
