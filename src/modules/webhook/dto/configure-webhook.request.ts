import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsBoolean, IsIn, IsString, MaxLength } from 'class-validator';
import { EXAMPLE_WEBHOOK_URL } from '../../../common/example-ids.js';
import { IfGiven } from '../../../infrastructure/http/if-given.decorator.js';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../webhook.types.js';

export class ConfigureWebhookRequest {
  /** Where events are posted to: https, port 443, a host name that leads to public addresses only. */
  @ApiProperty({ format: 'uri', maxLength: 2_048, example: EXAMPLE_WEBHOOK_URL })
  @IsString()
  @MaxLength(2_048)
  url!: string;

  /** Kinds of event to send. Left out: both for a new webhook; those that it has for an existing one. */
  @ApiPropertyOptional({ enum: WEBHOOK_EVENTS, isArray: true, minItems: 1, example: [...WEBHOOK_EVENTS] })
  @IfGiven()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsIn(WEBHOOK_EVENTS, { each: true })
  events?: WebhookEvent[];

  /** With `false` events wait, three days at the most, and go out once it is `true` again. */
  @ApiPropertyOptional({ default: true, example: true })
  @IfGiven()
  @IsBoolean()
  active?: boolean;
}
