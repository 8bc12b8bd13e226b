import { cursorText } from '../../infrastructure/events/event-cursor.js';

/** The parts of an event's body. */
export interface EventParts {
  eventId: string;
  eventType: string;
  organizationId: string;
  occurredAt: Date;
  /** The JSON text as the database wrote it. */
  data: string;
  /** The id of the transaction that wrote it. */
  transaction: string;
  /** Of the database. */
  identity: string;
}

/**
 * The body of an event, identical byte for byte in every attempt and for every destination on the same database. The
 * data is sent as the database wrote it, since parsing could only change it.
 */
export function eventBody(event: EventParts): string {
  const { eventId: id, eventType: type, organizationId, occurredAt, data, transaction, identity } = event;
  const cursor = cursorText({ kind: 'event', transaction, id }, { owner: organizationId, identity });
  const envelope = JSON.stringify({ id, type, created_at: occurredAt, organization_id: organizationId, cursor });
  return `${envelope.slice(0, -1)},"data":${data}}`;
}
