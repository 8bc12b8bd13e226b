import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, ValidateBy } from 'class-validator';
import { isDateTime } from '../../../common/date-time.js';
import { EXAMPLE_REPLAY_ID } from '../../../common/example-ids.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import { EVENT_TYPES, type EventType } from '../webhook.types.js';

const CHOICES = ['failed', 'all'] as const;
const STATUSES = ['running', 'paused', 'done'] as const;
const SINCE = '2026-11-20T08:00:00.000Z';
const UNTIL = '2026-11-20T10:30:00.000Z';

const isTime = (name: string): PropertyDecorator =>
  ValidateBy({
    name: 'format',
    validator: {
      validate: isDateTime,
      defaultMessage: () => `${name} must be a date-time with its zone, such as ${SINCE}.`,
    },
  });

export class StartReplayRequest {
  /** From this time on: events of which an attempt to deliver began then or later. */
  @ApiProperty({ format: 'date-time', example: SINCE })
  @isTime('since')
  since!: string;

  /** Up to this time, and not at it. Left out: now. */
  @ApiPropertyOptional({ format: 'date-time', example: UNTIL })
  @IfGiven()
  @isTime('until')
  until?: string;

  /** Only events of these kinds. Left out: of all. */
  @ApiPropertyOptional({ enum: EVENT_TYPES, isArray: true, minItems: 1, example: ['message.received'] })
  @IfGiven()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsIn(EVENT_TYPES, { each: true })
  types?: EventType[];

  /** `failed`: those that were not delivered until now, also where more attempts are planned. `all`: delivered ones too. */
  @ApiPropertyOptional({ enum: CHOICES, default: 'failed', example: 'failed' })
  @IfGiven()
  @IsIn(CHOICES)
  status: (typeof CHOICES)[number] = 'failed';
}

export class ReplayData {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_REPLAY_ID })
  id!: string;

  /** `paused`: the webhook is paused or disabled; the replay goes on once it is active again, within three days. */
  @ApiProperty({ enum: STATUSES, example: 'running' })
  status!: (typeof STATUSES)[number];

  /** How many events there are. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100_000, example: 4_711 })
  total!: number;

  /** How many of them are queued again, the oldest first; at most twenty of them still wait for their attempt. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100_000, example: 1_200 })
  done!: number;

  @ApiProperty({ format: 'date-time', example: '2026-11-20T10:32:02.125Z' })
  created_at!: Date;

  /** When the last event was put in line; null until then. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  finished_at!: Date | null;
}

export class ReplayResponse {
  data!: ReplayData;
}
