import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, MaxLength, Min, ValidateBy } from 'class-validator';

/** Where a reader of a log of events is. */
export const EventPlace = (): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ maxLength: 100 }), IsOptional(), MaxLength(100));

/** Types of events, separated by commas. */
export const EventTypes = (all: readonly string[]): PropertyDecorator => {
  const known = new Set(all);
  return applyDecorators(
    ApiPropertyOptional({ maxLength: 400 }),
    IsOptional(),
    MaxLength(400),
    ValidateBy({
      name: 'one_of',
      validator: {
        validate: (text) => typeof text === 'string' && text.split(',').every((type) => known.has(type)),
        defaultMessage: () => `types must be one or more of these, separated by commas: ${all.join(', ')}.`,
      },
    }),
  );
};

/** How much a reader of a log of events takes, and how long it waits; `after` and `types` are its log's. */
export class EventsQuery {
  /** How many at the most. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 250, default: 100 })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(250)
  limit = 100;

  /** Seconds to wait for an event where none is there; 0: answer at once. */
  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: 25, default: 0 })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(25)
  wait = 0;
}
