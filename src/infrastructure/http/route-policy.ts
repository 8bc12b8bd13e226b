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

/** A route that needs no key: health, links with their own proof, and calls by WhatsApp. */
export function Public(): MethodDecorator & ClassDecorator {
  return SetMetadata(PUBLIC_ROUTE, true);
}

const REQUIRED_SCOPE = 'herald:scope';

/**
 * The route requires a key with this scope. The decorator covers both what the guard enforces and what the API
 * description says (security, the scope in words, 401, 403, 429).
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

/** The route requires a valid key with any scope; a key of an OTP project is accepted too. */
export function RequireKey(): MethodDecorator {
  return applyDecorators(
    SetMetadata(REQUIRED_SCOPE, ANY_KEY),
    ApiBearerAuth(SECURITY_SCHEME),
    ApiBearerAuth(OTP_SECURITY_SCHEME),
    ApiErrors('API_KEY_MISSING', 'API_KEY_INVALID', 'API_KEY_EXPIRED', 'API_KEY_REVOKED', 'RATE_LIMITED'),
  );
}

const SESSION = 'session';

/** The route requires the session of a person with any rights; keys are not accepted. */
export function RequireSession(): MethodDecorator {
  return SetMetadata(REQUIRED_SCOPE, SESSION);
}

/** The requirements of a route of the admin API. */
export interface OperatorPolicy {
  /** Null: any valid key is accepted. */
  scope: OperatorScope | null;
  /** The route concerns all workspaces: a key limited to some may not call it. */
  wholeInstallation: boolean;
}

/** The route requires an operator key with this scope. Like `RequireScope`, for the admin API. */
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

/** The route requires a valid operator key with any scope. */
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

/** What a route requires: a scope, any key or session, a session, an operator's key or session, or nothing. */
export type RoutePolicy = Scope | typeof ANY_KEY | typeof SESSION | OperatorPolicy | 'public';

/** Null where the route declares nothing: no application starts with such a route (`HttpModule`). */
export function routePolicyOf(controller: object, handler: object): RoutePolicy | null {
  const scope = Reflect.getMetadata(REQUIRED_SCOPE, handler) as Exclude<RoutePolicy, 'public'> | undefined;
  if (scope !== undefined) return scope;
  const isPublic = Reflect.getMetadata(PUBLIC_ROUTE, handler) ?? Reflect.getMetadata(PUBLIC_ROUTE, controller);
  return isPublic === true ? 'public' : null;
}
