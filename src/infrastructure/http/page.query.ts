import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, Matches, Max, Min, ValidateBy } from 'class-validator';
import { isDateTime } from '../../common/date-time.js';
import { UUID_PATTERN } from '../../common/ids.js';

/** Where a page of a list begins: behind the row that was made then and has this id; without an id, before the time. */
export interface ListCursor {
  before: Date | null;
  beforeId: string | null;
}

/** The rule of a parameter that names something by its id. */
export const isUuidText = (name: string): PropertyDecorator =>
  Matches(UUID_PATTERN, { message: `${name} must be a UUID.` });

/** A parameter that may be left out, and else is a UUID. */
export const OptionalUuid = (name: string): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ format: 'uuid' }), IsOptional(), isUuidText(name));

/** A time that may be left out. */
export const OptionalTime = (name: string): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: String, format: 'date-time' }),
    IsOptional(),
    ValidateBy({
      name: 'format',
      validator: { validate: isDateTime, defaultMessage: (broken) => timeMessage(name, String(broken?.value)) },
    }),
  );

/** The query of every list that goes from new to old. */
export class PageQuery {
  /** How many at the most. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 100, default: 50 })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 50;

  /** Only what is older than this time, such as `2026-11-21T08:00:00.000Z`. */
  @OptionalTime('before')
  before?: string;

  /** Together with `before`: the last entry of the previous page. */
  @OptionalUuid('before_id')
  @ValidateBy({
    name: 'requiresBefore',
    validator: {
      validate: (_id, given) => (given?.object as PageQuery | undefined)?.before !== undefined,
      defaultMessage: () => 'before_id needs before: pass both as the last page gave them.',
    },
  })
  before_id?: string;
}

/** The query of a list that may be narrowed to a range of the times that it is in the order of. */
export class PeriodQuery extends PageQuery {
  /** Only what is of this time or later, by the time that the list is in the order of. */
  @OptionalTime('since')
  since?: string;

  /** Only what is of before this time. */
  @OptionalTime('until')
  until?: string;
}

/** A range of times; null: without a bound. */
export interface Period {
  since: Date | null;
  until: Date | null;
}

/** Of a query that was validated. */
export function periodOf({ since, until }: PeriodQuery): Period {
  return { since: since === undefined ? null : new Date(since), until: until === undefined ? null : new Date(until) };
}

/** Of a query that was validated. */
export function cursorOf({ before, before_id: beforeId }: Pick<PageQuery, 'before' | 'before_id'>): ListCursor {
  return { before: before === undefined ? null : new Date(before), beforeId: beforeId?.toLowerCase() ?? null };
}

/** `until` is where the first page begins, so that an index leads there. */
export function beginningAt<F extends ListCursor & Pick<Period, 'until'>>(filter: F): F {
  const { before, until } = filter;
  return until === null || (before !== null && before < until) ? filter : { ...filter, before: until, beforeId: null };
}

function timeMessage(name: string, given: string): string {
  // In a query an unescaped + means a space.
  const plus = isDateTime(given.replace(' ', '+')) ? ' Escape the + of the zone as %2B.' : '';
  return `${name} must be an ISO 8601 date-time with its zone, such as 2026-11-21T08:00:00.000Z.${plus}`;
}
