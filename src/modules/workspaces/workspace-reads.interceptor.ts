import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { finalize, from, mergeMap, type Observable } from 'rxjs';
import { KeyedSlots } from '../../common/keyed-slots.js';
import { Config } from '../../infrastructure/config/config.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { ratesErrors } from '../../infrastructure/rates/rates.errors.js';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import { type RoutePolicy, routePolicyOf } from '../../infrastructure/http/route-policy.js';
import type { Scope } from '../../infrastructure/http/scopes.js';

/**
 * Scopes of routes that may read much of the database. Accepts and codes are left out, and so are routes that mostly
 * wait for WhatsApp or for a file: they would occupy a slot without using a connection.
 */
const SCOPES: ReadonlySet<RoutePolicy> = new Set<Scope>([
  'connections:read',
  'media:read',
  'messages:read',
  'templates:read',
  'webhooks:read',
  'webhooks:write',
]);

const MAX_WAITING = 200;
const WAIT_MS = 5_000;
const RETRY_AFTER_SECONDS = 1;

/**
 * Limits the database connections for the reads of one workspace: a third of each process's pool. Keys have a rate
 * limit, but a few slow requests a second are enough to use up all connections.
 */
@Injectable()
export class WorkspaceReads implements NestInterceptor {
  private readonly slots: KeyedSlots;

  constructor(
    config: Config,
    private readonly counters: Counters,
  ) {
    const slots = Math.max(1, Math.floor(config.database.poolSize / 3));
    this.slots = new KeyedSlots({ slots, mostWaiting: MAX_WAITING, waitMs: WAIT_MS });
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const policy = routePolicyOf(context.getClass(), context.getHandler());
    if (policy === null || !SCOPES.has(policy)) return next.handle();
    const req = context.switchToHttp().getRequest<HeraldRequest>();
    const { organizationId = '' } = req;
    const run = (entered: boolean): Observable<unknown> => {
      this.ensure(entered);
      let holds = true;
      req.waitOutside = async (wait) => {
        this.slots.leave(organizationId);
        holds = false;
        const waited = await wait();
        this.ensure(await this.slots.enter(organizationId));
        holds = true;
        return waited;
      };
      return next.handle().pipe(
        finalize(() => {
          if (holds) this.slots.leave(organizationId);
        }),
      );
    };
    const entered = this.slots.enter(organizationId);
    return typeof entered === 'boolean' ? run(entered) : from(entered).pipe(mergeMap(run));
  }

  /** @throws RATE_LIMITED (429). */
  private ensure(entered: boolean): void {
    if (entered) return;
    this.counters.increment('workspace_reads_refused');
    throw ratesErrors.RATE_LIMITED({ retryAfterSeconds: RETRY_AFTER_SECONDS, scope: 'workspace_reads' });
  }
}
