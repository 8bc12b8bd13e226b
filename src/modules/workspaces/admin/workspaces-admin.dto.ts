import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Length, Matches, Max, Min, ValidateBy } from 'class-validator';
import { isDateTime } from '../../../common/date-time.js';
import { EXAMPLE_WORKSPACE_ID } from '../../../common/example-ids.js';
import { decimalText, millionthsOf } from '../../../common/millionths.js';
import { isTimeZone } from '../../../common/time-zone.js';
import { PageQuery } from '../../../infrastructure/http/page.query.js';
import { PaginationResponse } from '../../../infrastructure/http/pagination.response.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import type { Workspace, WorkspaceUse } from '../workspaces.service.js';

const TIME = '2026-11-21T08:00:00.125Z';
const MOST = 1_000_000_000;
const MONEY = /^\d{1,9}(?:\.\d{1,2})?$/;

/** A whole number, or null for the service's own. */
const Limit =
  (minimum: number, maximum: number): PropertyDecorator =>
  (target, key) => {
    ApiPropertyOptional({ type: 'integer', nullable: true, minimum, maximum })(target, key);
    for (const rule of [IsOptional(), IsInt(), Min(minimum), Max(maximum)]) rule(target, key);
  };

/** The query of GET /workspaces. */
export class ListWorkspacesQuery extends PageQuery {
  /** Only those whose name begins so, in any case. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 200 })
  @IsOptional()
  @IsString()
  @Length(1, 200)
  name?: string;

  /** Only the one with this id of yours. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 200 })
  @IsOptional()
  @IsString()
  @Length(1, 200)
  external_id?: string;
}

const NotBlank = (name: string): PropertyDecorator =>
  Matches(/\S/, { message: `${name} must have a character that is no space.` });

/** Body of POST /workspaces. */
export class CreateWorkspaceRequest {
  /** What it is called in lists. */
  @ApiProperty({ minLength: 1, maxLength: 200, example: 'Lighthouse Coffee' })
  @IsString()
  @Length(1, 200)
  @NotBlank('name')
  name!: string;

  /** Your own id of the customer, unique among all workspaces; GET /workspaces finds the workspace by it. */
  @ApiPropertyOptional({ type: 'string', nullable: true, minLength: 1, maxLength: 200, example: 'customer-4711' })
  @IsOptional()
  @IsString()
  @Length(1, 200)
  external_id?: string | null;
}

/** What else of a workspace can be changed. What is left out stays as it is. */
class WorkspaceSettings {
  /** Until when it has paid for sending; null: not at all. Not asked for with `BILLING=off`. */
  @ApiPropertyOptional({ type: 'string', format: 'date-time', nullable: true })
  @IsOptional()
  @ValidateBy({
    name: 'format',
    validator: {
      validate: isDateTime,
      defaultMessage: () => 'api_paid_until must be an ISO 8601 date-time with its zone, such as 2027-12-31T23:59:59Z.',
    },
  })
  api_paid_until?: string | null;

  /** Requests a second of each of its keys; null: the default of the service. */
  @Limit(1, 1_000_000)
  rate_per_second?: number | null;

  /** Requests that each key may make at once; null: the default of the service. */
  @Limit(1, 1_000_000)
  rate_burst?: number | null;

  /** Bytes of stored files; null: the default of the service. */
  @Limit(0, Number.MAX_SAFE_INTEGER)
  storage_limit_bytes?: number | null;

  /** Messages that are accepted in a day; null: any number. */
  @Limit(0, MOST)
  messages_per_day?: number | null;

  /** Estimated cost of the messages of a month, in the currency of the prices; null: any amount. */
  @ApiPropertyOptional({ type: 'string', nullable: true, pattern: MONEY.source, example: '250.00' })
  @IsOptional()
  @Matches(MONEY, { message: 'spend_per_month must be an amount such as "250.00".' })
  spend_per_month?: string | null;

  /** Marketing templates to one recipient in a week, from Monday on; null: any number. */
  @Limit(0, MOST)
  marketing_per_recipient_per_week?: number | null;

  /** Where its days, weeks and months begin. */
  @ApiPropertyOptional({ type: 'string', example: 'Europe/Berlin' })
  @IfGiven()
  @ValidateBy({
    name: 'timeZone',
    validator: {
      validate: (given) => typeof given === 'string' && isTimeZone(given),
      defaultMessage: () => 'time_zone must be a time zone such as Europe/Berlin, or UTC.',
    },
  })
  time_zone?: string;
}

/** Body of PATCH /workspaces/{workspace_id}. */
export class ChangeWorkspaceRequest extends WorkspaceSettings {
  /** What it is called in lists. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 200, example: 'Lighthouse Coffee' })
  @IfGiven()
  @IsString()
  @Length(1, 200)
  @NotBlank('name')
  name?: string;

  /** Your own id of the customer; null: none. */
  @ApiPropertyOptional({ type: 'string', nullable: true, minLength: 1, maxLength: 200, example: 'customer-4711' })
  @IsOptional()
  @IsString()
  @Length(1, 200)
  external_id?: string | null;
}

/** What holds for the workspace: its own limits, or those of the service. */
export class EffectiveLimitsResponse {
  /** Whether it must have paid in order to send. */
  @ApiProperty({ example: true })
  needs_subscription!: boolean;

  @ApiProperty({ type: 'integer', example: 50 })
  rate_per_second!: number;

  @ApiProperty({ type: 'integer', example: 100 })
  rate_burst!: number;

  /** Null: any number. */
  @ApiProperty({ type: 'integer', nullable: true, example: null })
  storage_limit_bytes!: number | null;
}

/** A workspace: the owner of keys, numbers and messages. */
export class WorkspaceResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_WORKSPACE_ID })
  id!: string;

  @ApiProperty({ example: 'Lighthouse Coffee' })
  name!: string;

  /** Your own id of the customer. */
  @ApiProperty({ type: 'string', nullable: true, example: 'customer-4711' })
  external_id!: string | null;

  /** `deleting`: its keys and numbers end, its data goes; once that is over it does not exist. */
  @ApiProperty({ enum: ['active', 'deleting'], example: 'active' })
  state!: 'active' | 'deleting';

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  deletion_requested_at!: string | null;

  /** Until when it has paid for sending. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: TIME })
  api_paid_until!: string | null;

  /** Null, here and below: the default of the service. */
  @ApiProperty({ type: 'integer', nullable: true, example: null })
  rate_per_second!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, example: null })
  rate_burst!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, example: null })
  storage_limit_bytes!: number | null;

  /** Null, here and below: any number. */
  @ApiProperty({ type: 'integer', nullable: true, example: 10_000 })
  messages_per_day!: number | null;

  @ApiProperty({ type: 'string', nullable: true, example: '250.00' })
  spend_per_month!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, example: 2 })
  marketing_per_recipient_per_week!: number | null;

  @ApiProperty({ example: 'Europe/Berlin' })
  time_zone!: string;

  @ApiProperty({ type: 'integer', example: 1_048_576 })
  storage_used_bytes!: number;

  effective!: EffectiveLimitsResponse;

  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: string;

  static of(workspace: Workspace & WorkspaceUse): WorkspaceResponse {
    const { effective, spendPerMonth, deletionRequestedAt, apiPaidUntil, createdAt } = workspace;
    return {
      id: workspace.id,
      name: workspace.name,
      external_id: workspace.externalId,
      state: deletionRequestedAt === null ? 'active' : 'deleting',
      deletion_requested_at: deletionRequestedAt?.toISOString() ?? null,
      api_paid_until: apiPaidUntil?.toISOString() ?? null,
      rate_per_second: workspace.ratePerSecond,
      rate_burst: workspace.rateBurst,
      storage_limit_bytes: workspace.storageLimitBytes,
      messages_per_day: workspace.messagesPerDay,
      spend_per_month: spendPerMonth === null ? null : decimalText(millionthsOf(spendPerMonth)),
      marketing_per_recipient_per_week: workspace.marketingPerRecipientPerWeek,
      time_zone: workspace.timeZone,
      storage_used_bytes: workspace.storageUsedBytes,
      effective: {
        needs_subscription: effective.needsSubscription,
        rate_per_second: effective.ratePerSecond,
        rate_burst: effective.rateBurst,
        storage_limit_bytes: effective.storageLimitBytes,
      },
      created_at: createdAt.toISOString(),
    };
  }
}

export class SingleWorkspaceResponse {
  data!: WorkspaceResponse;
}

export class WorkspaceListResponse {
  data!: WorkspaceResponse[];

  pagination!: PaginationResponse;
}
