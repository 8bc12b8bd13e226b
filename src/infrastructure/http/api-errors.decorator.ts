import { applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { ERROR_EXTENSION } from './openapi-names.js';

/**
 * The codes that this route may answer with, for the API description. Each must be declared with `defineErrors`; those
 * that any route may answer with (malformed requests, 500, 503, and what `@RequireScope` brings) need no mention.
 */
export function ApiErrors(...codes: string[]): MethodDecorator {
  return applyDecorators(...codes.map((code) => ApiExtension(`${ERROR_EXTENSION}:${code}`, true)));
}

/** As `ApiErrors`, for codes that this route answers under another status than their own: 422 for a missing connection. */
export function ApiErrorsAs(status: number, ...codes: string[]): MethodDecorator {
  return applyDecorators(...codes.map((code) => ApiExtension(`${ERROR_EXTENSION}${status}:${code}`, true)));
}
