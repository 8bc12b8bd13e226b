import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import { ApiErrors, REQUIRED_SCOPE_EXTENSION, SECURITY_SCHEME } from '../http/api-description.js';
import type { Scope } from './scopes.js';

export const REQUIRED_SCOPE = 'herald:scope';

/**
 * The route needs a key with this scope. One decorator for both: what the guard enforces, and what the API description
 * says (security, the scope in words, 401, 403, 429).
 */
export function RequireScope(scope: Scope): MethodDecorator {
  return applyDecorators(
    SetMetadata(REQUIRED_SCOPE, scope),
    ApiBearerAuth(SECURITY_SCHEME),
    ApiExtension(REQUIRED_SCOPE_EXTENSION, scope),
    ApiErrors(
      'API_KEY_MISSING',
      'API_KEY_INVALID',
      'API_KEY_EXPIRED',
      'API_KEY_REVOKED',
      'SCOPE_REQUIRED',
      'RATE_LIMITED',
    ),
  );
}
