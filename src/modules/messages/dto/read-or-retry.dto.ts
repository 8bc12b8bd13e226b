import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { EXAMPLE_RECEIVED_MESSAGE_ID } from '../../../common/example-ids.js';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';

/** Body of POST /messages/{id}/read; it may be left out. */
export class ReadMessageRequest {
  /** Show the customer that you are typing as well. */
  @ApiPropertyOptional({ type: Boolean, default: false })
  @IfGiven()
  @IsBoolean()
  typing_indicator = false;
}

export class ReadMessage {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_RECEIVED_MESSAGE_ID })
  id!: string;

  /** When the message was marked as read for the first time. */
  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-21T08:00:05.125Z' })
  read_at!: Date;

  /** Until when the customer sees that you are typing, unless you write before; null where that was not asked for. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: '2026-11-21T08:00:30.125Z' })
  typing_until!: Date | null;
}

export class ReadMessageResponse {
  data!: ReadMessage;
}

/** Body of POST /messages/{id}/retry; it may be left out. */
export class RetryMessageRequest {
  /** Send again although the message may have been sent already. */
  @ApiPropertyOptional({ type: Boolean, default: false })
  @IfGiven()
  @IsBoolean()
  confirm_outcome_unknown = false;
}
