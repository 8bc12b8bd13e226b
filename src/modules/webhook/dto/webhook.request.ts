import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { EXAMPLE_WEBHOOK_URL } from '../../../common/example-ids.js';
import { IfGiven } from '../../../infrastructure/http/validated-request.pipe.js';
import {
  DELIVERY_STATUSES,
  EVENT_TYPES,
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

  /** Kinds of event to send. Left out: both for a new webhook; those that it has for an existing one. */
  @ApiPropertyOptional({ enum: WEBHOOK_EVENTS, isArray: true, minItems: 1, example: [...WEBHOOK_EVENTS] })
  @IfGiven()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsIn(WEBHOOK_EVENTS, { each: true })
  events?: WebhookEvent[];

  /** With `false` events wait, three days at the most, and go out once it is `true` again. */
  @ApiPropertyOptional({ default: true, example: true })
  @IfGiven()
  @IsBoolean()
  active?: boolean;
}

export class ListDeliveriesRequest {
  /** How many at the most. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 100, default: 50 })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 50;

  /** Only attempts begun before this time, such as `2026-11-21T08:00:00.000Z`. */
  @ApiPropertyOptional({ format: 'date-time' })
  @IsOptional()
  @IsString()
  before?: string;

  /** Together with `before`: the last attempt of the previous page. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsString()
  before_id?: string;

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
