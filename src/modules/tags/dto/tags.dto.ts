import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, Max, Min, ValidateBy, ValidateIf } from 'class-validator';
import { isDateTime } from '../../../common/date-time.js';
import { EXAMPLE_TAG } from '../../../common/example-ids.js';
import { FAILURE_CATEGORIES, type FailureCategory } from '../../../common/failure-category.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import { MAX_PACE, TAG_ACTIONS, TAG_STATUSES } from '../tags.types.js';
import type { TagAction, TagPlan, TagStatus, TagSummary } from '../tags.types.js';

const TIME = '2026-11-21T08:00:00.125Z';
const COUNTS = { queued: 1_800, delivered: 2_400, read: 725, failed: 75 };
const count = { type: 'integer' as const, minimum: 0 };

/** Body of POST /tags/{tag}/retry. */
export class RetryTagRequest {
  /** Only messages with this `failure_category`. Default: all but `canceled` and `opted_out`. */
  @ApiPropertyOptional({ enum: FAILURE_CATEGORIES, example: 'invalid_recipient' })
  @IfGiven()
  @IsIn(FAILURE_CATEGORIES)
  category?: FailureCategory;
}

/** Body of PUT /tags/{tag}. */
export class PutTagRequest {
  /** `true`: its messages wait, and before its start no `ttl_seconds` runs. `false`: they go, or wait for `start_at`. Default: as it is, at first `false`. */
  @ApiPropertyOptional({ type: Boolean, example: true })
  @IfGiven()
  @IsBoolean()
  paused?: boolean;

  /** No message goes before this time. One with a later `send_at` keeps that. null: none. Fixed once the tag has started. */
  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true, example: null })
  @ValidateIf((request: PutTagRequest) => request.start_at !== undefined && request.start_at !== null)
  @ValidateBy({
    name: 'format',
    validator: {
      validate: isDateTime,
      defaultMessage: () => 'start_at must be an ISO 8601 date-time with its zone, or null.',
    },
  })
  start_at?: string | null;

  /** At most so many a minute are let into the queue, whatever your numbers could send. Not for messages with a `send_at` or a retry. null: no limit. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_PACE, nullable: true, example: 600 })
  @ValidateIf(
    (request: PutTagRequest) => request.messages_per_minute !== undefined && request.messages_per_minute !== null,
  )
  @IsInt()
  @Min(1)
  @Max(MAX_PACE)
  messages_per_minute?: number | null;
}

export function planOf({ paused, start_at: start, messages_per_minute: messagesPerMinute }: PutTagRequest): TagPlan {
  return { paused, startAt: start === undefined || start === null ? start : new Date(start), messagesPerMinute };
}

export class TagActionResult {
  @ApiProperty({ example: EXAMPLE_TAG })
  tag!: string;

  @ApiProperty({ enum: TAG_ACTIONS, example: 'pause' })
  action!: TagAction;

  @ApiProperty({ enum: TAG_STATUSES, example: 'paused' })
  status!: TagStatus;

  /** Messages that it is about, as they are counted at this moment: those that wait, or for a retry those that failed. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 1_800 })
  messages!: number;
}

export class TagActionResponse {
  @ApiProperty({ type: TagActionResult })
  data!: TagActionResult;
}

/** The last action, and what it has done so far. */
export class LastTagAction {
  @ApiProperty({ enum: TAG_ACTIONS, example: 'retry' })
  action!: TagAction;

  @ApiProperty({ format: 'date-time', example: TIME })
  started_at!: string;

  /** null: it goes on. A pause holds from its start on. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: TIME })
  ended_at!: string | null;

  /** Messages that it has held, freed, canceled or queued again. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 60 })
  done!: number;

  /** Messages that a retry had to leave as they were, by the error code that POST /messages/{id}/retry would answer. */
  @ApiProperty({ type: 'object', additionalProperties: count, example: { RECIPIENT_OPTED_OUT: 15 } })
  skipped!: Record<string, number>;
}

/** A group of messages, in lists. */
export class TagListItem {
  @ApiProperty({ example: EXAMPLE_TAG })
  tag!: string;

  /** `scheduled`: it waits for its `start_at`. */
  @ApiProperty({ enum: TAG_STATUSES, example: 'active' })
  status!: TagStatus;

  @ApiProperty({ type: Boolean, example: false })
  paused!: boolean;

  /** As PUT /tags/{tag} was given. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  start_at!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, example: null })
  messages_per_minute!: number | null;

  @ApiProperty({ type: 'integer', minimum: 0, example: 5_000 })
  messages!: number;

  /** Messages by status. */
  @ApiProperty({ type: 'object', additionalProperties: count, example: COUNTS })
  counts!: Record<string, number>;

  /** Of the queued ones: whose `send_at` has not come. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 })
  scheduled!: number;

  /** Failed messages by `failure_category`. */
  @ApiProperty({ type: 'object', additionalProperties: count, example: { invalid_recipient: 75 } })
  failures!: Record<string, number>;

  /** When it was made: by its first message, or before by PUT /tags/{tag}. Lists are in this order. */
  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: string;

  /** null: it has no message yet. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: TIME })
  first_accepted_at!: string | null;

  /** When Herald last learned or decided something of one of its messages; null: it has none yet. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: TIME })
  last_activity_at!: string | null;

  @ApiProperty({ type: LastTagAction, nullable: true })
  last_action!: LastTagAction | null;

  static of(tag: TagSummary): TagListItem {
    const { action, actedAt } = tag;
    return {
      tag: tag.tag,
      status: tag.status,
      paused: tag.isPaused,
      start_at: tag.startAt?.toISOString() ?? null,
      messages_per_minute: tag.messagesPerMinute,
      messages: tag.messages,
      counts: tag.counts,
      scheduled: tag.scheduled,
      failures: tag.failures,
      created_at: tag.createdAt.toISOString(),
      first_accepted_at: tag.firstAcceptedAt?.toISOString() ?? null,
      last_activity_at: tag.lastActivityAt?.toISOString() ?? null,
      last_action:
        action === null || actedAt === null
          ? null
          : {
              action,
              started_at: actedAt.toISOString(),
              ended_at: tag.endedAt?.toISOString() ?? null,
              done: tag.done,
              skipped: tag.skipped,
            },
    };
  }
}

/** Where the messages of a tag stand. */
export class TagResponse extends TagListItem {
  /** When the last one leaves, by the queues and pace of its numbers; null where nothing waits or can go. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: '2026-11-21T08:01:02.500Z' })
  estimated_end_at!: string | null;

  /** Always `true`: all messages are counted, however many there are. */
  @ApiProperty({ type: Boolean, example: true })
  complete!: boolean;

  static override of(tag: TagSummary, estimatedEndAt: Date | null = null): TagResponse {
    return {
      ...TagListItem.of(tag),
      estimated_end_at: estimatedEndAt?.toISOString() ?? null,
      complete: true,
    };
  }
}

export class SingleTagResponse {
  @ApiProperty({ type: TagResponse })
  data!: TagResponse;
}

export class TagPagination {
  /** Pass it as `before` for the next page; null on the last one. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: TIME })
  next_before!: string | null;

  /** Pass it as `before_id` together with `before`. */
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: null })
  next_before_id!: string | null;
}

export class TagListResponse {
  @ApiProperty({ type: [TagListItem] })
  data!: TagListItem[];

  @ApiProperty({ type: TagPagination })
  pagination!: TagPagination;
}
