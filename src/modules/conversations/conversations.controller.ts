import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EXAMPLE_CONVERSATION_ID } from '../../common/example-ids.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import {
  conversationFilterOf,
  ConversationsResponse,
  ListConversationsQuery,
  SingleConversationResponse,
} from './dto/conversations.dto.js';
import { conversationsErrors } from './conversations.errors.js';
import { ConversationsService } from './conversations.service.js';

const ConversationId = (): ParameterDecorator =>
  UuidParam('id', {
    malformed: conversationsErrors.CONVERSATION_NOT_FOUND,
    description: 'Conversation ID, from GET /conversations or `conversation_id` of a message.',
    example: EXAMPLE_CONVERSATION_ID,
  });

@ApiTags('Conversations')
@Controller('conversations')
export class ConversationsController {
  constructor(private readonly conversations: ConversationsService) {}

  /**
   * List conversations
   *
   * @remarks One conversation is one contact on one of your numbers; a conversation is listed from its first message on.
   * Newest activity first: by the time of `last_message`, sent or received. Its thread is
   * `GET /messages?conversation_id=`.
   *
   * For the next page pass `next_before` and `next_before_id` of the answer as `before` and `before_id`; both are null on
   * the last page. A page may have fewer conversations than `limit`, even none, where a few contacts have very many
   * messages: only null means that there are no more. A conversation in which something happens meanwhile moves to the
   * front, so read the first page again to see it.
   */
  @Get()
  @RequireScope('messages:read')
  @ApiOkResponse({ type: ConversationsResponse, description: 'One page.' })
  @ApiErrors('CONNECTION_NOT_FOUND')
  async list(@CurrentCaller() caller: Caller, @Query() query: ListConversationsQuery): Promise<ConversationsResponse> {
    const { conversations, next } = await this.conversations.list(caller.organizationId, conversationFilterOf(query));
    return {
      data: conversations,
      pagination: { next_before: next?.at.toISOString() ?? null, next_before_id: next?.messageId ?? null },
    };
  }

  /**
   * Read one conversation
   *
   * @remarks The contact, the last message, how long the 24-hour window is open, and how many messages are unread.
   * `conversation_id` of an older message may name a conversation that has become part of another one: the answer is
   * that one, with its own `id`.
   */
  @Get(':id')
  @RequireScope('messages:read')
  @ApiOkResponse({ type: SingleConversationResponse, description: 'The conversation.' })
  @ApiErrors('CONVERSATION_NOT_FOUND')
  async get(@CurrentCaller() caller: Caller, @ConversationId() id: string): Promise<SingleConversationResponse> {
    return { data: await this.conversations.getById(caller.organizationId, id) };
  }
}
