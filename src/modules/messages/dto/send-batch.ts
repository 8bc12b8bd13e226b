import { applyDecorators } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiProperty } from '@nestjs/swagger';
import type { ErrorDetail } from '../../../common/app-error.js';
import { commonErrors } from '../../../common/common.errors.js';
import { EXAMPLE_IDEMPOTENCY_KEY, EXAMPLE_MESSAGE_ID } from '../../../common/example-ids.js';
import { array, free, object, oneOf, violation, type Shape } from '../../../common/shape.js';
import { ApiErrors, namedSchema } from '../../../infrastructure/http/api-description.js';
import type { BatchError } from '../messages.errors.js';
import { MESSAGE_EXAMPLES } from './message-examples.js';
import { SEND_MESSAGE } from './send-message.js';

/** The default burst of a key's rate limit. */
export const MAX_MESSAGES = 100;

const KEY = {
  type: 'string',
  format: 'uuid',
  description: 'A UUID for each message that you mean to send, another one for each message of the batch.',
};

const KEYED = namedSchema('BatchKey', {
  type: 'object',
  required: ['idempotency_key'],
  properties: { idempotency_key: KEY },
});

/** A message of POST /messages with its key, which is a header there. */
const BATCH_MESSAGE = namedSchema('BatchMessage', { allOf: [SEND_MESSAGE, KEYED], unevaluatedProperties: false });

const validation = oneOf(['strict', 'permissive'], {
  description:
    'strict: one message that cannot be sent, and none is taken. permissive: the others are taken. Default: strict.',
});

function bodyOf(itemSchema: Shape['schema']): Shape {
  const description = 'In the order in which they go to one recipient.';
  const messages = array(free(itemSchema), { min: 1, max: MAX_MESSAGES, description });
  return object({ required: { messages }, optional: { validation } });
}
const BODY = bodyOf({});

/** What a batch asks for. */
export interface Batch {
  /** JSON texts, not parsed yet. */
  messages: Buffer[];
  strict: boolean;
}

/**
 * Reads the envelope.
 *
 * @param body the parsed body, except its `messages`.
 * @param most how many messages the caller's rate limit allows at once.
 * @throws VALIDATION_FAILED (422).
 */
export function readBatch(body: unknown, most: number): Batch {
  const details: ErrorDetail[] = [];
  BODY.check(body, '', details);
  if (details.length > 0) throw commonErrors.VALIDATION_FAILED({ details });
  const batch = body as { messages: Buffer[]; validation?: string };
  if (batch.messages.length > most) {
    const text = `messages must have at most ${most} items: this key may make ${most} requests at once, and each message counts as one.`;
    throw commonErrors.VALIDATION_FAILED({ details: [violation('messages', 'length', text)] });
  }
  return { messages: batch.messages, strict: batch.validation !== 'permissive' };
}

export class BatchedMessage {
  /** Place of the message in `messages`, from 0 on. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 })
  index!: number;

  /** The message's id: follow it with GET /messages/{id}. */
  @ApiProperty({ format: 'uuid', example: EXAMPLE_MESSAGE_ID })
  id!: string;

  @ApiProperty({ enum: ['queued'], example: 'queued' })
  status!: 'queued';

  /** The key stood for this message already; nothing new was made. */
  @ApiProperty({ type: Boolean, example: false })
  replayed!: boolean;
}

/** A refused message of a batch. */
export const BATCH_ERRORS = {
  type: 'object' as const,
  required: ['index', 'code', 'message', 'details'],
  properties: {
    index: { type: 'integer', minimum: 0 },
    code: { type: 'string' },
    message: { type: 'string' },
    details: { type: 'array', items: { $ref: '#/components/schemas/ErrorDetail' } },
  },
  additionalProperties: true,
};

export class SendBatchResponse {
  @ApiProperty({ type: [BatchedMessage] })
  data!: BatchedMessage[];

  /** Of a permissive batch: what was not taken, and why. Beside these fields stand those of the code. */
  @ApiProperty({ type: 'array', items: BATCH_ERRORS, example: [] })
  errors!: BatchError[];
}

const keyed = (example: { value: Record<string, unknown> } | undefined, idempotency_key: string): object => ({
  idempotency_key,
  ...example?.value,
});
const BATCH = [
  keyed(MESSAGE_EXAMPLES.text, EXAMPLE_IDEMPOTENCY_KEY),
  keyed(MESSAGE_EXAMPLES.template, '7c9e6679-7425-40de-944b-e07fc1f90ae7'),
];

export const BatchBodyDocs = (): MethodDecorator =>
  ApiBody({
    required: true,
    schema: bodyOf(BATCH_MESSAGE).schema,
    examples: {
      strict: { summary: 'All or none', value: { messages: BATCH } },
      permissive: {
        summary: 'Those that can be sent',
        value: { messages: BATCH.slice(0, 1), validation: 'permissive' },
      },
    },
  });

export const SendBatchDocs = (): MethodDecorator =>
  applyDecorators(
    BatchBodyDocs(),
    ApiAcceptedResponse({ type: SendBatchResponse, description: 'What was taken is queued.' }),
    ApiErrors(
      'VALIDATION_FAILED',
      'BATCH_REFUSED',
      'SUBSCRIPTION_REQUIRED',
      'WORKSPACE_LIMIT_REACHED',
      'SPEND_LIMIT_REACHED',
      'BACKLOG_LIMIT_REACHED',
      'PLATFORM_UNAVAILABLE',
      'PLATFORM_TIMEOUT',
    ),
  );
