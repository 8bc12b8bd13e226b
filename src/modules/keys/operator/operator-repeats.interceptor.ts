import { createHash } from 'node:crypto';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type OnModuleInit,
} from '@nestjs/common';
import type { Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { idempotencyErrors } from '../../../common/common.errors.js';
import { isUuid } from '../../../common/ids.js';
import { Database } from '../../../infrastructure/database/database.js';
import type { HeraldRequest } from '../../../infrastructure/http/herald-request.js';
import { repeatableOf } from '../../../infrastructure/http/operator.decorator.js';
import { inBatches, Sweeps } from '../../../infrastructure/queue/sweeps.js';
import { parseKey } from '../api-key-format.js';
import {
  type KeptAnswer,
  type RepeatableRequest,
  OperatorRepeatsRepository,
  REPEATS_OVER,
} from './operator-repeats.repository.js';

const KEY = /^[\x21-\x7e][\x20-\x7e]{6,126}[\x21-\x7e]$/;
const KEY_FORM = '8 to 128 printable ASCII characters';
const SETUP_LINK = /hrld_setup_[\w-]{43}/;
const EVERY_MS = 60_000;
const BATCH = 1_000;

/**
 * Answers a repeated POST of the admin API with the first answer. The record of a request and its effects are in one
 * transaction, so that both exist or neither does.
 */
@Injectable()
export class OperatorRepeats implements NestInterceptor, OnModuleInit {
  constructor(
    private readonly repeats: OperatorRepeatsRepository,
    private readonly database: Database,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.sweeps.add({
      name: 'operator repeats',
      everyMs: EVERY_MS,
      hasWork: `exists (select from operator_repeat where ${REPEATS_OVER})`,
      run: (signal) => inBatches(signal, BATCH, (limit) => this.repeats.remove(limit)),
    });
  }

  /** @throws IDEMPOTENCY_KEY_INVALID (400), IDEMPOTENCY_KEY_REUSED (409). */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const policy = repeatableOf(context.getHandler());
    if (policy === null) return next.handle();
    const http = context.switchToHttp();
    const req = http.getRequest<HeraldRequest>();
    const request = repeatableRequest(req);
    if (request === null) return next.handle();
    const first = async (): Promise<object> => {
      const answer = (await lastValueFrom(next.handle())) as object;
      await this.repeats.keep(request, workspaceOf(req, answer), JSON.stringify(answer, withoutKeys));
      return answer;
    };
    const again = (kept: KeptAnswer | null): object => {
      if (kept?.fingerprint.equals(request.fingerprint) !== true) throw idempotencyErrors.IDEMPOTENCY_KEY_REUSED();
      http.getResponse<Response>().setHeader('Idempotency-Replayed', 'true');
      return kept.answer;
    };
    return from(policy.outside ? this.outside(request, first, again) : this.within(request, first, again));
  }

  private within<T>(
    request: RepeatableRequest,
    first: () => Promise<T>,
    again: (kept: KeptAnswer | null) => T,
  ): Promise<T> {
    return this.database.transaction(async () =>
      (await this.repeats.claim(request)) ? first() : again(await this.repeats.find(request)),
    );
  }

  /** Without a transaction: two concurrent requests both run, which is harmless. */
  private async outside<T>(
    request: RepeatableRequest,
    first: () => Promise<T>,
    again: (kept: KeptAnswer) => T,
  ): Promise<T> {
    const kept = await this.repeats.find(request);
    return kept === null ? first() : again(kept);
  }
}

/** Null without a key, and for a route that may not be repeated. */
function repeatableRequest(req: HeraldRequest): RepeatableRequest | null {
  const [key, ...others] = req.headersDistinct['idempotency-key'] ?? [];
  if (key === undefined) return null;
  if (others.length > 0 || !KEY.test(key)) throw idempotencyErrors.IDEMPOTENCY_KEY_INVALID({ form: KEY_FORM });
  const text = `${req.method} ${req.path}\n${JSON.stringify(req.body ?? {})}`;
  return { operatorKeyId: req.operator?.keyId ?? '', key, fingerprint: createHash('sha256').update(text).digest() };
}

/** The workspace whose erasure deletes the record: that of the path, or the created one. */
function workspaceOf(req: HeraldRequest, answer: object): string | null {
  if (req.organizationId !== undefined) return req.organizationId;
  const { data } = answer as { data?: { id?: unknown } };
  return typeof data?.id === 'string' && isUuid(data.id) ? data.id : null;
}

/** The text of a key is stored nowhere, and neither is a setup link. */
function withoutKeys(_name: string, value: unknown): unknown {
  return typeof value === 'string' && (parseKey(value) !== null || SETUP_LINK.test(value)) ? null : value;
}
