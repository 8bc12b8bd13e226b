import { ApiProperty } from '@nestjs/swagger';
import { EventPlace, EventsQuery, EventTypes } from '../../../infrastructure/events/events.query.js';
import { EVENT_SCHEMAS, EXAMPLE_CURSOR, EXAMPLE_EVENT } from '../dto/event.docs.js';
import { DeliveryResponse } from '../dto/webhook.dto.js';
import type { Scope } from '../../../infrastructure/http/scopes.js';
import { EVENT_TYPES, type EventType } from '../webhook.types.js';

/** Of types that show what messages contain: each of these scopes shows it elsewhere too. A file's name is in its events. */
const READABLE_WITH: Partial<Record<EventType, readonly Scope[]>> = {
  'message.received': ['messages:read'],
  'message.status.updated': ['messages:read'],
  'message.standby.received': ['messages:read'],
  'message.sent_elsewhere': ['messages:read'],
  'conversation.control.updated': ['messages:read'],
  'conversation.updated': ['messages:read'],
  'contact.opt_out.updated': ['messages:read'],
  'media.ready': ['messages:read', 'media:read'],
  'media.failed': ['messages:read', 'media:read'],
  'payment.updated': ['messages:read'],
  'call.missed': ['messages:read'],
  'call.ended': ['messages:read'],
};
const NEED_A_SCOPE = Object.keys(READABLE_WITH);

export class ListEventsRequest extends EventsQuery {
  /**
   * `next` of the answer before, or the `cursor` of an event: what follows it is answered. `now`: only what comes from
   * now on. Left out: from the oldest event that is kept.
   */
  @EventPlace()
  after?: string;

  /** Only events of these types, separated by commas, such as `message.received,media.ready`; others are passed over. */
  @EventTypes(EVENT_TYPES)
  types?: string;
}

/**
 * The types that a page has and, of those asked for, the ones that the key may not read. `types` null: all.
 */
export function typesOf(
  { types }: ListEventsRequest,
  scopes: ReadonlySet<Scope>,
): { types: EventType[] | null; omitted: EventType[] } {
  const wanted = types === undefined ? null : [...new Set(types.split(',') as EventType[])];
  const all = wanted ?? [...EVENT_TYPES];
  const omitted = all.filter((type) => !isReadableWith(scopes, type));
  if (omitted.length === 0) return { types: wanted, omitted };
  return { types: all.filter((type) => isReadableWith(scopes, type)), omitted };
}

export const isReadableWith = (scopes: ReadonlySet<Scope>, type: EventType): boolean =>
  READABLE_WITH[type]?.some((scope) => scopes.has(scope)) ?? true;

/** As a webhook delivery brings it. */
export interface EventEnvelope {
  id: string;
  type: EventType;
  created_at: Date;
  organization_id: string;
  cursor: string;
  data: Record<string, unknown>;
}

export class EventsResponse {
  /** Each as a webhook delivery brings it; by `type`. */
  @ApiProperty({ type: 'array', items: { oneOf: EVENT_SCHEMAS }, example: [EXAMPLE_EVENT] })
  data!: EventEnvelope[];

  /** Pass it as `after` the next time, also where `data` is empty. Keep it only once you have stored the events. */
  @ApiProperty({ example: EXAMPLE_CURSOR })
  next!: string;

  /** True: nothing more was there. False: ask again, at once after a page with events, else after a moment, or with `wait`. */
  @ApiProperty({ example: true })
  done!: boolean;

  /** Types that were left out because the key lacks the scope `messages:read`, or `media:read` for files. */
  @ApiProperty({ type: 'array', items: { type: 'string', enum: NEED_A_SCOPE }, example: [] })
  omitted!: string[];
}

export class DeliveryWithEvent extends DeliveryResponse {
  /**
   * The body that was sent. Null where the event is no longer kept, or where the key lacks the scope `messages:read`, or
   * `media:read` for files.
   */
  @ApiProperty({ oneOf: EVENT_SCHEMAS, nullable: true, example: EXAMPLE_EVENT })
  event!: EventEnvelope | null;
}

export class SingleDeliveryResponse {
  data!: DeliveryWithEvent;
}
