import { applyDecorators } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiExtraModels, ApiHeader, ApiOkResponse, getSchemaPath } from '@nestjs/swagger';
import { EXAMPLE_IDEMPOTENCY_KEY } from '../../../common/example-ids.js';
import { ApiErrors, ApiErrorsAs } from '../../../infrastructure/http/api-description.js';
import { ReadMessageRequest, ReadMessageResponse, RetryMessageRequest } from './read-or-retry.dto.js';
import { MessageCheckResponse } from './check-message.js';
import { MESSAGE_EXAMPLES } from './message-examples.js';
import { SEND_MESSAGE } from './send-message.js';
import { CanceledMessageResponse, QueuedMessageResponse, SingleMessageResponse } from './message.response.js';

const idempotencyKey = (required: boolean, description: string): MethodDecorator =>
  ApiHeader({
    name: 'Idempotency-Key',
    required,
    description,
    schema: { type: 'string', format: 'uuid' },
    example: EXAMPLE_IDEMPOTENCY_KEY,
  });

const REPLAYED = {
  'Idempotency-Replayed': {
    description: '`true` where the key stood for this request already and nothing new was made.',
    schema: { type: 'string' as const, enum: ['true'] },
  },
};

/** Errors of a create and a retry that depend on the current state: 422 on create, 409 on a retry. */
const STATE_CODES = [
  'SERVICE_WINDOW_CLOSED',
  'CONNECTION_NOT_FOUND',
  'TEMPLATE_NOT_FOUND',
  'TEMPLATE_NOT_APPROVED',
  'TEMPLATE_PARAMETERS_MISMATCH',
  'RECIPIENT_NEEDS_PHONE',
  'RECIPIENT_OPTED_OUT',
  'RECIPIENT_LIMIT_REACHED',
  'MEDIA_NOT_FOUND',
  'MEDIA_TYPE_MISMATCH',
];
/**
 * Errors of a call to the platform. A send, a check or a retry makes such a call only if the account's templates must
 * be read first. Marking as read always makes one.
 */
const PLATFORM_CODES = ['PLATFORM_REJECTED', 'PLATFORM_UNAVAILABLE', 'PLATFORM_TIMEOUT'];

const MessageBody = (examples = MESSAGE_EXAMPLES): MethodDecorator =>
  ApiBody({
    required: true,
    schema: { allOf: [SEND_MESSAGE], unevaluatedProperties: false } as object,
    examples,
  });

export const SendMessageDocs = (): MethodDecorator =>
  applyDecorators(
    idempotencyKey(true, 'A UUID for each message that you mean to send; repeat it when you repeat the request.'),
    MessageBody(),
    ApiAcceptedResponse({ type: QueuedMessageResponse, description: 'Queued.', headers: REPLAYED }),
    ApiErrors(
      'IDEMPOTENCY_KEY_REQUIRED',
      'IDEMPOTENCY_KEY_INVALID',
      'IDEMPOTENCY_KEY_REUSED',
      'SUBSCRIPTION_REQUIRED',
      'WORKSPACE_LIMIT_REACHED',
      'SPEND_LIMIT_REACHED',
      'SEND_AT_PASSED',
      'CONNECTION_NOT_READY',
      'VALIDATION_FAILED',
      'REPLY_TARGET_NOT_FOUND',
      'BACKLOG_LIMIT_REACHED',
      ...PLATFORM_CODES,
    ),
    ApiErrorsAs(422, ...STATE_CODES),
  );

export const CheckMessageDocs = (): MethodDecorator =>
  applyDecorators(
    MessageBody(Object.fromEntries(Object.entries(MESSAGE_EXAMPLES).slice(0, 1))),
    ApiOkResponse({ type: MessageCheckResponse, description: 'What would become of it.' }),
    ApiErrors('VALIDATION_FAILED', ...PLATFORM_CODES),
  );

export const RetryMessageDocs = (): MethodDecorator =>
  applyDecorators(
    idempotencyKey(false, 'Optional: a repeat with the same key answers the message as it is and queues nothing.'),
    ApiBody({
      required: false,
      type: RetryMessageRequest,
      examples: {
        plain: { summary: 'A failed message', value: {} },
        confirmed: { summary: 'A message whose outcome is unknown', value: { confirm_outcome_unknown: true } },
      },
    }),
    ApiAcceptedResponse({ type: SingleMessageResponse, description: 'Queued again.', headers: REPLAYED }),
    ApiErrors(
      'IDEMPOTENCY_KEY_INVALID',
      'IDEMPOTENCY_KEY_REUSED',
      'SUBSCRIPTION_REQUIRED',
      'WORKSPACE_LIMIT_REACHED',
      'SPEND_LIMIT_REACHED',
      'MESSAGE_NOT_FOUND',
      'MESSAGE_NOT_RETRYABLE',
      'OUTCOME_UNKNOWN_NOT_CONFIRMED',
      'CONNECTION_NOT_READY',
      ...PLATFORM_CODES,
    ),
    ApiErrorsAs(409, ...STATE_CODES),
  );

export const ReadMessageDocs = (): MethodDecorator =>
  applyDecorators(
    ApiBody({
      required: false,
      type: ReadMessageRequest,
      examples: {
        read: { summary: 'Read', value: {} },
        typing: { summary: 'Read, and typing', value: { typing_indicator: true } },
      },
    }),
    ApiOkResponse({ type: ReadMessageResponse, description: 'WhatsApp took it.' }),
    ApiErrors(
      'MESSAGE_NOT_FOUND',
      'MESSAGE_NOT_RECEIVED',
      'SUBSCRIPTION_REQUIRED',
      'CONNECTION_NOT_READY',
      ...PLATFORM_CODES,
    ),
  );

export const CancelMessageDocs = (): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(SingleMessageResponse, CanceledMessageResponse),
    ApiOkResponse({
      description: 'Canceled: the message, or `id` and `status` for a key without `messages:read`.',
      schema: {
        anyOf: [SingleMessageResponse, CanceledMessageResponse].map((type) => ({ $ref: getSchemaPath(type) })),
      },
    }),
    ApiErrors('MESSAGE_NOT_FOUND', 'MESSAGE_NOT_CANCELABLE'),
  );
