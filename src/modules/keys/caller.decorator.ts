import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import type { RateLimits } from '../../infrastructure/rates/rate-limiter.js';
import type { Scope } from '../../infrastructure/http/scopes.js';
import type { SignedInPerson, WorkspaceOfPerson } from './person-sessions.types.js';

export type OtpMode = 'sandbox' | 'live';

/** What a key says of the OTP project that it belongs to. */
export interface OtpProjectOfKey {
  readonly id: string;
  /** `sandbox` sends nothing. Its keys begin with `hrld_test_`. */
  readonly mode: OtpMode;
}

/** The caller: what a valid key, or the session of a person, says about its request. At most two seconds old. */
export interface Caller {
  readonly organizationId: string;
  /** Public part of the key, or id of the person. */
  readonly apiKeyId: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Until when the workspace has paid for sending; confirm a refusal in the database. */
  readonly apiPaidUntil: Date | null;
  /** Whether the workspace has limits on what it sends. */
  readonly limited: boolean;
  readonly rateLimits: RateLimits;
  /** Set where the key belongs to an OTP project. */
  readonly otpProject: OtpProjectOfKey | null;
  /** Set where a person calls, and no key. */
  readonly person?: PersonOfCaller;
}

export interface PersonOfCaller extends SignedInPerson {
  readonly workspace: WorkspaceOfPerson;
}

export interface AuthenticatedRequest extends HeraldRequest {
  caller: Caller;
  /** On routes with `@RequireSession`. */
  person?: SignedInPerson;
}

/** Hands a route that has `@RequireScope` its caller. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  return context.switchToHttp().getRequest<AuthenticatedRequest>().caller;
});

/** Hands a route that has `@RequireSession` its person. */
export const CurrentPerson = createParamDecorator((_data: unknown, context: ExecutionContext): SignedInPerson => {
  const { person } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (person === undefined) throw new Error('a route without @RequireSession has no person');
  return person;
});
