import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { EXAMPLE_TAG } from '../../../common/example-ids.js';
import { FAILURE_CATEGORIES, type FailureCategory } from '../../../common/failure-category.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import { TAG_ACTIONS, TAG_STATUSES, type TagAction, type TagStatus, type TagSummary } from '../tags.types.js';

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

export class TagActionResult {
  @ApiProperty({ example: EXAMPLE_TAG })
  tag!: string;

  @ApiProperty({ enum: TAG_ACTIONS, example: 'pause' })
  action!: TagAction;

  @ApiProperty({ enum: TAG_STATUSES, example: 'paused' })
  status!: TagStatus;
}

export class TagActionResponse {
  @ApiProperty({ type: TagActionResult })
  data!: TagActionResult;
}

/** Where the messages of a tag stand. */
export class TagResponse {
  @ApiProperty({ example: EXAMPLE_TAG })
  tag!: string;

  @ApiProperty({ enum: TAG_STATUSES, example: 'active' })
  status!: TagStatus;

  @ApiProperty({ type: 'integer', minimum: 0, example: 5_000 })
  messages!: number;

  /** Messages by status. */
  @ApiProperty({
    type: 'object',
    additionalProperties: count,
    example: COUNTS,
  })
  counts!: Record<string, number>;

  /** Of the queued ones: whose `send_at` has not come. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 })
  scheduled!: number;

  /** Failed messages by `failure_category`. */
  @ApiProperty({ type: 'object', additionalProperties: count, example: { invalid_recipient: 75 } })
  failures!: Record<string, number>;

  @ApiProperty({ format: 'date-time', example: TIME })
  first_accepted_at!: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  last_activity_at!: string;

  /** When the last one leaves, by the queues and pace of its numbers; null where nothing waits or can go. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: '2026-11-21T08:01:02.500Z' })
  estimated_end_at!: string | null;

  /** `false`: it has more messages than are counted; the newest 200,000 are. */
  @ApiProperty({ type: Boolean, example: true })
  complete!: boolean;

  static of(summary: TagSummary): TagResponse {
    const { tag, status, messages, counts, scheduled, failures } = summary;
    return {
      tag,
      status,
      messages,
      counts,
      scheduled,
      failures,
      first_accepted_at: summary.firstAcceptedAt.toISOString(),
      last_activity_at: summary.lastActivityAt.toISOString(),
      estimated_end_at: summary.estimatedEndAt?.toISOString() ?? null,
      complete: summary.isComplete,
    };
  }
}

export class SingleTagResponse {
  @ApiProperty({ type: TagResponse })
  data!: TagResponse;
}
