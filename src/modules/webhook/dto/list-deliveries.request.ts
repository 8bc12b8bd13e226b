import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { readCursor } from '../../../common/list-cursor.js';
import { DELIVERY_STATUSES, type DeliveryFilter, type DeliveryStatus } from '../deliveries.repository.js';
import { EVENT_TYPES, type EventType } from '../webhook.types.js';

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

/** @throws INVALID_REQUEST (400) where the cursor is none, or only half there. */
export function deliveryFilterOf(request: ListDeliveriesRequest): DeliveryFilter {
  return {
    limit: request.limit,
    ...readCursor(request),
    status: request.status ?? null,
    eventType: request.event_type ?? null,
  };
}
