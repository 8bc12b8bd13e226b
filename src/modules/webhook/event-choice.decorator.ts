import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsUUID } from 'class-validator';
import { EXAMPLE_CONNECTION_ID } from '../../common/example-ids.js';
import { IfGiven } from '../../infrastructure/http/validation.pipe.js';
import { WEBHOOK_EVENTS, type WebhookEvent } from './webhook.types.js';

const MOST = 100;

/** The kinds of event that a receiver chooses. */
export const EventChoice = (example: readonly WebhookEvent[]): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ enum: WEBHOOK_EVENTS, isArray: true, minItems: 1, maxItems: MOST, example: [...example] }),
    IfGiven(),
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(MOST),
    IsIn(WEBHOOK_EVENTS, { each: true }),
  );

/** The numbers whose events a receiver chooses. */
export const NumberChoice = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'array',
      items: { type: 'string', format: 'uuid' },
      maxItems: MOST,
      example: [EXAMPLE_CONNECTION_ID],
    }),
    IfGiven(),
    IsArray(),
    ArrayMaxSize(MOST),
    IsUUID('all', { each: true }),
  );
