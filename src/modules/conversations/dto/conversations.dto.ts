import { ApiProperty } from '@nestjs/swagger';
import { EXAMPLE_CONNECTION_ID, EXAMPLE_CONVERSATION_ID } from '../../../common/example-ids.js';
import { cursorOf, type ListCursor, OptionalUuid, PageQuery } from '../../../infrastructure/http/page.query.js';
import { OptionalPhone, OptionalUserId } from './recipient.query.js';
import { ContactResponse, JournalPagination, MessageListItem } from '../../messages/dto/message.response.js';

/** So many unread messages are counted; more are not looked at. */
export const UNREAD_LIMIT = 100;
const TIME = '2026-11-21T08:00:00.125Z';

/** The query of GET /conversations. */
export class ListConversationsQuery extends PageQuery {
  /** Only conversations of this number: an id from GET /connections. */
  @OptionalUuid('connection_id')
  connection_id?: string;

  /** Only those with the contact who has this number. */
  @OptionalPhone('to')
  to?: string;

  /** Only those with the contact who has this business-scoped user id, such as `DE.1795`. */
  @OptionalUserId()
  recipient?: string;
}

/** One contact on one of your numbers. */
export class ConversationResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_CONVERSATION_ID })
  id!: string;

  @ApiProperty({ format: 'uuid', example: EXAMPLE_CONNECTION_ID })
  connection_id!: string;

  @ApiProperty({ type: ContactResponse })
  contact!: ContactResponse;

  /** The newest message, in either direction; null where the contact has called only. */
  @ApiProperty({ type: MessageListItem, nullable: true })
  last_message!: MessageListItem | null;

  /** When the contact last wrote or called; null where that never happened. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: TIME })
  last_inbound_at!: Date | null;

  /** Until then ordinary messages may be sent; in the past, or null: only templates. */
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: '2026-11-22T08:00:00.125Z' })
  service_window_closes_at!: Date | null;

  /**
   * Messages of the contact after the newest one that was marked as read with POST /messages/{id}/read; 100 means 100 or
   * more. Reactions, corrections and withdrawals are not counted. An answer alone marks nothing as read.
   */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: UNREAD_LIMIT, example: 1 })
  unread_count!: number;

  @ApiProperty({ type: 'string', format: 'date-time', example: TIME })
  created_at!: Date;

  /** When the last message was taken or received: lists are in this order. */
  @ApiProperty({ type: 'string', format: 'date-time', example: TIME })
  updated_at!: Date;
}

export class ConversationsResponse {
  data!: ConversationResponse[];

  pagination!: JournalPagination;
}

export class SingleConversationResponse {
  data!: ConversationResponse;
}

/** What is null does not filter. */
export interface ConversationFilter extends ListCursor {
  connectionId: string | null;
  /** Digits. */
  to: string | null;
  /** A user id. */
  recipient: string | null;
  limit: number;
}

export function conversationFilterOf(query: ListConversationsQuery): ConversationFilter {
  return {
    limit: query.limit,
    ...cursorOf(query),
    connectionId: query.connection_id?.toLowerCase() ?? null,
    to: query.to?.replace('+', '') ?? null,
    recipient: query.recipient ?? null,
  };
}
