import { Body, Controller, Get, Headers, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { EXAMPLE_FAILED_MESSAGE_ID, EXAMPLE_MESSAGE_ID } from '../../common/example-ids.js';
import { isUuid } from '../../common/ids.js';
import { type Caller, CurrentCaller } from '../../infrastructure/access/caller.js';
import { DirectRoutes } from '../../infrastructure/access/direct-routes.js';
import { RequireScope } from '../../infrastructure/access/route-policy.js';
import { API_PREFIX } from '../../infrastructure/http/api-version.js';
import { BodyErrors } from '../../infrastructure/http/body.guard.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import { ListMessagesDocs, GetMessageDocs, RetryMessageDocs, SendMessageDocs } from './dto/messages.docs.js';
import { listItemOf, responseOf } from './dto/message.response.js';
import type { JournalResponse, QueuedMessageResponse, SingleMessageResponse } from './dto/send-message.response.js';
import { filterOf, ListMessagesQuery } from './dto/list-messages.query.js';
import { RetryMessageRequest } from './dto/retry-message.request.js';
import { messagesErrors } from './messages.errors.js';
import { MessagesService } from './messages.service.js';

/** The specification lists no 400 for these routes: an id that can't be one names nothing. */
const MessageId = (example = EXAMPLE_MESSAGE_ID): ParameterDecorator =>
  UuidParam('id', {
    malformed: messagesErrors.MESSAGE_NOT_FOUND,
    description: 'Message ID, from POST /messages or GET /messages.',
    example,
  });

const REPLAYED = 'Idempotency-Replayed';

@ApiTags('Messages')
@Controller('messages')
export class MessagesController {
  constructor(
    private readonly messages: MessagesService,
    direct: DirectRoutes,
  ) {
    direct.add({
      controller: MessagesController,
      method: 'send',
      address: `POST ${API_PREFIX}/messages`,
      status: 202,
      answer: ({ caller, headers, body }, response) =>
        this.send(caller, headers['idempotency-key'] as string | undefined, body, response),
    });
  }

  @Post()
  @HttpCode(202)
  @RequireScope('messages:write')
  @BodyErrors('unprocessable')
  @SendMessageDocs()
  async send(
    @CurrentCaller() caller: Caller,
    @Headers('idempotency-key') key: string | undefined,
    @Body() body: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<QueuedMessageResponse> {
    const { messageId, replayed } = await this.messages.send(caller, requiredKey(key), body);
    if (replayed) response.setHeader(REPLAYED, 'true');
    return { data: { id: messageId, status: 'queued' } };
  }

  @Get()
  @RequireScope('messages:read')
  @ListMessagesDocs()
  async list(@CurrentCaller() caller: Caller, @Query() query: ListMessagesQuery): Promise<JournalResponse> {
    const { messages, next } = await this.messages.list(caller.organizationId, filterOf(query));
    return {
      data: messages.map(listItemOf),
      pagination: { next_before: next?.createdAt.toISOString() ?? null, next_before_id: next?.id ?? null },
    };
  }

  @Get(':id')
  @RequireScope('messages:read')
  @GetMessageDocs()
  async get(@CurrentCaller() caller: Caller, @MessageId() id: string): Promise<SingleMessageResponse> {
    return { data: responseOf(await this.messages.getById(caller.organizationId, id)) };
  }

  @Post(':id/retry')
  @HttpCode(202)
  @RequireScope('messages:write')
  @RetryMessageDocs()
  async retry(
    @CurrentCaller() caller: Caller,
    @MessageId(EXAMPLE_FAILED_MESSAGE_ID) id: string,
    @Headers('idempotency-key') key: string | undefined,
    @Body() request: RetryMessageRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SingleMessageResponse> {
    const { message, replayed } = await this.messages.retry(caller, id, {
      confirmOutcomeUnknown: request.confirm_outcome_unknown,
      idempotencyKey: key === undefined ? null : validKey(key),
    });
    if (replayed) response.setHeader(REPLAYED, 'true');
    return { data: responseOf(message) };
  }
}

function requiredKey(key: string | undefined): string {
  if (key === undefined || key === '') throw messagesErrors.IDEMPOTENCY_KEY_REQUIRED();
  return validKey(key);
}

function validKey(key: string): string {
  if (!isUuid(key)) throw messagesErrors.IDEMPOTENCY_KEY_INVALID(undefined);
  return key;
}
