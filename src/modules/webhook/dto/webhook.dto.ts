import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsObject, IsOptional, IsString, IsUUID, Matches, MaxLength } from 'class-validator';
import { EventChoice, NumberChoice } from '../event-choice.decorator.js';
import { EXAMPLE_CONNECTION_ID, EXAMPLE_DELIVERY_ID, EXAMPLE_WEBHOOK_URL } from '../../../common/example-ids.js';
import { PeriodQuery } from '../../../infrastructure/http/page.query.js';
import { PaginationResponse } from '../../../infrastructure/http/pagination.response.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import type { WebhookEndpointEntity } from '../entities/webhook-endpoint.entity.js';
import { SECRET_PATTERN } from '../../../common/standard-webhooks.js';
import { HEADER_NAME, MAX_HEADERS, MAX_VALUE_LENGTH } from '../webhook-secrets.js';
import {
  DELIVERY_STATUSES,
  EVENT_TYPES,
  TEST_EVENT,
  WEBHOOK_EVENTS,
  type DeliveryStatus,
  type DisabledReason,
  type EventType,
  type WebhookEvent,
} from '../webhook.types.js';

const EXAMPLE_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

export class ConfigureWebhookRequest {
  /** Where events are posted to: https, port 443, a host name that leads to public addresses only. */
  @ApiProperty({ format: 'uri', maxLength: 2_048, example: EXAMPLE_WEBHOOK_URL })
  @IsString()
  @MaxLength(2_048)
  url!: string;

  /** Kinds of event to send. Left out: the two about messages for a new webhook; those that it has for an existing one. */
  @EventChoice(WEBHOOK_EVENTS)
  events?: WebhookEvent[];

  /**
   * Numbers whose events to send; empty: all. An event about several numbers, such as one of a template, is sent where one
   * of them is chosen; one about none is sent in any case. Left out: all for a new webhook; those that it has for an
   * existing one.
   */
  @NumberChoice()
  connection_ids?: string[];

  /**
   * Headers to send with every delivery beside ours, such as a key of your gateway: names `X-...` or `Authorization`, values
   * of visible ASCII, 4,096 characters in all. Stored encrypted and never shown again. Left out: those that the webhook
   * has, unless its address gets another scheme, host or port.
   */
  @ApiPropertyOptional({
    type: 'object',
    maxProperties: MAX_HEADERS,
    propertyNames: { pattern: HEADER_NAME },
    additionalProperties: { type: 'string', minLength: 1, maxLength: MAX_VALUE_LENGTH },
    example: { 'X-Environment': 'production' },
  } as ApiPropertyOptions)
  @IfGiven()
  @IsObject()
  headers?: Record<string, string>;

  /**
   * The signing secret of a new webhook, for deployments that know it beforehand: `whsec_` and the base64 of 24 to 64 random
   * bytes. Left out: Herald makes one. An existing webhook keeps its secret: the same one is accepted, another is 400; replace
   * it with POST /webhook/rotate-secret.
   */
  @ApiPropertyOptional({ pattern: SECRET_PATTERN, writeOnly: true, example: EXAMPLE_SECRET })
  @IfGiven()
  @Matches(new RegExp(SECRET_PATTERN), { message: 'secret must be whsec_ and the base64 of 24 to 64 random bytes.' })
  secret?: string;

  /** With `false` events wait, three days at the most, and go out once it is `true` again. Left out: as it is; `true` for a new webhook. */
  @ApiPropertyOptional({ example: true })
  @IfGiven()
  @IsBoolean()
  active?: boolean;
}

/** Body of POST /webhook/test; it may be left out. */
export class TestWebhookRequest {
  /** Kind of the event. Other kinds than `webhook.test` bear the example of this description and `test: true` in `data`. */
  @ApiPropertyOptional({ enum: EVENT_TYPES, default: TEST_EVENT, example: TEST_EVENT })
  @IfGiven()
  @IsIn(EVENT_TYPES)
  type: EventType = TEST_EVENT;
}

export class ListDeliveriesRequest extends PeriodQuery {
  /** Only attempts that ended so. */
  @ApiPropertyOptional({ enum: DELIVERY_STATUSES })
  @IsOptional()
  @IsIn(DELIVERY_STATUSES)
  status?: DeliveryStatus;

  /** Only attempts for this kind of event. */
  @ApiPropertyOptional({ enum: EVENT_TYPES })
  @IsOptional()
  @IsIn(EVENT_TYPES)
  event_type?: EventType;

  /** Only attempts of this event: the `webhook-id` that your receiver got. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('all')
  event_id?: string;
}

export const EXAMPLE_EVENT_ID = '01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a';
const TIME = '2026-11-21T08:00:01.250Z';
const nullableTime = { type: 'string', format: 'date-time', nullable: true } as const;

/** One attempt to deliver an event. */
export class DeliveryResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_DELIVERY_ID })
  id!: string;

  /** The same for all attempts of an event; also the header `webhook-id`. */
  @ApiProperty({ format: 'uuid', example: EXAMPLE_EVENT_ID })
  event_id!: string;

  @ApiProperty({ enum: EVENT_TYPES, example: 'message.status.updated' })
  event_type!: EventType;

  /** 1 for the first attempt of the event. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 1 })
  attempt!: number;

  /** `succeeded`: any 2xx within ten seconds. */
  @ApiProperty({ enum: DELIVERY_STATUSES, example: 'failed' })
  status!: DeliveryStatus;

  /** Null where no answer came. */
  @ApiProperty({ type: 'integer', nullable: true, example: 503 })
  http_status!: number | null;

  /**
   * What went wrong, in a short word: `http_503`, `timeout`, `connection_refused`, `interrupted` and so on.
   * `secret_unreadable`: Herald lacks the key that opens the signing secret; its operator has to give it back, or
   * rotate-secret makes another one.
   */
  @ApiProperty({ type: 'string', nullable: true, example: 'http_503' })
  error!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, example: 184 })
  duration_ms!: number | null;

  /** When the attempt began. */
  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: Date;

  /** When the next attempt was planned for as this one ended; null where it was the last. */
  @ApiProperty({ ...nullableTime, example: '2026-11-21T08:00:06.420Z' })
  next_attempt_at!: Date | null;
}

/** The webhook of the workspace. */
export class WebhookSettings {
  @ApiProperty({ format: 'uri', example: EXAMPLE_WEBHOOK_URL })
  url!: string;

  @ApiProperty({ enum: WEBHOOK_EVENTS, isArray: true, example: [...WEBHOOK_EVENTS] })
  events!: WebhookEvent[];

  /** Numbers whose events it gets; empty: all. */
  @ApiProperty({ type: 'array', items: { type: 'string', format: 'uuid' }, example: [EXAMPLE_CONNECTION_ID] })
  connection_ids!: string[];

  /** Names of its own headers. Their values are never shown. */
  @ApiProperty({ type: [String], example: ['X-Environment'] })
  header_names!: string[];

  /** Whether deliveries are made: false while the webhook is paused (PUT with `active: false`) or disabled. */
  @ApiProperty({ example: true })
  active!: boolean;

  /** Why deliveries stopped by themselves: `gone` after a 410, `failing` after five days without one success. */
  @ApiProperty({ type: 'string', enum: ['gone', 'failing', null], nullable: true, example: null })
  disabled_reason!: DisabledReason | null;

  /** Since when every attempt has failed; null while they succeed. */
  @ApiProperty({ ...nullableTime, example: null })
  failing_since!: Date | null;

  /** The secret's last characters, to distinguish secrets. */
  @ApiProperty({ example: 'whsec_...r9A=' })
  secret_hint!: string;

  /** Until then deliveries are signed with the replaced secret as well; null where there is none. */
  @ApiProperty({ ...nullableTime, example: null })
  previous_secret_expires_at!: Date | null;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T07:30:00.000Z' })
  created_at!: Date;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T07:30:00.000Z' })
  updated_at!: Date;

  /** The last 50 attempts, newest first. */
  @ApiProperty({ type: [DeliveryResponse] })
  recent_deliveries!: DeliveryResponse[];
}

export class WebhookSettingsWithSecret extends WebhookSettings {
  /** Signs every delivery (Standard Webhooks). Only in the answer that made it: keep it. */
  @ApiPropertyOptional({ example: EXAMPLE_SECRET })
  secret?: string;
}

export class WebhookResponse {
  data!: WebhookSettings;
}

export class WebhookWithSecretResponse {
  data!: WebhookSettingsWithSecret;

  /** @param secret plain, only just after it was made. */
  static of(
    endpoint: WebhookEndpointEntity,
    recent: DeliveryResponse[],
    secret: string | null,
  ): WebhookWithSecretResponse {
    const current = endpoint.secrets.find(({ expiresAt }) => expiresAt === null);
    const replaced = endpoint.secrets.flatMap(({ expiresAt }) => (expiresAt === null ? [] : [expiresAt.getTime()]));
    return {
      data: {
        url: endpoint.url,
        events: endpoint.events,
        connection_ids: endpoint.connectionIds,
        header_names: endpoint.headerNames,
        active: endpoint.active && endpoint.disabledReason === null,
        disabled_reason: endpoint.disabledReason,
        failing_since: endpoint.failingSince,
        ...(secret === null ? {} : { secret }),
        secret_hint: `whsec_...${current?.hint}`,
        previous_secret_expires_at: replaced.length === 0 ? null : new Date(Math.max(...replaced)),
        created_at: endpoint.createdAt,
        updated_at: endpoint.updatedAt,
        recent_deliveries: recent,
      },
    };
  }
}

/** An event in line. */
export class QueuedEventData {
  /** Find its attempts by it in GET /webhook/deliveries; also the header `webhook-id`. */
  @ApiProperty({ format: 'uuid', example: EXAMPLE_EVENT_ID })
  event_id!: string;

  @ApiProperty({ enum: EVENT_TYPES, example: 'webhook.test' })
  event_type!: EventType;

  /** `held`: the webhook is paused or disabled, and the event waits for it, three days at the most. */
  @ApiProperty({ enum: ['queued', 'held'], example: 'queued' })
  status!: 'queued' | 'held';

  @ApiProperty({ format: 'date-time', example: TIME })
  created_at!: Date;
}

export class QueuedEventResponse {
  data!: QueuedEventData;
}

export class DeliveriesResponse {
  data!: DeliveryResponse[];

  pagination!: PaginationResponse;
}
