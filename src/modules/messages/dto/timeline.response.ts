import { ApiProperty } from '@nestjs/swagger';
import { EXAMPLE_KEY_ID, EXAMPLE_WORKSPACE_ID } from '../../../common/example-ids.js';
import { RESPONSIBLES, type Responsible } from '../../../common/failure-category.js';
import { MESSAGE_STATUSES } from '../../message-state/message-state.types.js';

/** Where a move came from: a request of yours, Herald itself, the platform, or who runs Herald. */
export const TIMELINE_SOURCES = ['api', 'herald', 'whatsapp', 'operator'] as const;

/** Who decided it: a caller, an action of its tag, the time that it was scheduled for, or who runs Herald. */
export const TIMELINE_ACTORS = ['caller', 'tag', 'schedule', 'operator'] as const;

export const TIMELINE_EVENTS = [
  'queued',
  'retried',
  'released',
  'attempt_started',
  'attempt_accepted',
  'attempt_rejected',
  'attempt_deferred',
  'attempt_unknown',
  'accepted',
  'sent',
  'delivered',
  'read',
  'failed',
  'outcome_unknown',
  'expired',
  'canceled',
  'erased',
  'restored',
  'received',
  'deleted',
  'warned',
  'edited',
  'revoked',
] as const;

/** One move of a message, or one thing that happened to it. */
export class TimelineEntryResponse {
  /** Of what WhatsApp reports in whole seconds. */
  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-21T08:00:01.204Z' })
  at!: Date;

  @ApiProperty({ enum: TIMELINE_EVENTS, example: 'attempt_rejected' })
  event!: string;

  /** The state that the message came to; absent where it stayed in its state. */
  @ApiProperty({ enum: MESSAGE_STATUSES, required: false, example: 'failed' })
  status?: string;

  @ApiProperty({ type: 'integer', required: false, example: 1 })
  attempt?: number;

  /** `api`: a request of yours. `operator`: who runs Herald. */
  @ApiProperty({ enum: TIMELINE_SOURCES, example: 'whatsapp' })
  source!: string;

  /** Of a retry, a cancel, a release or an erasure: who decided it. `tag`: an action of its tag. */
  @ApiProperty({ enum: TIMELINE_ACTORS, required: false, example: 'caller' })
  by?: string;

  /** With `by: caller`: the id of its key, which stands in the key before the secret. */
  @ApiProperty({ required: false, example: EXAMPLE_KEY_ID })
  api_key_id?: string;

  /** In its place: the id of the person who did it in the console. */
  @ApiProperty({ format: 'uuid', required: false, example: EXAMPLE_WORKSPACE_ID })
  person_id?: string;

  /** In words, for people: they may change. */
  @ApiProperty({
    example:
      'Attempt 1 failed: The recipient cannot be reached: the number is not on WhatsApp, you are blocked, or the app is too old. Use another channel. (code 131026)',
  })
  summary!: string;

  @ApiProperty({ type: 'integer', required: false, example: 131026 })
  platform_code?: number;

  /** Deliveries of the webhook event of this move, as GET /webhook/deliveries lists them; absent where no event of it is kept. */
  @ApiProperty({
    type: 'array',
    items: { type: 'string', format: 'uuid' },
    required: false,
    example: ['01936f6e-9d2b-7a10-8f00-4b5c6d7e8f90'],
  })
  delivery_ids?: string[];
}

/** Whether POST /messages/{id}/retry makes sense. */
export class RetryAdviceResponse {
  @ApiProperty({ example: false })
  advised!: boolean;

  /** Not before this time; null: at once, or not at all. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  not_before!: Date | null;
}

/** Where the message stands, in words. */
export class ExplanationResponse {
  @ApiProperty({
    example:
      'The recipient cannot be reached: the number is not on WhatsApp, you are blocked, or the app is too old. Use another channel.',
  })
  summary!: string;

  /** Who can do something about it: `you` call this API, `operator` runs Herald; null where only time helps or nothing is wrong. */
  @ApiProperty({ type: 'string', enum: [...RESPONSIBLES, null], nullable: true, example: 'recipient' })
  responsible!: Responsible | null;

  retry!: RetryAdviceResponse;
}

export class TimelineResponse {
  /** Oldest first; at most the last 500. */
  @ApiProperty({ type: [TimelineEntryResponse] })
  data!: TimelineEntryResponse[];

  @ApiProperty({ type: ExplanationResponse })
  explanation!: ExplanationResponse;

  /** What of its history is no longer kept, in sentences; empty where all is there. */
  @ApiProperty({ type: [String], example: [] })
  not_kept!: string[];
}
