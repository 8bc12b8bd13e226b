import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { cursorOf, isUuidText, PageQuery } from '../../../infrastructure/http/page.query.js';
import {
  MEDIA_DIRECTIONS,
  MEDIA_TYPES,
  type MediaDirection,
  type MediaFilter,
  type MediaType,
} from '../media.types.js';

/** The query of GET /media. */
export class ListMediaQuery extends PageQuery {
  /** Only files of this number: an id from GET /connections. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @isUuidText('connection_id')
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

export function filterOf(query: ListMediaQuery): MediaFilter {
  return {
    limit: query.limit,
    ...cursorOf(query),
    connectionId: query.connection_id?.toLowerCase() ?? null,
    type: query.type ?? null,
    direction: query.direction ?? null,
  };
}
