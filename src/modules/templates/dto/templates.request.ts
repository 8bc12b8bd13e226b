import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { invalidField } from '../../../common/common.errors.js';
import type { TemplatePlace } from '../templates.repository.js';
import {
  TEMPLATE_CATEGORIES,
  TEMPLATE_STATUSES,
  type TemplateCategory,
  type TemplateStatus,
} from '../templates.types.js';

/** As many as the platform lets one account have. */
const MAX_LIMIT = 6_000;

export class GetTemplateQuery {
  /** Only this language, such as `en_US`. */
  @ApiPropertyOptional()
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]{1,20}$/, { message: 'language must be a code such as en_US.' })
  language?: string;
}

/** Beyond the specification, which shows no parameters: without them the answer is the whole list. */
export class ListTemplatesQuery extends GetTemplateQuery {
  /** Only templates in this state. */
  @ApiPropertyOptional({ enum: TEMPLATE_STATUSES })
  @IsOptional()
  @IsIn(TEMPLATE_STATUSES)
  status?: TemplateStatus;

  /** Only templates of this category; small letters will do. */
  @ApiPropertyOptional({ enum: TEMPLATE_CATEGORIES })
  @IsOptional()
  @IsIn([...TEMPLATE_CATEGORIES, ...TEMPLATE_CATEGORIES.map((category) => category.toLowerCase())], {
    message: `category must be ${TEMPLATE_CATEGORIES.slice(0, -1).join(', ')} or ${TEMPLATE_CATEGORIES.at(-1)}.`,
  })
  category?: TemplateCategory | Lowercase<TemplateCategory>;

  /** Only templates whose name contains this, such as `order`. */
  @ApiPropertyOptional()
  @IsOptional()
  @Matches(/^[a-z0-9_]{1,512}$/, { message: 'name must be small letters, digits and underscores.' })
  name?: string;

  /** How many at the most. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: MAX_LIMIT })
  @IsInt()
  @Min(1)
  @Max(MAX_LIMIT)
  limit: number = MAX_LIMIT;

  /** `next_after` of the page before. */
  @ApiPropertyOptional()
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]{1,1024}$/, { message: 'after must be next_after of the page before.' })
  after?: string;
}

/**
 * The place of the template after which a page begins; null for the first page.
 *
 * @throws INVALID_REQUEST (400) for a cursor that is none.
 */
export function placeOf({ after }: ListTemplatesQuery): TemplatePlace | null {
  if (after === undefined) return null;
  const [, name, language] =
    /^([a-z0-9_]{1,512})\/([\w-]{1,64})$/.exec(Buffer.from(after, 'base64url').toString()) ?? [];
  if (name !== undefined && language !== undefined) return { name, language };
  throw invalidField('after', 'format', 'after must be next_after of the page before.');
}

/** The cursor that leads to what comes after this template. */
export function cursorOf({ name, language }: TemplatePlace): string {
  return Buffer.from(`${name}/${language}`).toString('base64url');
}
