import {
  Body,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Headers,
  HttpCode,
  Post,
  Query,
  Res,
  UseInterceptors,
} from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import {
  EXAMPLE_FAILED_MESSAGE_ID,
  EXAMPLE_MESSAGE_ID,
  EXAMPLE_RECEIVED_MESSAGE_ID,
  EXAMPLE_SCHEDULED_MESSAGE_ID,
} from '../../common/example-ids.js';
import { isUuid } from '../../common/ids.js';
import { type Caller, CurrentCaller } from '../keys/caller.decorator.js';
import { ReadsMayBeLate } from '../../infrastructure/http/late-reads.js';
import { RequireScope } from '../../infrastructure/http/route-policy.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import { BodyAs } from '../../infrastructure/http/body.guard.js';
import { UuidParam } from '../../infrastructure/http/uuid-param.decorator.js';
import {
  CancelMessageDocs,
  CheckMessageDocs,
  ReadMessageDocs,
  RetryMessageDocs,
  SendMessageDocs,
} from './dto/messages.docs.js';
import {
  type CanceledMessageResponse,
  JournalResponse,
  type QueuedMessageResponse,
  responseOf,
  SingleMessageResponse,
} from './dto/message.response.js';
import { listItemOf } from '../message-state/message-list-item.response.js';
import { BatchBody } from './accept/batch-body.interceptor.js';
import { MESSAGE_BODY, type MessageInput } from './accept/message-input.js';
import { CheckBatchService } from './check/check-batch.service.js';
import { CheckMessageService } from './check/check-message.service.js';
import { type BatchCheckResponse, CheckBatchDocs } from './dto/check-batch.js';
import type { MessageCheckResponse } from './dto/check-message.js';
import { SendBatchService } from './accept/send-batch.service.js';
import { type Batch, SendBatchDocs, type SendBatchResponse } from './dto/send-batch.js';
import { filterOf, ListMessagesQuery } from './dto/list-messages.query.js';
import { ReadMessageRequest, type ReadMessageResponse, RetryMessageRequest } from './dto/read-or-retry.dto.js';
import { TimelineResponse } from './dto/timeline.response.js';
import { messagesErrors } from './messages.errors.js';
import { MessagesService } from './messages.service.js';
import { RetriesService } from './retry/retries.service.js';
import { ReadReceiptsService } from './read-receipts.service.js';
import { TimelineService } from './timeline/timeline.service.js';

/** The specification lists no 400 for these routes: an id that can't be one names nothing. */
const MessageId = (example = EXAMPLE_MESSAGE_ID): ParameterDecorator =>
  UuidParam('id', {
    malformed: messagesErrors.MESSAGE_NOT_FOUND,
    description: 'Message ID, from POST /messages or GET /messages.',
    example,
  });

/** The key of a send. Nest takes headers before it validates bodies, so a missing key is the first thing that is said. */
const IdempotencyKey = createParamDecorator((_data: unknown, context: ExecutionContext): string =>
  requiredKey(context.switchToHttp().getRequest<Request>().headers['idempotency-key'] as string | undefined),
);

const REPLAYED = 'Idempotency-Replayed';

@ApiTags('Messages')
@Controller('messages')
export class MessagesController {
  constructor(
    private readonly messages: MessagesService,
    private readonly retries: RetriesService,
    private readonly batches: SendBatchService,
    private readonly checks: CheckMessageService,
    private readonly batchChecks: CheckBatchService,
    private readonly receipts: ReadReceiptsService,
    private readonly timelines: TimelineService,
  ) {}

  /**
   * Queue a message
   *
   * @remarks Stores the message durably, queues it and answers at once; the delivery is followed with GET
   * /messages/{id}.
   *
   * The body is exactly one of the variants, with exactly one of `to` (a phone number) and `recipient` (the user id
   * of a contact who may hide the number, as `contact.user_id` names it). Outside the 24-hour window that a contact
   * opens by writing, only a template may be sent. Messages to one recipient go out in the order in which they were
   * taken.
   *
   * A template must be approved, and take the values that are given; its text is then the `body` of the message. A
   * file is named by the id that POST /media gave: in `media.id`, in `media_object_id`, or in the header of a
   * template. Herald uploads it to WhatsApp at its first use. Where the header of a template shows a file,
   * `media_object_id` fills it.
   *
   * Repeat a request with the same Idempotency-Key as often as you like: one key makes one message and never expires.
   */
  @Post()
  @HttpCode(202)
  @RequireScope('messages:write')
  @BodyAs({ unprocessable: true })
  @SendMessageDocs()
  async send(
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: string,
    @Body({ schema: MESSAGE_BODY }) input: MessageInput,
    @Res({ passthrough: true }) response: Response,
  ): Promise<QueuedMessageResponse> {
    const { messageId, replayed } = await this.messages.send(caller, key, input);
    if (replayed) response.setHeader(REPLAYED, 'true');
    return { data: { id: messageId, status: 'queued' } };
  }

  /**
   * Queue up to 100 messages
   *
   * @remarks Each message is as for POST /messages, with its own `idempotency_key` in it. They are stored in one
   * transaction; those to one recipient go out in the order of `messages`. `index` in the answer is a message's place.
   *
   * With `validation: strict`, which is the default, all messages are taken or none: one that cannot be sent makes it 422
   * with the errors of all. With `permissive` those that can be sent are taken, and `errors` lists the others with what
   * POST /messages would answer.
   *
   * Repeat a batch as often as you like, whole or in parts: a key that is known makes no further message, and is
   * `replayed`. The same key twice in one batch is refused.
   *
   * Each message counts as one request of the key's limit. Where fewer are left it is 429, nothing is taken, and
   * `Retry-After` says when there will be enough. The body has at most 4 MiB.
   */
  @Post('batch')
  @HttpCode(202)
  @RequireScope('messages:write')
  @BodyAs({ stream: true })
  @UseInterceptors(BatchBody)
  @SendBatchDocs()
  async sendBatch(@CurrentCaller() caller: Caller, @Body() { messages, strict }: Batch): Promise<SendBatchResponse> {
    return this.batches.send(caller, messages, strict);
  }

  /**
   * Check up to 100 messages before you send them
   *
   * @remarks The body of POST /messages/batch: nothing is sent and nothing stored. `errors` is everything that would keep a message
   * from being taken, `warnings` what may keep it from arriving, and `replayed` the messages that their keys have made already.
   * `validation` changes nothing. Each message is looked at by itself: limits that only all of them together reach are not found.
   *
   * It costs as many requests of the key's limit as POST /messages/batch does: one for each message.
   */
  @Post('batch/check')
  @HttpCode(200)
  @RequireScope('messages:write')
  @BodyAs({ stream: true })
  @UseInterceptors(BatchBody)
  @CheckBatchDocs()
  async checkBatch(@CurrentCaller() caller: Caller, @Body() { messages }: Batch): Promise<BatchCheckResponse> {
    return this.batchChecks.check(caller, messages);
  }

  /**
   * Check a message before you send it
   *
   * @remarks The body of POST /messages, without a key: nothing is sent and nothing stored. `problems` is everything that
   * POST /messages would refuse the message for, each with the code that it would answer; without problems it is
   * `sendable`. `warnings` is what may keep it from arriving although Herald would take it.
   *
   * `rendered` is what the recipient would see. `window` is the 24 hours in which the contact may get ordinary messages,
   * `queue` how many messages of the number leave before this one, and when it would leave. All of it is true at this
   * moment: it promises nothing. A key without `messages:read` gets neither `conversation_id` nor `window`, nor warnings
   * that rest on earlier messages of the contact.
   *
   * A body that fits no variant is 422, as for POST /messages.
   */
  @Post('check')
  @HttpCode(200)
  @RequireScope('messages:write')
  @BodyAs({ unprocessable: true })
  @CheckMessageDocs()
  async check(
    @CurrentCaller() caller: Caller,
    @Body({ schema: MESSAGE_BODY }) input: MessageInput,
  ): Promise<MessageCheckResponse> {
    return { data: await this.checks.check(caller, input) };
  }

  /**
   * Read the message journal
   *
   * @remarks The workspace's messages in both directions, newest first. For the next page pass `next_before` and
   * `next_before_id` of the answer as `before` and `before_id`; both are null on the last page.
   *
   * Where filters together leave little of very many messages (`status` with `client_message_id` or `to`, for example), a
   * page looks at 2,000 of them, and may then have fewer entries than `limit`, or none: go on while `next_before` is set.
   */
  @Get()
  @RequireScope('messages:read')
  @ReadsMayBeLate()
  @ApiOkResponse({ type: JournalResponse, description: 'One page.' })
  @ApiErrors('CONNECTION_NOT_FOUND')
  async list(@CurrentCaller() caller: Caller, @Query() query: ListMessagesQuery): Promise<JournalResponse> {
    const { messages, next } = await this.messages.list(caller.organizationId, filterOf(query));
    return {
      data: messages.map(listItemOf),
      pagination: { next_before: next?.createdAt.toISOString() ?? null, next_before_id: next?.id ?? null },
    };
  }

  /**
   * Read one message with its send attempts
   *
   * @remarks Poll it to follow a delivery, or receive webhooks instead. `attempts` lists the outcome of each attempt,
   * and `error` why the last one failed.
   *
   * Its states in order: `queued`, `processing`, `accepted`, `sent`, `delivered`, `read`; else `failed` or
   * `outcome_unknown`.
   */
  @Get(':id')
  @RequireScope('messages:read')
  @ApiOkResponse({ type: SingleMessageResponse, description: 'The message.' })
  @ApiErrors('MESSAGE_NOT_FOUND')
  async get(@CurrentCaller() caller: Caller, @MessageId() id: string): Promise<SingleMessageResponse> {
    return { data: responseOf(await this.messages.getById(caller.organizationId, id)) };
  }

  /**
   * Read what happened to one message, and why
   *
   * @remarks Every move with its time, its cause and who brought it about, with the webhook deliveries that told of it;
   * and `explanation`: where the message stands in words, who can do something about it, and whether a retry makes
   * sense. `summary` is for people; programs branch on `event`, `status` and `failure_category`.
   *
   * Told from what is kept: the last 100 attempts, and up to 500 entries. `not_kept` says what is gone. A retry clears
   * the times of the attempt before it, which are then told by webhook events alone. Deliveries are looked for among the
   * workspace's 10,000 events behind each move.
   */
  @Get(':id/timeline')
  @RequireScope('messages:read')
  @ApiOkResponse({ type: TimelineResponse, description: 'Its history, oldest first.' })
  @ApiErrors('MESSAGE_NOT_FOUND')
  async timeline(
    @CurrentCaller() caller: Caller,
    @MessageId(EXAMPLE_FAILED_MESSAGE_ID) id: string,
  ): Promise<TimelineResponse> {
    return this.timelines.of(caller.organizationId, id);
  }

  /**
   * Send a failed message again
   *
   * @remarks Queues a new attempt. A message whose outcome is unknown may have been sent: it goes again only with
   * `confirm_outcome_unknown: true`, and the recipient may then get it twice. What must be so for a send, such as an
   * open window or an approved template, must be so for a retry too.
   */
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
    const { message, replayed } = await this.retries.retry(caller, id, {
      confirmOutcomeUnknown: request.confirm_outcome_unknown,
      idempotencyKey: key === undefined ? null : validKey(key),
    });
    if (replayed) response.setHeader(REPLAYED, 'true');
    return { data: responseOf(message) };
  }

  /**
   * Cancel a message that waits
   *
   * @remarks Cancels a message that is scheduled or queued: it is `failed` with `failure_category: canceled`, and is
   * never sent, unless you retry it. Once a worker has taken it for sending, the answer is 409: nothing can take it back
   * any more. Repeating it answers as the first time. A key without `messages:read` gets `id` and `status` only.
   */
  @Post(':id/cancel')
  @HttpCode(200)
  @RequireScope('messages:write')
  @CancelMessageDocs()
  async cancel(
    @CurrentCaller() caller: Caller,
    @MessageId(EXAMPLE_SCHEDULED_MESSAGE_ID) id: string,
  ): Promise<SingleMessageResponse | CanceledMessageResponse> {
    const message = await this.messages.cancel(caller, id);
    const { status } = message;
    return { data: caller.scopes.has('messages:read') ? responseOf(message) : { id, status } };
  }

  /**
   * Mark a received message as read
   *
   * @remarks Shows the customer the two blue ticks, on this message and on all earlier ones of the conversation. With
   * `typing_indicator: true` they also see that you are typing, for 25 seconds or until your next message.
   *
   * WhatsApp is called within the request: nothing is queued, and 200 says that WhatsApp took it. A repeat without
   * `typing_indicator` answers as the first time and makes no call. Repeating after 502 or 504 does no harm.
   */
  @Post(':id/read')
  @HttpCode(200)
  @RequireScope('messages:write')
  @ReadMessageDocs()
  async read(
    @CurrentCaller() caller: Caller,
    @MessageId(EXAMPLE_RECEIVED_MESSAGE_ID) id: string,
    @Body() request: ReadMessageRequest,
  ): Promise<ReadMessageResponse> {
    return { data: await this.receipts.markRead(caller, id, request.typing_indicator) };
  }
}

function requiredKey(key: string | undefined): string {
  if (key === undefined || key === '') throw messagesErrors.IDEMPOTENCY_KEY_REQUIRED(undefined);
  return validKey(key);
}

function validKey(key: string): string {
  if (!isUuid(key)) throw messagesErrors.IDEMPOTENCY_KEY_INVALID(undefined);
  return key;
}
