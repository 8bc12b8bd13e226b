import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiProperty } from '@nestjs/swagger';
import { EXAMPLE_MESSAGE_ID } from '../../../common/example-ids.js';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import type { BatchError } from '../messages.errors.js';
import { CheckWarningResponse } from './check-message.js';
import { BATCH_ERRORS, BatchBodyDocs } from './send-batch.js';

export class CheckedBatch {
  /** How many were checked. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 2 })
  messages!: number;

  /** How many POST /messages/batch would queue at this moment, each looked at by itself. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 1 })
  sendable!: number;
}

export class ReplayedMessage {
  /** Place of the message in `messages`, from 0 on. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 1 })
  index!: number;

  /** The message that the key made. */
  @ApiProperty({ format: 'uuid', example: EXAMPLE_MESSAGE_ID })
  id!: string;
}

export class BatchWarning extends CheckWarningResponse {
  /** Place of the message in `messages`, from 0 on. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 })
  index!: number;
}

/** What POST /messages/batch would do. */
export class BatchCheckResponse {
  @ApiProperty({ type: CheckedBatch })
  data!: CheckedBatch;

  /** Messages whose key has made this message already: no further one would be made. */
  @ApiProperty({ type: [ReplayedMessage] })
  replayed!: ReplayedMessage[];

  /** What keeps messages from being sent, as in the answer of POST /messages/batch; several may be of one message. */
  @ApiProperty({ type: 'array', items: BATCH_ERRORS, example: [] })
  errors!: BatchError[];

  /** What may keep messages from arriving, as in the answer of POST /messages/check. */
  @ApiProperty({ type: [BatchWarning] })
  warnings!: BatchWarning[];
}

export const CheckBatchDocs = (): MethodDecorator =>
  applyDecorators(
    BatchBodyDocs(),
    ApiOkResponse({ type: BatchCheckResponse, description: 'What would be taken, and what would not.' }),
    ApiErrors('VALIDATION_FAILED', 'PLATFORM_UNAVAILABLE', 'PLATFORM_TIMEOUT'),
  );
