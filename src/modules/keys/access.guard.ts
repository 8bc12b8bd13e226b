import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { Config } from '../../infrastructure/config/config.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { isOfCommand } from '../../infrastructure/http/command-calls.js';
import { ratesErrors } from '../../infrastructure/rates/rates.errors.js';
import { keysErrors } from './keys.errors.js';
import { ApiKeysService } from './keys.service.js';
import { type OperatorCaller, OperatorKeysService } from './operator/operator-keys.service.js';
import type { AuthenticatedRequest, Caller } from './caller.decorator.js';
import { PersonSessions, type SignedInPerson } from './person-sessions.types.js';
import { GuessLimiter } from '../../infrastructure/rates/guess-limiter.js';
import type { RateDecision } from '../../infrastructure/rates/leased-buckets.js';
import { rateHeader, RateLimiter, rateLimits, type RateLimits } from '../../infrastructure/rates/rate-limiter.js';
import {
  MANAGED_SCOPES,
  OPERATOR_ROLE_SCOPES,
  ROLE_SCOPES,
  type WorkspaceRole,
} from '../../infrastructure/http/roles.js';
import type { OperatorScope } from '../../infrastructure/http/scopes.js';
import { type OperatorPolicy, type RoutePolicy, routePolicyOf } from '../../infrastructure/http/route-policy.js';

type KeyPolicy = Exclude<RoutePolicy, 'public' | 'session' | OperatorPolicy>;

/**
 * Checks a request's key, then rate limit, then scope: a key without the scope also uses a token, or it could ask
 * without end. A request without a key may have the session of a person, who becomes the same kind of caller. If the
 * key was read in the last two seconds and tokens are at hand, there is nothing to wait for.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly guesses: GuessLimiter;
  /** The limits of a person, over all workspaces. */
  private readonly personLimits: RateLimits;

  constructor(
    private readonly keys: ApiKeysService,
    private readonly operatorKeys: OperatorKeysService,
    private readonly sessions: PersonSessions,
    private readonly limiter: RateLimiter,
    private readonly counters: Counters,
    config: Config,
  ) {
    this.guesses = new GuessLimiter(config.security.authFailuresPerMinute);
    this.personLimits = rateLimits(config.limits.ratePerSecond, config.limits.rateBurst);
  }

  canActivate(context: ExecutionContext): true | Promise<true> {
    const policy = routePolicyOf(context.getClass(), context.getHandler());
    // No application starts with such a route, but a guard must not rely on that.
    if (policy === null) throw commonErrors.ROUTE_NOT_FOUND(undefined, { internal: 'route without a policy' });
    if (policy === 'public') return true;
    const http = context.switchToHttp();
    const req = http.getRequest<AuthenticatedRequest>();
    const res = http.getResponse<Response>();
    const signedIn = req.headers.authorization === undefined ? this.sessions.find(req) : null;
    if (signedIn !== null) return this.person(signedIn, policy, req, res);
    if (policy === 'session') throw this.refusal(keysErrors.SESSION_REQUIRED(), req);
    if (typeof policy === 'object') return this.operator(policy, req, res);
    try {
      const caller = this.keys.authenticate(bearerOf(req));
      if (!(caller instanceof Promise)) return this.admit(caller, policy, req, res);
      return caller.then(
        (found) => this.admit(found, policy, req, res),
        (error: unknown) => {
          throw this.refusal(error, req);
        },
      );
    } catch (error) {
      throw this.refusal(error, req);
    }
  }

  private admit(caller: Caller, policy: KeyPolicy, req: AuthenticatedRequest, res: Response): true | Promise<true> {
    req.caller = caller;
    req.apiKeyId = caller.apiKeyId;
    req.organizationId = caller.organizationId;
    req.confirm = () => this.keys.confirm(caller);
    const decision = this.limiter.take(caller.apiKeyId, caller.rateLimits);
    if (!(decision instanceof Promise)) return this.obey(decision, caller, policy, res);
    return decision.then((decided) => this.obey(decided, caller, policy, res));
  }

  /** The same for the admin API, which has other keys. */
  private async operator(policy: OperatorPolicy, req: AuthenticatedRequest, res: Response): Promise<true> {
    if (isOfCommand(req)) {
      req.operator = { keyId: '', workspaceIds: null };
      return true;
    }
    let caller: OperatorCaller;
    try {
      caller = await this.operatorKeys.authenticate(bearerOf(req));
    } catch (error) {
      throw this.refusal(error, req);
    }
    req.operator = caller;
    req.apiKeyId = caller.keyId;
    req.confirm = () => this.operatorKeys.confirm(caller);
    this.spend(await this.limiter.take(caller.keyId, caller.rateLimits), caller, res);
    const { scope, wholeInstallation } = policy;
    if (scope !== null && !caller.scopes.has(scope))
      throw this.counted(keysErrors.SCOPE_REQUIRED({ scope, ofOtpProject: null }));
    if (wholeInstallation && caller.workspaceIds !== null) throw this.counted(keysErrors.OPERATOR_KEY_LIMITED());
    return true;
  }

  /** The same for a person, by their role in the workspace of the request. */
  private async person(
    signedIn: Promise<SignedInPerson>,
    policy: KeyPolicy | 'session' | OperatorPolicy,
    req: AuthenticatedRequest,
    res: Response,
  ): Promise<true> {
    let person: SignedInPerson;
    try {
      person = await signedIn;
    } catch (error) {
      throw this.refusal(error, req);
    }
    req.personId = person.id;
    req.person = person;
    const rates = this.personLimits;
    this.spend(await this.limiter.take(person.id, rates), { rateLimits: rates }, res);
    if (policy === 'session') return true;
    if (typeof policy === 'object') return this.operatorPerson(person, policy, req);
    const workspace = await this.sessions.workspaceOf(person, req);
    const { id: organizationId, apiPaidUntil, limited, role } = workspace;
    const scopes = ROLE_SCOPES[role];
    const of = { organizationId, apiKeyId: person.id, apiPaidUntil, limited, otpProject: null };
    req.caller = { ...of, scopes, rateLimits: rates, person: { ...person, workspace } };
    req.confirm = () => this.sessions.confirm(person, organizationId);
    req.organizationId = organizationId;
    if (policy === 'any_key' || scopes.has(policy)) return true;
    throw this.counted(keysErrors.SCOPE_REQUIRED({ scope: policy, ofOtpProject: false, ofPerson: true }));
  }

  /**
   * An operator may make every call of the admin API; others those that their role allows in their own workspace, which
   * is in the path.
   */
  private async operatorPerson(
    person: SignedInPerson,
    { scope }: OperatorPolicy,
    req: AuthenticatedRequest,
  ): Promise<true> {
    if (person.isOperator && (scope === null || OPERATOR_ROLE_SCOPES.has(scope))) {
      req.operator = { keyId: person.id, workspaceIds: null };
      req.confirm = () => this.sessions.confirm(person, null);
      return true;
    }
    const named = req.params.workspace_id;
    const workspace =
      scope !== null && typeof named === 'string' ? await this.sessions.inWorkspace(person, named) : null;
    if (workspace === null || workspace.role === 'operator' || !isManaged(workspace.role, scope)) {
      const needed = scope ?? 'workspaces:read';
      throw this.counted(keysErrors.SCOPE_REQUIRED({ scope: needed, ofOtpProject: null, ofPerson: true }));
    }
    const { id, role } = workspace;
    req.operator = { keyId: person.id, workspaceIds: [id], keyScopes: ROLE_SCOPES[role] };
    req.confirm = () => this.sessions.confirm(person, id);
    return true;
  }

  private obey(decision: RateDecision, caller: Caller, policy: KeyPolicy, res: Response): true {
    this.spend(decision, caller, res);
    if (policy !== 'any_key' && !caller.scopes.has(policy)) {
      throw this.counted(keysErrors.SCOPE_REQUIRED({ scope: policy, ofOtpProject: caller.otpProject !== null }));
    }
    return true;
  }

  private spend(decision: RateDecision, { rateLimits }: Pick<Caller, 'rateLimits'>, res: Response): void {
    res.setHeader('RateLimit-Policy', rateLimits.policy);
    res.setHeader('RateLimit', rateHeader(decision));
    if (!decision.allowed) throw ratesErrors.RATE_LIMITED({ retryAfterSeconds: decision.resetSeconds });
  }

  /** A failure counts against the address; over the limit the answer reveals nothing else. */
  private refusal(error: unknown, req: AuthenticatedRequest): unknown {
    if (!(error instanceof AppError) || error.kind !== 'unauthenticated') return error;
    this.counted(error);
    const retryAfterSeconds = this.guesses.fail(req.ip ?? '');
    return retryAfterSeconds === null ? error : ratesErrors.RATE_LIMITED({ retryAfterSeconds });
  }

  private counted(refusal: AppError): AppError {
    this.counters.incrementBy('keys_refused', { code: refusal.code });
    return refusal;
  }
}

function isManaged(role: WorkspaceRole, scope: OperatorScope | null): boolean {
  return scope !== null && MANAGED_SCOPES[role].has(scope);
}

/** @throws API_KEY_MISSING (401) without a bearer token, or with more than one, which would be ambiguous. */
function bearerOf(req: AuthenticatedRequest): string {
  const header = req.headers.authorization;
  if (header === undefined || !/^bearer /i.test(header)) throw keysErrors.API_KEY_MISSING();
  const { rawHeaders } = req;
  let found = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 13 && name.toLowerCase() === 'authorization') found += 1;
  }
  if (found !== 1) throw keysErrors.API_KEY_MISSING();
  return header.slice('bearer '.length).trim();
}
