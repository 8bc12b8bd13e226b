import { HttpException } from '@nestjs/common';
import { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { isExhausted, isTransientConflict, isUnreachable } from '../database/database-faults.js';
import { JSON_LIMIT_BYTES } from './body-as.decorator.js';

/** What Herald says of an error that it did not make itself: the framework's, the database's, anybody's. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isUndecodable(error)) return invalid('path', 'The path is not correctly percent-encoded.', error);
  if (error instanceof HttpException) return ofStatus(error.getStatus(), error.message, error);
  if (isUnreachable(error)) return commonErrors.SERVICE_UNAVAILABLE(undefined, { internal: 'database', cause: error });
  if (isExhausted(error)) {
    return commonErrors.SERVICE_UNAVAILABLE(undefined, { internal: 'the database refuses work', cause: error });
  }
  if (isTransientConflict(error)) {
    return commonErrors.SERVICE_UNAVAILABLE(undefined, { internal: 'conflict in the database', cause: error });
  }
  const { expose, statusCode } = (error ?? {}) as { expose?: unknown; statusCode?: unknown };
  if (expose === true && typeof statusCode === 'number') {
    return ofStatus(statusCode, (error as Error).message, error);
  }
  return commonErrors.INTERNAL_ERROR(undefined, { cause: error });
}

/** Express says it with an error of its own, which Nest makes one of its own. */
function isUndecodable(error: unknown): boolean {
  return error instanceof URIError || (error instanceof Error && error.message.startsWith('Failed to decode param'));
}

function ofStatus(status: number, message: string, cause: unknown): AppError {
  if (status === 404) return commonErrors.ROUTE_NOT_FOUND(undefined, { cause });
  if (status === 413) return commonErrors.PAYLOAD_TOO_LARGE({ limitBytes: JSON_LIMIT_BYTES }, { cause });
  if (status === 415) return commonErrors.UNSUPPORTED_CONTENT_TYPE({ expected: 'application/json' }, { cause });
  if (status === 503) return commonErrors.SERVICE_UNAVAILABLE(undefined, { cause });
  if (status >= 400 && status < 500) return invalid('request', message, cause);
  return commonErrors.INTERNAL_ERROR(undefined, { cause });
}

function invalid(rule: string, message: string, cause: unknown): AppError {
  return commonErrors.INVALID_REQUEST({ details: [{ field: '', rule, message }] }, { cause });
}
