import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Length, Matches, Max, Min } from 'class-validator';
import { EXAMPLE_WORKSPACE_ID } from '../../../common/example-ids.js';
import { OptionalUuid, PageQuery } from '../../../infrastructure/http/page.query.js';
import { PaginationResponse } from '../../../infrastructure/http/pagination.response.js';
import { UsageFiguresResponse } from '../dto/usage.dto.js';
import type { Rate } from '../usage.types.js';

const MONTH = /^20\d\d-(?:0[1-9]|1[0-2])$/;
const MOST_CHARACTERS = 200_000;
const CSV = 'countries,category,tier_from,price,currency,valid_from\nDE,marketing,1,0.1131,EUR,2026-10-01\n';

/** The query of GET /usage. */
export class WorkspaceUsageQuery extends OmitType(PageQuery, ['limit']) {
  /** Workspaces in one page, at the most; those that sent nothing have no line. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 100, default: 20 })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 20;

  /** A month of UTC, such as `2026-10`; left out: the present one. */
  @ApiPropertyOptional({ pattern: MONTH.source })
  @IsOptional()
  @Matches(MONTH, { message: 'month must be a month such as 2026-10.' })
  month?: string;

  /** Only of this workspace. */
  @OptionalUuid('workspace_id')
  workspace_id?: string;

  /** `csv`: all pages at once as `text/csv`, for a spreadsheet. */
  @ApiPropertyOptional({ enum: ['json', 'csv'], default: 'json' })
  @IsOptional()
  @IsIn(['json', 'csv'])
  format: 'json' | 'csv' = 'json';
}

/** What a workspace sent and received in a month, by one of its numbers, a country and a category. */
export class WorkspaceUsageLine extends UsageFiguresResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_WORKSPACE_ID })
  workspace_id!: string;

  /** Its name. */
  @ApiProperty({ example: 'Lighthouse Coffee' })
  workspace!: string;

  /** The number, or the id of one that is gone. */
  @ApiProperty({ example: '15550100001' })
  connection!: string;

  /** ISO 3166 alpha-2; empty: not known. */
  @ApiProperty({ example: 'DE' })
  country!: string;

  /** Empty: not known. */
  @ApiProperty({ example: 'marketing' })
  category!: string;
}

export class WorkspaceUsageResponse {
  data!: WorkspaceUsageLine[];

  pagination!: PaginationResponse;
}

/** Body of PUT /rates. */
export class ReplaceRatesRequest {
  /** All prices, as the file of `herald rates set` has them: comma-separated, one price a line, with a header. */
  @ApiProperty({ minLength: 1, maxLength: MOST_CHARACTERS, example: CSV })
  @IsString()
  @Length(1, MOST_CHARACTERS)
  csv!: string;
}

/** A price of billable messages. */
export class RateResponse {
  /** ISO 3166 alpha-2; `*`: all that no other price names. */
  @ApiProperty({ type: [String], example: ['DE'] })
  countries!: string[];

  @ApiProperty({ example: 'marketing' })
  category!: string;

  /** From this message of a month on, counted from 1. */
  @ApiProperty({ type: 'integer', example: 1 })
  tier_from!: number;

  @ApiProperty({ example: '0.1131' })
  price!: string;

  @ApiProperty({ example: 'EUR' })
  currency!: string;

  /** The first day of a month. */
  @ApiProperty({ example: '2026-10-01' })
  valid_from!: string;

  static of({ tierFrom, validFrom, ...rate }: Rate): RateResponse {
    return { ...rate, tier_from: tierFrom, valid_from: validFrom };
  }
}

export class RatesResponse {
  data!: RateResponse[];
}

/** What was billed lately and has no price. */
export class UnpricedResponse {
  @ApiProperty({ example: 'utility' })
  category!: string;

  @ApiProperty({ type: [String], example: ['FR'] })
  countries!: string[];

  @ApiProperty({ type: 'integer', example: 42 })
  messages!: number;
}

export class ReplacedRatesData {
  /** How many prices there are now. */
  @ApiProperty({ type: 'integer', example: 1 })
  prices!: number;

  /** Since the month before. */
  unpriced!: UnpricedResponse[];
}

export class ReplacedRatesResponse {
  data!: ReplacedRatesData;
}
