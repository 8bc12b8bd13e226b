import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { UUID_PATTERN } from '../../../common/ids.js';
import { readCursor } from '../../../common/list-cursor.js';
import {
  MEDIA_DIRECTIONS,
  MEDIA_TYPES,
  type MediaDirection,
  type MediaFilter,
  type MediaType,
} from '../media.types.js';

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
  @IsString()
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

/** @throws INVALID_REQUEST (400) where the cursor is none, or only half there. */
export function filterOf(query: ListMediaQuery): MediaFilter {
  return {
    limit: query.limit,
    ...readCursor(query),
    connectionId: query.connection_id?.toLowerCase() ?? null,
    type: query.type ?? null,
    direction: query.direction ?? null,
  };
}
