import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  MaxLength,
} from 'class-validator';
import { EXAMPLE_CONNECTION_ID, EXAMPLE_WEBHOOK_URL } from '../../../common/example-ids.js';
import { PageQuery } from '../../../infrastructure/http/page.query.js';
import { IfGiven } from '../../../infrastructure/http/validated-request.pipe.js';
import { HEADER_NAME, LONGEST_VALUE, MOST_HEADERS } from '../webhook-headers.js';
import {
  DELIVERY_STATUSES,
  EVENT_TYPES,
  TEST_EVENT,
  WEBHOOK_EVENTS,
  type DeliveryStatus,
  type EventType,
  type WebhookEvent,
} from '../webhook.types.js';

export class ConfigureWebhookRequest {
  /** Where events are posted to: https, port 443, a host name that leads to public addresses only. */
  @ApiProperty({ format: 'uri', maxLength: 2_048, example: EXAMPLE_WEBHOOK_URL })
  @IsString()
  @MaxLength(2_048)
  url!: string;

  /** Kinds of event to send. Left out: the two about messages for a new webhook; those that it has for an existing one. */
  @ApiPropertyOptional({ enum: WEBHOOK_EVENTS, isArray: true, minItems: 1, example: [...WEBHOOK_EVENTS] })
  @IfGiven()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsIn(WEBHOOK_EVENTS, { each: true })
  events?: WebhookEvent[];

  /**
   * Numbers whose events to send; empty: all. An event about several numbers, such as one of a template, is sent where one
   * of them is chosen; one about none is sent in any case. Left out: all for a new webhook; those that it has for an
   * existing one.
   */
  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', format: 'uuid' },
    maxItems: 100,
    example: [EXAMPLE_CONNECTION_ID],
  })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(100)
  @IsUUID('all', { each: true })
  connection_ids?: string[];

  /**
   * Headers to send with every delivery beside ours, such as a key of your gateway: names `X-...` or `Authorization`, values
   * of visible ASCII, 4,096 characters in all. Stored encrypted and never shown again. Left out: those that the webhook
   * has, unless its address gets another scheme, host or port.
   */
  @ApiPropertyOptional({
    type: 'object',
    maxProperties: MOST_HEADERS,
    propertyNames: { pattern: HEADER_NAME },
    additionalProperties: { type: 'string', minLength: 1, maxLength: LONGEST_VALUE },
    example: { 'X-Environment': 'production' },
  } as ApiPropertyOptions)
  @IfGiven()
  @IsObject()
  headers?: Record<string, string>;

  /** With `false` events wait, three days at the most, and go out once it is `true` again. */
  @ApiPropertyOptional({ default: true, example: true })
  @IfGiven()
  @IsBoolean()
  active?: boolean;
}

/** Body of POST /webhook/test; it may be left out. */
export class TestWebhookRequest {
  /** Kind of the event. Other kinds than `webhook.test` bear the example of this description and `test: true` in `data`. */
  @ApiPropertyOptional({ enum: EVENT_TYPES, default: TEST_EVENT, example: TEST_EVENT })
  @IfGiven()
  @IsIn(EVENT_TYPES)
  type: EventType = TEST_EVENT;
}

export class ListDeliveriesRequest extends PageQuery {
  /** Only attempts that ended so. */
  @ApiPropertyOptional({ enum: DELIVERY_STATUSES })
  @IsOptional()
  @IsIn(DELIVERY_STATUSES)
  status?: DeliveryStatus;

  /** Only attempts for this kind of event. */
  @ApiPropertyOptional({ enum: EVENT_TYPES })
  @IsOptional()
  @IsIn(EVENT_TYPES)
  event_type?: EventType;
}
