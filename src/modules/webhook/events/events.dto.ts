import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, MaxLength, Min, ValidateBy } from 'class-validator';
import { EVENT_SCHEMAS, EXAMPLE_CURSOR, EXAMPLE_EVENT } from '../dto/event.docs.js';
import type { Scope } from '../../../infrastructure/access/scopes.js';
import { EVENT_TYPES, MESSAGE_EVENTS, type EventType } from '../webhook.types.js';

const KINDS: ReadonlySet<string> = new Set(EVENT_TYPES);
const ABOUT_MESSAGES: ReadonlySet<string> = new Set(MESSAGE_EVENTS);

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
}

/**
 * The types that a page has and, of those asked for, the ones that the key may not read: what messages say needs the
 * scope of the journal. `types` null: all.
 */
export function typesOf(
  { types }: ListEventsRequest,
  scopes: ReadonlySet<Scope>,
): { types: EventType[] | null; omitted: EventType[] } {
  const wanted = types === undefined ? null : [...new Set(types.split(',') as EventType[])];
  if (scopes.has('messages:read')) return { types: wanted, omitted: [] };
  const all = wanted ?? [...EVENT_TYPES];
  return {
    types: all.filter((type) => !ABOUT_MESSAGES.has(type)),
    omitted: all.filter((type) => ABOUT_MESSAGES.has(type)),
  };
}

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

  /** True: nothing more was there. False: ask again, at once after a page with events, else after a moment. */
  @ApiProperty({ example: true })
  done!: boolean;

  /** Types that were left out because the key lacks the scope `messages:read`. */
  @ApiProperty({ type: 'array', items: { type: 'string', enum: [...MESSAGE_EVENTS] }, example: [] })
  omitted!: string[];
}
