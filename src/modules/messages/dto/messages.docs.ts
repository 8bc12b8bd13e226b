import { applyDecorators } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiHeader, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { EXAMPLE_IDEMPOTENCY_KEY } from '../../../common/example-ids.js';
import { ApiErrors, ApiErrorsAs, namedSchema } from '../../../infrastructure/http/api-description.js';
import { RetryMessageRequest } from './retry-message.request.js';
import { MESSAGE_VARIANTS } from '../accept/variants/message-variants.js';
import { MESSAGE_EXAMPLES } from './message-examples.js';
import { JournalResponse, QueuedMessageResponse, SingleMessageResponse } from './send-message.response.js';

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

/** What a create and a retry refuse for the state of things; 422 on create, 409 on a retry. */
const STATE_CODES = [
  'SERVICE_WINDOW_CLOSED',
  'CONNECTION_NOT_FOUND',
  'TEMPLATE_NOT_FOUND',
  'TEMPLATE_NOT_APPROVED',
  'TEMPLATE_PARAMETERS_MISMATCH',
  'RECIPIENT_NEEDS_PHONE',
  'MEDIA_NOT_FOUND',
  'MEDIA_TYPE_MISMATCH',
];
/** Where the templates of an account could never be read. */
const PLATFORM_CODES = ['PLATFORM_REJECTED', 'PLATFORM_UNAVAILABLE', 'PLATFORM_TIMEOUT'];

export const SendMessageDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Queue a message',
      description: [
        'Stores the message durably, queues it and answers at once; the delivery is followed with GET /messages/{id}.',
        '',
        'The body is exactly one of the variants, with exactly one of `to` (a phone number) and `recipient` (the user id',
        'of a contact who may hide the number, as `contact.user_id` names it). Outside the 24-hour window that a contact opens by writing, only a',
        'template may be sent. Messages to one recipient go out in the order in which they were taken.',
        '',
        'A template must be approved, and take the values that are given; its text is then the `body` of the message.',
        'A file is named by the id that POST /media gave: in `media.id`, in `media_object_id`, or in the header of a',
        'template. Herald uploads it to WhatsApp at its first use. Where the header of a template shows a file,',
        '`media_object_id` fills it.',
        '',
        'Repeat a request with the same Idempotency-Key as often as you like: one key makes one message and never expires.',
      ].join('\n'),
    }),
    idempotencyKey(true, 'A UUID for each message that you mean to send; repeat it when you repeat the request.'),
    ApiBody({
      required: true,
      schema: { oneOf: MESSAGE_VARIANTS.map((variant) => namedSchema(variant.name, variant.shape.schema)) },
      examples: MESSAGE_EXAMPLES,
    }),
    ApiAcceptedResponse({ type: QueuedMessageResponse, description: 'Queued.', headers: REPLAYED }),
    ApiErrors(
      'IDEMPOTENCY_KEY_REQUIRED',
      'IDEMPOTENCY_KEY_INVALID',
      'IDEMPOTENCY_KEY_REUSED',
      'SUBSCRIPTION_REQUIRED',
      'CONNECTION_NOT_READY',
      'VALIDATION_FAILED',
      'REPLY_TARGET_NOT_FOUND',
      'BACKLOG_LIMIT_REACHED',
      ...PLATFORM_CODES,
    ),
    ApiErrorsAs(422, ...STATE_CODES),
  );

export const ListMessagesDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Read the message journal',
      description: [
        "The workspace's messages in both directions, newest first. For the next page pass `next_before` and",
        '`next_before_id` of the answer as `before` and `before_id`; both are null on the last page.',
      ].join('\n'),
    }),
    ApiOkResponse({ type: JournalResponse, description: 'One page.' }),
    ApiErrors('CONNECTION_NOT_FOUND'),
  );

export const GetMessageDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Read one message with its send attempts',
      description: [
        'Poll it to follow a delivery, or receive webhooks instead. `attempts` lists the outcome of each attempt, and `error`',
        'why the last one failed.',
        '',
        '![States of a message](/docs/pictures/message-states.svg)',
      ].join('\n'),
    }),
    ApiOkResponse({ type: SingleMessageResponse, description: 'The message.' }),
    ApiErrors('MESSAGE_NOT_FOUND'),
  );

export const RetryMessageDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Send a failed message again',
      description: [
        'Queues a new attempt. A message whose outcome is unknown may have been sent: it goes again only with',
        '`confirm_outcome_unknown: true`, and the recipient may then get it twice. What must be so for a send, such as',
        'an open window or an approved template, must be so for a retry too.',
      ].join('\n'),
    }),
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
      'MESSAGE_NOT_FOUND',
      'MESSAGE_NOT_RETRYABLE',
      'OUTCOME_UNKNOWN_NOT_CONFIRMED',
      'CONNECTION_NOT_READY',
      ...PLATFORM_CODES,
    ),
    ApiErrorsAs(409, ...STATE_CODES),
  );
