import { cursorText } from '../../infrastructure/events/event-cursor.js';

/** What the body of an event is made of. */
export interface EventParts {
  eventId: string;
  eventType: string;
  organizationId: string;
  occurredAt: Date;
  /** The JSON text as the database wrote it. */
  data: string;
  /** Of the transaction that wrote it. */
  transaction: string;
  /** Of the database. */
  identity: string;
}

/**
 * The body of every attempt of an event and of every destination, byte for byte, on the same database: the data goes out as the database
 * wrote it, for parsing it here could only change it.
 */
export function eventBody(event: EventParts): string {
  const { eventId: id, eventType: type, organizationId, occurredAt, data, transaction, identity } = event;
  const cursor = cursorText({ kind: 'event', transaction, id }, { owner: organizationId, identity });
  const envelope = JSON.stringify({ id, type, created_at: occurredAt, organization_id: organizationId, cursor });
  return `${envelope.slice(0, -1)},"data":${data}}`;
}
