import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { commonErrors } from '../../../common/common.errors.js';
import type { TemplateFilter, TemplatePlace } from '../templates.repository.js';
import {
  TEMPLATE_CATEGORIES,
  TEMPLATE_STATUSES,
  type TemplateCategory,
  type TemplateStatus,
} from '../templates.types.js';

/** As many as the platform lets one account have. */
const MAX_LIMIT = 6_000;

/** Beyond the specification, which shows no parameters: without them the answer is the whole list. */
export class ListTemplatesQuery {
  /** Only templates in this state. */
  @ApiProperty({ required: false, enum: TEMPLATE_STATUSES })
  @IsOptional()
  @IsIn(TEMPLATE_STATUSES)
  status?: TemplateStatus;

  /** Only templates of this category. */
  @ApiProperty({ required: false, enum: TEMPLATE_CATEGORIES })
  @IsOptional()
  @IsIn(TEMPLATE_CATEGORIES)
  category?: TemplateCategory;

  /** Only this language, such as `en_US`. */
  @ApiProperty({ required: false })
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]{1,20}$/, { message: 'language must be a code such as en_US.' })
  language?: string;

  /** Only templates whose name contains this, such as `order`. */
  @ApiProperty({ required: false })
  @IsOptional()
  @Matches(/^[a-z0-9_]{1,512}$/, { message: 'name must be small letters, digits and underscores.' })
  name?: string;

  /** How many at the most. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: MAX_LIMIT })
  @IsInt()
  @Min(1)
  @Max(MAX_LIMIT)
  limit: number = MAX_LIMIT;

  /** `next_after` of the page before. */
  @ApiProperty({ required: false })
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]{1,1024}$/, { message: 'after must be next_after of the page before.' })
  after?: string;

  static filterOf({ status, category, language, name }: ListTemplatesQuery): TemplateFilter {
    return {
      status: status ?? null,
      category: category ?? null,
      language: language?.replaceAll('-', '_') ?? null,
      name: name ?? null,
    };
  }

  /** @throws INVALID_REQUEST (400) for a cursor that is none. */
  static placeOf({ after }: ListTemplatesQuery): TemplatePlace | null {
    if (after === undefined) return null;
    const place = /^([a-z0-9_]{1,512})\/([\w-]{1,64})$/.exec(Buffer.from(after, 'base64url').toString());
    if (place !== null) return { name: place[1] ?? '', language: place[2] ?? '' };
    throw commonErrors.INVALID_REQUEST({
      details: [{ field: 'after', rule: 'format', message: 'after must be next_after of the page before.' }],
    });
  }
}

/** The cursor that leads to what comes after this template. */
export function cursorOf({ name, language }: TemplatePlace): string {
  return Buffer.from(`${name}/${language}`).toString('base64url');
}

/** Query of GET /connections/{id}/templates/{name}. */
export class GetTemplateQuery {
  /** Only this language, such as `en_US`. */
  @ApiProperty({ required: false })
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]{1,20}$/, { message: 'language must be a code such as en_US.' })
  language?: string;
}
