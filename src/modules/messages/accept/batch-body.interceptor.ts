import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { finalize, type Observable } from 'rxjs';
import { commonErrors } from '../../../common/common.errors.js';
import { KeyedSlots } from '../../../common/keyed-slots.js';
import { hasBody, JSON_LIMIT_BYTES, readBytes, refuseOtherTypes } from '../../../infrastructure/http/body.guard.js';
import { JsonScan, type Span } from '../../../infrastructure/http/json-scan.js';
import { markLength, notJson, requireUtf8 } from '../../../infrastructure/http/read-json.js';
import { RateLimiter, type Spending } from '../../../infrastructure/rates/rate-limiter.js';
import { ratesErrors } from '../../../infrastructure/rates/rates.errors.js';
import type { AuthenticatedRequest } from '../../keys/caller.decorator.js';
import { type Batch, MAX_MESSAGES, readBatch } from '../dto/send-batch.js';

/** Enough for a hundred texts of full length, or templates with twenty values each. */
const BATCH_LIMIT_BYTES = 4 * 1_024 * 1_024;
/** The part of an unread body that costs one token; the largest body then costs as many tokens as the most messages. */
const BYTES_PER_TOKEN = 40 * 1_024;
/** A workspace reads batches larger than this one at a time. */
const LARGE_BYTES = JSON_LIMIT_BYTES;
/** Each waiting batch keeps up to LARGE_BYTES in memory. */
const MAX_WAITING = 8;
const WAIT_MS = 5_000;
const RETRY_AFTER_SECONDS = 1;

/**
 * Reads the body of a batch. It may be sixteen times as large as other bodies, so the rate limit is charged before
 * reading: a token per 40 KiB. Messages are counted as they arrive and parsed later, one by one; then each costs one
 * token. A batch that is refused before its messages are known costs the part that was read.
 */
@Injectable()
export class BatchBody implements NestInterceptor {
  private readonly large = new KeyedSlots({ slots: 1, mostWaiting: MAX_WAITING, waitMs: WAIT_MS });

  constructor(private readonly limiter: RateLimiter) {}

  /**
   * @throws RATE_LIMITED (429), UNSUPPORTED_CONTENT_TYPE (415), PAYLOAD_TOO_LARGE (413), INVALID_REQUEST (400),
   * VALIDATION_FAILED (422).
   */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const req = http.getRequest<AuthenticatedRequest>();
    const { apiKeyId, rateLimits, organizationId } = req.caller;
    const spending = this.limiter.spendingOf(apiKeyId, rateLimits, http.getResponse<Response>());
    const place = new LargePlace(this.large, organizationId);
    try {
      req.body = await this.read(req, spending, place);
    } catch (error) {
      place.leave();
      throw error;
    }
    return next.handle().pipe(finalize(() => place.leave()));
  }

  private async read(req: AuthenticatedRequest, spending: Spending, place: LargePlace): Promise<Batch> {
    const { burst } = req.caller.rateLimits;
    if (!hasBody(req)) return readBatch(undefined, burst);
    refuseOtherTypes(req);
    const announced = Number(req.headers['content-length'] ?? 0);
    if (announced > BATCH_LIMIT_BYTES) throw commonErrors.PAYLOAD_TOO_LARGE({ limitBytes: BATCH_LIMIT_BYTES });
    const scan = new JsonScan({ list: 'messages', mostItems: MAX_MESSAGES });
    let size = 0;
    const admit = async (bytes: number): Promise<void> => {
      await spending.raiseTo(tokensOf(bytes));
      if (bytes > LARGE_BYTES) await place.enter();
    };
    try {
      await admit(announced);
      const bytes = await readBytes(req, BATCH_LIMIT_BYTES, (part) => {
        size += part.length;
        scan.push(part);
        if (scan.hasTooManyItems) throw tooMany(burst);
        // A body without a Content-Length is charged as it arrives.
        return size > announced ? admit(size) : undefined;
      });
      scan.end();
      const batch = bytes.length === 0 ? readBatch(undefined, burst) : batchOf(bytes, scan, burst);
      const price = priceOf(batch.messages);
      await spending.raiseTo(price, { messages: batch.messages.length });
      spending.lowerTo(price);
      return batch;
    } catch (error) {
      spending.lowerTo(tokensOf(size));
      throw error;
    }
  }
}

/** The place of one request among the large batches of its workspace. */
class LargePlace {
  private isTaken = false;
  private isOver = false;

  constructor(
    private readonly slots: KeyedSlots,
    private readonly organizationId: string,
  ) {}

  /** @throws RATE_LIMITED (429) where too many wait, or no place became free in time. */
  async enter(): Promise<void> {
    if (this.isTaken) return;
    const scope = 'large_batches';
    if (!(await this.slots.enter(this.organizationId))) {
      throw ratesErrors.RATE_LIMITED({ retryAfterSeconds: RETRY_AFTER_SECONDS, scope });
    }
    this.isTaken = true;
    // The caller disconnected meanwhile.
    if (this.isOver) this.slots.leave(this.organizationId);
  }

  leave(): void {
    if (this.isTaken && !this.isOver) this.slots.leave(this.organizationId);
    this.isOver = true;
  }
}

function tokensOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN));
}

/** One token per message; a message above the size limit is only read, and costs tokens by its size. */
function priceOf(messages: readonly Buffer[]): number {
  return messages.reduce((sum, { length }) => sum + (length > JSON_LIMIT_BYTES ? tokensOf(length) : 1), 0);
}

function tooMany(burst: number): unknown {
  try {
    return readBatch({ messages: Array.from({ length: MAX_MESSAGES + 1 }) }, burst);
  } catch (error) {
    return error;
  }
}

/** @throws INVALID_REQUEST (400), PAYLOAD_TOO_LARGE (413), VALIDATION_FAILED (422). */
function batchOf(bytes: Buffer, { errorAt, items, listSpan }: JsonScan, burst: number): Batch {
  requireUtf8(bytes);
  if (errorAt !== null) throw notJson(bytes, errorAt);
  const around = withoutSpan(bytes, listSpan);
  if (around.length > JSON_LIMIT_BYTES) throw commonErrors.PAYLOAD_TOO_LARGE({ limitBytes: JSON_LIMIT_BYTES });
  const envelope: unknown = JSON.parse(around.toString('utf8', markLength(around)));
  if (items !== null) {
    (envelope as { messages: unknown }).messages = items.map(({ from, to }) => bytes.subarray(from, to));
  }
  return readBatch(envelope, burst);
}

function withoutSpan(bytes: Buffer, span: Span | null): Buffer {
  return span === null ? bytes : Buffer.concat([bytes.subarray(0, span.from), bytes.subarray(span.to)]);
}
