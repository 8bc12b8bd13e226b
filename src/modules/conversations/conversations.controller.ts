import { applyDecorators, Body, Controller, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiOkResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { Response } from 'express';
import { invalidField } from '../../common/common.errors.js';
import { EXAMPLE_CONVERSATION_ID, EXAMPLE_PERSON_ID } from '../../common/example-ids.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { RateLimiter } from '../../infrastructure/rates/rate-limiter.js';
import { ReadsMayBeLate } from '../../infrastructure/http/late-reads.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import { ConversationControlService } from './control/conversation-control.service.js';
import {
  ControlRequest,
  ControlledConversationResponse,
  conversationFilterOf,
  ConversationsResponse,
  ListConversationsQuery,
  SingleConversationResponse,
  UNREAD_PAGES,
  UpdateConversationRequest,
  UpdatedConversationResponse,
} from './dto/conversations.dto.js';
import { conversationsErrors } from './conversations.errors.js';
import { ConversationsService } from './conversations.service.js';

const ConversationId = (): ParameterDecorator =>
  UuidParam('id', {
    malformed: conversationsErrors.CONVERSATION_NOT_FOUND,
    description: 'Conversation ID, from GET /conversations or `conversation_id` of a message.',
    example: EXAMPLE_CONVERSATION_ID,
  });

const NOTHING_TO_CHANGE = 'Give closed, assignee, assignee_id, or several of these.';
const ROLE_ONLY_WITH_PASS = 'role is for action pass only.';

const UpdateDocs = (): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(SingleConversationResponse, UpdatedConversationResponse),
    ApiBody({
      type: UpdateConversationRequest,
      examples: {
        assign: { summary: 'Ana looks after it', value: { assignee: 'ana@example.com' } },
        person: { summary: 'A person of the workspace looks after it', value: { assignee_id: EXAMPLE_PERSON_ID } },
        close: { summary: 'Nothing is left to do', value: { closed: true } },
        release: { summary: 'Open, and without an assignee', value: { closed: false, assignee: null } },
      },
    }),
    ApiOkResponse({
      description: 'The conversation as it is now.',
      schema: {
        anyOf: [SingleConversationResponse, UpdatedConversationResponse].map((model) => ({
          $ref: getSchemaPath(model),
        })),
      },
    }),
    ApiErrors('CONVERSATION_NOT_FOUND', 'ASSIGNEE_NOT_MEMBER'),
  );

const ControlDocs = (): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(SingleConversationResponse, ControlledConversationResponse),
    ApiBody({
      type: ControlRequest,
      examples: {
        pass: { summary: 'To the agent', value: { action: 'pass', role: 'ai_agent' } },
        release: { summary: 'To no owner', value: { action: 'release' } },
        take: { summary: 'Back to you', value: { action: 'take', note: 'A person answers from here.' } },
      },
    }),
    ApiOkResponse({
      description: 'WhatsApp took it: the conversation as it is now.',
      schema: {
        anyOf: [SingleConversationResponse, ControlledConversationResponse].map((model) => ({
          $ref: getSchemaPath(model),
        })),
      },
    }),
    ApiErrors(
      'CONVERSATION_NOT_FOUND',
      'SUBSCRIPTION_REQUIRED',
      'CONNECTION_NOT_READY',
      'CONTROL_NOT_ALLOWED',
      'PLATFORM_REJECTED',
      'PLATFORM_UNAVAILABLE',
      'PLATFORM_TIMEOUT',
    ),
  );

@ApiTags('Conversations')
@Controller('conversations')
export class ConversationsController {
  constructor(
    private readonly conversations: ConversationsService,
    private readonly controls: ConversationControlService,
    private readonly limiter: RateLimiter,
  ) {}

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
   *
   * With `unread` a page looks at up to five, and counts as so many requests. With `waiting` the order is that of the
   * customers' messages.
   */
  @Get()
  @RequireScope('messages:read')
  @ReadsMayBeLate()
  @ApiOkResponse({ type: ConversationsResponse, description: 'One page.' })
  @ApiErrors('CONNECTION_NOT_FOUND')
  async list(
    @CurrentCaller() { organizationId, apiKeyId, rateLimits }: Caller,
    @Query() query: ListConversationsQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ConversationsResponse> {
    const filter = conversationFilterOf(query);
    const { conversations, next } = await this.limiter.spendingOf(apiKeyId, rateLimits, response).upTo(
      filter.unread ? UNREAD_PAGES : 1,
      () => this.conversations.list(organizationId, filter),
      ({ looked }) => looked,
    );
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
  @ReadsMayBeLate()
  @ApiOkResponse({ type: SingleConversationResponse, description: 'The conversation.' })
  @ApiErrors('CONVERSATION_NOT_FOUND')
  async get(@CurrentCaller() caller: Caller, @ConversationId() id: string): Promise<SingleConversationResponse> {
    return { data: await this.conversations.getById(caller.organizationId, id) };
  }

  /**
   * Close or assign a conversation
   *
   * @remarks `closed`, `assignee` and `assignee_id` are yours: Herald keeps them, filters by them, and does nothing else with them. Each
   * change is a `conversation.updated`. The next message of the customer sets `closed` to `false`, which is one, too; a reaction does
   * not. What is left out of the body stays as it is. A key without `messages:read` gets `id`, `closed`, `assignee` and `assignee_id`
   * only.
   */
  @Patch(':id')
  @RequireScope('messages:write')
  @UpdateDocs()
  async update(
    @CurrentCaller() { organizationId, scopes }: Caller,
    @ConversationId() id: string,
    @Body() { closed, assignee, assignee_id }: UpdateConversationRequest,
  ): Promise<SingleConversationResponse | UpdatedConversationResponse> {
    if ([closed, assignee, assignee_id].every((each) => each === undefined)) {
      throw invalidField('', 'required', NOTHING_TO_CHANGE);
    }
    const given = { closed, assignee, assigneeId: assignee_id?.toLowerCase() ?? assignee_id };
    const { assigneeId, ...kept } = await this.conversations.update(organizationId, id, given);
    if (scopes.has('messages:read')) return { data: await this.conversations.getById(organizationId, kept.id) };
    return { data: { ...kept, assignee_id: assigneeId } };
  }

  /**
   * Pass, release or take control of a conversation
   *
   * @remarks Where several apps answer on a number, only the owner of a conversation may send ordinary messages; those of
   * others fail with `failure_category: not_conversation_owner`. Templates may be sent by all.
   *
   * WhatsApp is called within the request. After 502 or 504 the owner may still have changed; the next notification
   * of WhatsApp says so, and `conversation.control.updated` tells you. A key without `messages:read` gets `id`, `owner` and
   * `owner_role` only.
   */
  @Post(':id/control')
  @HttpCode(200)
  @RequireScope('messages:write')
  @ControlDocs()
  async control(
    @CurrentCaller() caller: Caller,
    @ConversationId() id: string,
    @Body() request: ControlRequest,
  ): Promise<SingleConversationResponse | ControlledConversationResponse> {
    if (request.role !== undefined && request.action !== 'pass')
      throw invalidField('role', 'only_with_pass', ROLE_ONLY_WITH_PASS);
    const conversation = await this.controls.change(caller, id, request);
    const { owner, owner_role } = conversation;
    return { data: caller.scopes.has('messages:read') ? conversation : { id: conversation.id, owner, owner_role } };
  }
}
