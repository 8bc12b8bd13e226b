import { ApiProperty } from '@nestjs/swagger';

/** Where the next page of a list begins that goes from new to old. */
export class PaginationResponse {
  /** Pass it as `before` for the next page; null on the last one. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: '2026-11-21T08:00:00.125Z' })
  next_before!: string | null;

  /** Pass it as `before_id` together with `before`. */
  @ApiProperty({ type: 'string', nullable: true, example: '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f' })
  next_before_id!: string | null;
}

/** One page of rows of which one more than `limit` was asked for, newest first. */
export function pageOf<R extends { id: string }>(
  rows: readonly R[],
  limit: number,
  timeOf: (row: R) => Date,
): { rows: R[]; pagination: PaginationResponse } {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const pagination = {
    next_before: last === undefined ? null : timeOf(last).toISOString(),
    next_before_id: last?.id ?? null,
  };
  return { rows: page, pagination };
}
