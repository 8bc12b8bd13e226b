import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsUUID, Matches, Max, Min } from 'class-validator';
import { commonErrors } from '../../../common/common.errors.js';
import { isDateTime } from '../../../common/date-time.js';
import { DELIVERY_STATUSES, type DeliveryFilter, type DeliveryStatus } from '../deliveries.repository.js';
import { EVENT_TYPES, type EventType } from '../webhook.types.js';

// A time without its zone would be taken for that of the server.
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;
const A_DATE_TIME = 'before must be an ISO 8601 date-time with its zone, such as 2026-11-21T08:00:00.000Z.';

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
  @Matches(DATE_TIME, { message: A_DATE_TIME })
  before?: string;

  /** Together with `before`: the last attempt of the previous page. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('all')
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

/** @throws INVALID_REQUEST (400) for a time that does not exist, and for `before_id` alone. */
export function deliveryFilterOf(request: ListDeliveriesRequest): DeliveryFilter {
  const { before, before_id: beforeId } = request;
  if (before !== undefined && !isDateTime(before)) {
    throw commonErrors.INVALID_REQUEST({ details: [{ field: 'before', rule: 'format', message: A_DATE_TIME }] });
  }
  if (beforeId !== undefined && before === undefined) {
    const message = 'before_id needs before: pass both as the last page gave them.';
    throw commonErrors.INVALID_REQUEST({ details: [{ field: 'before_id', rule: 'requires_before', message }] });
  }
  return {
    limit: request.limit,
    before: before === undefined ? null : new Date(before),
    beforeId: beforeId ?? null,
    status: request.status ?? null,
    eventType: request.event_type ?? null,
  };
}
