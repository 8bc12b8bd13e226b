import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import {
  ApiErrors,
  OPERATOR_SECURITY_SCHEME,
  OTP_SECURITY_SCHEME,
  REQUIRED_SCOPE_EXTENSION,
  SECURITY_SCHEME,
} from './api-description.js';
import type { OperatorScope, Scope } from './scopes.js';

const PUBLIC_ROUTE = 'herald:public';

/** A route that needs no key: health, links that carry their own proof, what the platform calls. */
export function Public(): MethodDecorator & ClassDecorator {
  return SetMetadata(PUBLIC_ROUTE, true);
}

const REQUIRED_SCOPE = 'herald:scope';

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

const ANY_KEY = 'any_key';

/** The route needs a valid key and no scope of it; one of an OTP project will do. */
export function RequireKey(): MethodDecorator {
  return applyDecorators(
    SetMetadata(REQUIRED_SCOPE, ANY_KEY),
    ApiBearerAuth(SECURITY_SCHEME),
    ApiBearerAuth(OTP_SECURITY_SCHEME),
    ApiErrors('API_KEY_MISSING', 'API_KEY_INVALID', 'API_KEY_EXPIRED', 'API_KEY_REVOKED', 'RATE_LIMITED'),
  );
}

const SESSION = 'session';

/** The route needs the session of a person, whatever the person may do; no key will do. */
export function RequireSession(): MethodDecorator {
  return SetMetadata(REQUIRED_SCOPE, SESSION);
}

/** What a route of the admin API asks of its callers. */
export interface OperatorPolicy {
  /** Null: a valid key will do. */
  scope: OperatorScope | null;
  /** It concerns all workspaces: no key that is limited to some of them may call it. */
  wholeInstallation: boolean;
}

/** The route needs an operator key with this scope. As `RequireScope`, for routes of the admin API. */
export function RequireOperatorScope(
  scope: OperatorScope,
  { wholeInstallation = false }: Partial<Pick<OperatorPolicy, 'wholeInstallation'>> = {},
): MethodDecorator {
  return applyDecorators(
    operatorRoute({ scope, wholeInstallation }),
    ApiExtension(REQUIRED_SCOPE_EXTENSION, scope),
    ApiErrors('SCOPE_REQUIRED', ...(wholeInstallation ? ['OPERATOR_KEY_LIMITED'] : [])),
  );
}

/** The route needs a valid operator key and no scope of it. */
export function RequireOperatorKey(): MethodDecorator {
  return operatorRoute({ scope: null, wholeInstallation: false });
}

function operatorRoute(policy: OperatorPolicy): MethodDecorator {
  return applyDecorators(
    SetMetadata(REQUIRED_SCOPE, policy),
    ApiBearerAuth(OPERATOR_SECURITY_SCHEME),
    ApiErrors(
      'API_KEY_MISSING',
      'API_KEY_INVALID',
      'API_KEY_EXPIRED',
      'API_KEY_REVOKED',
      'OPERATOR_KEY_REQUIRED',
      'RATE_LIMITED',
    ),
  );
}

/** What a route asks of its callers: a scope, a key or a session, a session, an operator's key or session, or nothing. */
export type RoutePolicy = Scope | typeof ANY_KEY | typeof SESSION | OperatorPolicy | 'public';

/** Null where the route says nothing: no application starts with such a route (`HttpModule`). */
export function routePolicyOf(controller: object, handler: object): RoutePolicy | null {
  const scope = Reflect.getMetadata(REQUIRED_SCOPE, handler) as Exclude<RoutePolicy, 'public'> | undefined;
  if (scope !== undefined) return scope;
  const isPublic = Reflect.getMetadata(PUBLIC_ROUTE, handler) ?? Reflect.getMetadata(PUBLIC_ROUTE, controller);
  return isPublic === true ? 'public' : null;
}
