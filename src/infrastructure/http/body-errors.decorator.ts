import { SetMetadata } from '@nestjs/common';

export type BodyErrorKind = 'invalid_request' | 'unprocessable';

export const BODY_ERRORS = 'herald:body-errors';

/**
 * How faults inside well-formed JSON are answered: 400 INVALID_REQUEST (without this decorator), or 422
 * VALIDATION_FAILED. JSON that can't be read is 400 everywhere.
 */
export function BodyErrors(kind: BodyErrorKind): MethodDecorator & ClassDecorator {
  return SetMetadata(BODY_ERRORS, kind);
}
