import { ApiProperty } from '@nestjs/swagger';
import { EXAMPLE_MESSAGE_ID } from '../../../common/example-ids.js';
import { MessageListItem, MessageResponse } from './message.response.js';

export class QueuedMessage {
  /** The message's id: follow it with GET /messages/{id}. */
  @ApiProperty({ format: 'uuid', example: EXAMPLE_MESSAGE_ID })
  id!: string;

  @ApiProperty({ enum: ['queued'], example: 'queued' })
  status!: 'queued';
}

export class QueuedMessageResponse {
  @ApiProperty({ type: QueuedMessage })
  data!: QueuedMessage;
}

export class SingleMessageResponse {
  @ApiProperty({ type: MessageResponse })
  data!: MessageResponse;
}

export class JournalPagination {
  /** Pass it as `before` for the next page; null on the last one. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: '2026-11-21T08:00:00.125Z' })
  next_before!: string | null;

  /** Pass it as `before_id` together with `before`. */
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true, example: EXAMPLE_MESSAGE_ID })
  next_before_id!: string | null;
}

export class JournalResponse {
  @ApiProperty({ type: [MessageListItem] })
  data!: MessageListItem[];

  @ApiProperty({ type: JournalPagination })
  pagination!: JournalPagination;
}
