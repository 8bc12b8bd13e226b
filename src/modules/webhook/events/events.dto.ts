import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, MaxLength, Min, ValidateBy } from 'class-validator';
import { EVENT_SCHEMAS, EXAMPLE_CURSOR, EXAMPLE_EVENT } from '../dto/event.docs.js';
import { DeliveryResponse } from '../dto/webhook.dto.js';
import type { Scope } from '../../../infrastructure/http/scopes.js';
import { EVENT_TYPES, type EventType } from '../webhook.types.js';

const KINDS: ReadonlySet<string> = new Set(EVENT_TYPES);
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

export class ListEventsRequest {
  /**
   * `next` of the answer before, or the `cursor` of an event: what follows it is answered. `now`: only what comes from
   * now on. Left out: from the oldest event that is kept.
   */
  @ApiPropertyOptional({ maxLength: 100 })
  @IsOptional()
  @MaxLength(100)
  after?: string;

  /** Only events of these types, separated by commas, such as `message.received,media.ready`; others are passed over. */
  @ApiPropertyOptional()
  @IsOptional()
  @MaxLength(400)
  @ValidateBy({
    name: 'one_of',
    validator: {
      validate: (text) => typeof text === 'string' && text.split(',').every((type) => KINDS.has(type)),
      defaultMessage: () => `types must be one or more of these, separated by commas: ${EVENT_TYPES.join(', ')}.`,
    },
  })
  types?: string;

  /** How many at the most. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 250, default: 100 })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(250)
  limit = 100;

  /** Seconds to wait for an event where none is there; 0: answer at once. */
  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: 25, default: 0 })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(25)
  wait = 0;
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
