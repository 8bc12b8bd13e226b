import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsISO8601, IsOptional, Matches, Max, Min } from 'class-validator';
import { commonErrors } from '../../../common/common.errors.js';
import { UUID_PATTERN } from '../../../common/ids.js';
import {
  MEDIA_DIRECTIONS,
  MEDIA_TYPES,
  type MediaDirection,
  type MediaFilter,
  type MediaType,
} from '../media.types.js';

const A_DATE_TIME = 'before must be an ISO 8601 date-time with its time zone.';

const uuid = (name: string) => Matches(UUID_PATTERN, { message: `${name} must be a UUID.` });

/** The query of GET /media. */
export class ListMediaQuery {
  /** How many at the most. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 100, default: 50 })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 50;

  /** Only files made before this time, such as `2026-11-21T08:00:00.000Z`. */
  @ApiPropertyOptional({ format: 'date-time' })
  @IsOptional()
  @IsISO8601({ strict: true, strictSeparator: true })
  @Matches(/T.*(Z|[+-]\d{2}:\d{2})$/i, { message: A_DATE_TIME })
  before?: string;

  /** Together with `before`: the last file of the previous page. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @uuid('before_id')
  before_id?: string;

  /** Only files of this number: an id from GET /connections. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @uuid('connection_id')
  connection_id?: string;

  /** Only files of this type. */
  @ApiPropertyOptional({ enum: MEDIA_TYPES })
  @IsOptional()
  @IsIn(MEDIA_TYPES)
  type?: MediaType;

  /** `outbound`: uploaded here; `inbound`: sent by customers. */
  @ApiPropertyOptional({ enum: MEDIA_DIRECTIONS })
  @IsOptional()
  @IsIn(MEDIA_DIRECTIONS)
  direction?: MediaDirection;
}

/** @throws INVALID_REQUEST (400) where the cursor is only half there, and for a time that JavaScript can't read. */
export function filterOf(query: ListMediaQuery): MediaFilter {
  // ISO 8601 knows days of the year, weeks and commas as well.
  if (query.before !== undefined && Number.isNaN(Date.parse(query.before))) {
    throw commonErrors.INVALID_REQUEST({ details: [{ field: 'before', rule: 'format', message: A_DATE_TIME }] });
  }
  if (query.before_id !== undefined && query.before === undefined) {
    const message = 'before_id needs before: pass both as the last page gave them.';
    throw commonErrors.INVALID_REQUEST({ details: [{ field: 'before_id', rule: 'requires_before', message }] });
  }
  return {
    limit: query.limit,
    before: query.before === undefined ? null : new Date(query.before),
    beforeId: query.before_id?.toLowerCase() ?? null,
    connectionId: query.connection_id?.toLowerCase() ?? null,
    type: query.type ?? null,
    direction: query.direction ?? null,
  };
}
