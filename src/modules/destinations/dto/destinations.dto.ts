import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsBoolean, IsObject, Matches, ValidateBy, ValidateNested } from 'class-validator';
import { EventChoice, NumberChoice } from '../../webhook/event-choice.decorator.js';
import { isDateTime } from '../../../common/date-time.js';
import { EXAMPLE_CONNECTION_ID, EXAMPLE_DESTINATION_ID } from '../../../common/example-ids.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../webhook/webhook.types.js';
import {
  DESTINATION_KINDS,
  DESTINATION_STATUSES,
  type DestinationKind,
  type DestinationStatus,
  type NatsSettings,
  type RabbitmqSettings,
  type SqsSettings,
} from '../destinations.types.js';
import type { EventDestinationEntity } from '../entities/event-destination.entity.js';
import { NatsData, NatsRequest, RabbitmqData, RabbitmqRequest, SqsData, SqsRequest } from './kinds.dto.js';

const NAME = '^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$';
const TIME = '2026-11-21T08:00:01.250Z';
const nullableTime = { type: 'string', format: 'date-time', nullable: true } as const;

/** So many waiting events are counted; one more stands for any number. */
export const MAX_COUNTED = 1_000;

const Nested =
  (type: new () => object): PropertyDecorator =>
  (target, key) => {
    ApiPropertyOptional({ type })(target, key);
    IfGiven()(target, key);
    IsObject()(target, key);
    ValidateNested()(target, key);
    Type(() => type)(target, key);
  };

const IsName = (): PropertyDecorator =>
  Matches(new RegExp(NAME), {
    message: 'name must begin with a letter or digit and have 1 to 64 letters, digits, blanks and . _ -.',
  });

class DestinationChoices {
  /** Kinds of event to write. Left out of a new destination: the two about messages. */
  @EventChoice(['message.received'])
  events?: WebhookEvent[];

  /** Numbers whose events to write, as for the webhook; empty: all. Events about no number are written in any case. */
  @NumberChoice()
  connection_ids?: string[];

  /** With `false` events wait in Herald, as long as it keeps them, and are written once it is `true` again. */
  @ApiPropertyOptional({ example: true })
  @IfGiven()
  @IsBoolean()
  active?: boolean;

  /** NATS JetStream. The settings as a whole; secrets that are left out stay, unless host or port change. */
  @Nested(NatsRequest)
  nats?: NatsRequest;

  /** RabbitMQ. The settings as a whole; secrets that are left out stay, unless host or port change. */
  @Nested(RabbitmqRequest)
  rabbitmq?: RabbitmqRequest;

  /** Amazon SQS. The settings as a whole; secrets that are left out stay, unless the host changes. */
  @Nested(SqsRequest)
  sqs?: SqsRequest;
}

/** Body of POST /destinations: exactly one of `nats`, `rabbitmq` and `sqs`. */
export class CreateDestinationRequest extends DestinationChoices {
  /** Names it for people; each of the workspace has another one. */
  @ApiProperty({ pattern: NAME, example: 'orders' })
  @IsName()
  name!: string;
}

/** Body of PATCH /destinations/{id}: what is left out stays as it is. */
export class ChangeDestinationRequest extends DestinationChoices {
  /** Names it for people; each of the workspace has another one. */
  @ApiPropertyOptional({ pattern: NAME, example: 'orders' })
  @IfGiven()
  @IsName()
  name?: string;
}

export class ReplayDestinationRequest {
  /** Events of this time and later are written again, in their order and under their ids, then those that wait. */
  @ApiProperty({ format: 'date-time', example: '2026-11-20T08:00:00.000Z' })
  @ValidateBy({
    name: 'format',
    validator: {
      validate: isDateTime,
      defaultMessage: () => 'since must be a date-time with its zone, such as 2026-11-20T08:00:00.000Z.',
    },
  })
  since!: string;
}

export class DestinationData {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_DESTINATION_ID })
  id!: string;

  @ApiProperty({ example: 'orders' })
  name!: string;

  @ApiProperty({ enum: DESTINATION_KINDS, example: 'nats' })
  kind!: DestinationKind;

  /** Only where `kind` is `nats`. */
  @ApiPropertyOptional({ type: () => NatsData })
  nats?: NatsSettings;

  /** Only where `kind` is `rabbitmq`. */
  @ApiPropertyOptional({ type: () => RabbitmqData })
  rabbitmq?: RabbitmqSettings;

  /** Only where `kind` is `sqs`. */
  @ApiPropertyOptional({ type: () => SqsData })
  sqs?: SqsSettings;

  /** Names of the secrets that it has. Their values are never shown. */
  @ApiProperty({ type: [String], example: ['password'] })
  secrets!: string[];

  @ApiProperty({ enum: WEBHOOK_EVENTS, isArray: true, example: ['message.received'] })
  events!: WebhookEvent[];

  /** Numbers whose events it gets; empty: all. */
  @ApiProperty({ type: 'array', items: { type: 'string', format: 'uuid' }, example: [EXAMPLE_CONNECTION_ID] })
  connection_ids!: string[];

  /** `failing`: the last attempt failed, and Herald tries again at `retry_at`. `paused`: by POST /destinations/{id}/pause. */
  @ApiProperty({ enum: DESTINATION_STATUSES, example: 'active' })
  status!: DestinationStatus;

  /** Since when nothing could be written; null while it can. */
  @ApiProperty({ ...nullableTime, example: null })
  failing_since!: Date | null;

  /** What went wrong last, in a short word: `connection_refused`, `unauthorized`, `unroutable` and so on. */
  @ApiProperty({ type: 'string', nullable: true, example: null })
  last_error!: string | null;

  @ApiProperty({ ...nullableTime, example: null })
  last_error_at!: Date | null;

  /** When Herald tries again where it is failing; else null. */
  @ApiProperty({ ...nullableTime, example: null })
  retry_at!: Date | null;

  @ApiProperty({ ...nullableTime, example: TIME })
  last_written_at!: Date | null;

  /** Events that it has acknowledged, those of replays included. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 4_711 })
  written!: number;

  /** Events that wait for it; 1,001 stands for more than 1,000. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: MAX_COUNTED + 1, example: 0 })
  waiting!: number;

  /** Since when the oldest of them waits; null where none does. */
  @ApiProperty({ ...nullableTime, example: null })
  waiting_since!: Date | null;

  /** Events that were never written: their time was over before, or they are too large for it. `destination.events_lost` tells of them. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 })
  lost!: number;

  @ApiProperty({ ...nullableTime, example: null })
  lost_at!: Date | null;

  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: Date;

  @ApiProperty({ format: 'date-time', example: TIME })
  updated_at!: Date;

  static of(destination: EventDestinationEntity, waiting: Waiting): DestinationData {
    const { kind, settings, active, failingSince } = destination;
    const failing = active && failingSince !== null;
    return {
      id: destination.id,
      name: destination.name,
      kind,
      [kind]: settings,
      secrets: destination.secretNames,
      events: destination.events,
      connection_ids: destination.connectionIds,
      status: failing ? 'failing' : active ? 'active' : 'paused',
      failing_since: failingSince,
      last_error: destination.lastError,
      last_error_at: destination.lastErrorAt,
      retry_at: failing && destination.attemptId === null ? destination.dueAt : null,
      last_written_at: destination.lastWrittenAt,
      written: Number(destination.written),
      waiting: waiting.events,
      waiting_since: waiting.since,
      lost: Number(destination.lost),
      lost_at: destination.lostAt,
      created_at: destination.createdAt,
      updated_at: destination.updatedAt,
    };
  }
}

/** What waits for a destination. */
export interface Waiting {
  /** At most one more than `MAX_COUNTED`. */
  events: number;
  since: Date | null;
}

export class DestinationResponse {
  data!: DestinationData;
}

export class DestinationListResponse {
  data!: DestinationData[];
}

export class DestinationTestData {
  /** Whether the broker has acknowledged the event. */
  @ApiProperty({ example: true })
  written!: boolean;

  /** What went wrong, as `last_error` of a destination; null where it was written. */
  @ApiProperty({ type: 'string', nullable: true, example: null })
  error!: string | null;

  /** Of the `webhook.test` event, which stands in no journal. */
  @ApiProperty({ format: 'uuid', example: '01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a' })
  event_id!: string;
}

export class DestinationTestResponse {
  data!: DestinationTestData;
}
