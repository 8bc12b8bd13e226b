import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import type { RateLimits } from '../../infrastructure/rates/rate-limiter.js';
import type { Scope } from '../../infrastructure/http/scopes.js';
import type { SignedInPerson, WorkspaceOfPerson } from './person-sessions.types.js';

export type OtpMode = 'sandbox' | 'live';

/** The OTP project of a key. */
export interface OtpProjectOfKey {
  readonly id: string;
  /** `sandbox` sends nothing. Its keys begin with `hrld_test_`. */
  readonly mode: OtpMode;
}

/** The caller, from a valid key or the session of a person. At most two seconds old. */
export interface Caller {
  readonly organizationId: string;
  /** Public part of the key, or id of the person. */
  readonly apiKeyId: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Until when the workspace has paid for sending; confirm a refusal in the database. */
  readonly apiPaidUntil: Date | null;
  /** Whether the workspace has limits on sending. */
  readonly limited: boolean;
  readonly rateLimits: RateLimits;
  /** Set if the key belongs to an OTP project. */
  readonly otpProject: OtpProjectOfKey | null;
  /** Set if the caller is a person instead of a key. */
  readonly person?: PersonOfCaller;
}

export interface PersonOfCaller extends SignedInPerson {
  readonly workspace: WorkspaceOfPerson;
}

export interface AuthenticatedRequest extends HeraldRequest {
  caller: Caller;
  /** Set on routes with `@RequireSession`. */
  person?: SignedInPerson;
}

/** Passes the caller to a route that has `@RequireScope`. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  return context.switchToHttp().getRequest<AuthenticatedRequest>().caller;
});

/** Passes the person to a route that has `@RequireSession`. */
export const CurrentPerson = createParamDecorator((_data: unknown, context: ExecutionContext): SignedInPerson => {
  const { person } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (person === undefined) throw new Error('a route without @RequireSession has no person');
  return person;
});
