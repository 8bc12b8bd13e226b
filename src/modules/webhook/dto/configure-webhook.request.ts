import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsBoolean, IsIn, IsString, MaxLength, ValidateIf } from 'class-validator';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../webhook.types.js';

/** What is left out has a meaning, and null has none. */
const MayBeLeftOut = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

export class ConfigureWebhookRequest {
  /** Where events are posted to: https, port 443, a host name that leads to public addresses only. */
  @ApiProperty({ format: 'uri', maxLength: 2_048, example: 'https://shop.example.com/whatsapp/events' })
  @IsString()
  @MaxLength(2_048)
  url!: string;

  /** Kinds of event to send. Left out: both for a new webhook; those that it has for an existing one. */
  @ApiPropertyOptional({ enum: WEBHOOK_EVENTS, isArray: true, minItems: 1, example: [...WEBHOOK_EVENTS] })
  @MayBeLeftOut()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsIn(WEBHOOK_EVENTS, { each: true })
  events?: WebhookEvent[];

  /** With `false` events wait, three days at the most, and go out once it is `true` again. */
  @ApiPropertyOptional({ default: true, example: true })
  @MayBeLeftOut()
  @IsBoolean()
  active?: boolean;
}
