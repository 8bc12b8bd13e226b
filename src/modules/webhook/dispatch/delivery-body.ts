import { signDelivery } from '../webhook-signature.js';
import type { ClaimedEvent } from './dispatch.repository.js';

const USER_AGENT = 'Herald/1.0 (+webhooks)';

/**
 * The body of every attempt of an event, byte for byte: the data goes out as the database wrote it, for parsing it here
 * could only change it.
 */
export function deliveryBody(
  event: Pick<ClaimedEvent, 'id' | 'type' | 'organizationId' | 'occurredAt' | 'data'>,
): string {
  const text = (value: string): string => JSON.stringify(value);
  const createdAt = text(event.occurredAt.toISOString());
  const organizationId = text(event.organizationId);
  return `{"id":${text(event.id)},"type":${text(event.type)},"created_at":${createdAt},"organization_id":${organizationId},"data":${event.data}}`;
}

/** Headers of one attempt (Standard Webhooks): signed with each secret over id, time of this attempt and body. */
export function deliveryHeaders(
  eventId: string,
  body: string,
  secrets: readonly string[],
  now: number,
): Record<string, string> {
  const timestampSeconds = Math.floor(now / 1_000);
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signDelivery(secrets, eventId, timestampSeconds, body),
  };
}
