import {
  type CallHandler,
  type ExecutionContext,
  HttpException,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { AppError } from '../../common/app-error.js';
import { readLate } from '../../common/late-read.js';
import { Config } from '../config/config.js';
import type { ChosenStandby } from '../database/standby.js';
import { Standbys } from '../database/standbys.js';
import { Counters } from '../operations/counters.js';
import { toAppError } from './error.filter.js';
import type { HeraldRequest } from './herald-request.js';
import { LAG_HEADER, mayBeLateOf, READ_AFTER_HEADER } from './late-reads.js';

const READING = new Set(['GET', 'HEAD']);
/** For so long after a write of its key a read without a mark is not late; longer where READ_LAG_MS is. */
const WRITTEN_MS = 5_000;

/**
 * Answers reads that may be late (`@ReadsMayBeLate()`) from a standby, and gives each answer to a write a mark with which
 * a later read finds what was written. Whatever a standby cannot answer is read again on the primary, once.
 *
 * It is the outermost of the interceptors that run work, so that a mark is made after the commit of what they wrap.
 */
@Injectable()
export class LateReads implements NestInterceptor {
  /** When each key wrote last, the longest ago first. */
  private readonly writtenAt = new Map<string, number>();
  private readonly writtenMs: number;

  constructor(
    private readonly standbys: Standbys,
    private readonly counters: Counters,
    { database }: Config,
  ) {
    // A standby that is read has everything that is older than READ_LAG_MS.
    this.writtenMs = Math.max(WRITTEN_MS, database.readLagMs);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (this.standbys.all.length === 0) return next.handle();
    const http = context.switchToHttp();
    const req = http.getRequest<HeraldRequest>();
    const { apiKeyId } = req;
    // Without a key: health, notifications of the platform, links.
    if (apiKeyId === undefined) return next.handle();
    if (!READING.has(req.method)) return from(this.write(apiKeyId, http.getResponse<Response>(), next));
    if (mayBeLateOf(context.getHandler())?.(req.query) !== true) return next.handle();
    const chosen = this.choose(req, apiKeyId);
    if (typeof chosen === 'object') return from(this.readLate(chosen, http.getResponse<Response>(), next));
    this.counted('primary', chosen);
    return next.handle();
  }

  /** The standby, or why it is none. */
  private choose(req: HeraldRequest, apiKeyId: string): ChosenStandby | 'written' | 'behind' {
    const mark = req.headers[READ_AFTER_HEADER.toLowerCase()];
    if (mark === undefined && this.hasWritten(apiKeyId)) return 'written';
    return this.standbys.choose(typeof mark === 'string' ? mark : null) ?? 'behind';
  }

  private async readLate({ source, lagMs }: ChosenStandby, res: Response, next: CallHandler): Promise<unknown> {
    try {
      const answer: unknown = await readLate(source, () => lastValueFrom(next.handle()));
      res.setHeader(LAG_HEADER, Math.ceil(lagMs));
      this.counted('standby', 'read');
      return answer;
    } catch (error) {
      if (isCertain(error)) throw error;
      this.counted('primary', error instanceof AppError ? 'not_found' : 'failed');
      return lastValueFrom(next.handle());
    }
  }

  private async write(apiKeyId: string, res: Response, next: CallHandler): Promise<unknown> {
    this.noteWrite(apiKeyId);
    try {
      const answer: unknown = await lastValueFrom(next.handle());
      await this.mark(res);
      return answer;
    } catch (error) {
      // What failed for no fault of the caller may have written.
      if (toAppError(error).status >= 500) await this.mark(res);
      throw error;
    } finally {
      this.noteWrite(apiKeyId);
    }
  }

  private async mark(res: Response): Promise<void> {
    const mark = await this.standbys.mark();
    if (mark !== null && !res.headersSent) res.setHeader(READ_AFTER_HEADER, mark);
  }

  private noteWrite(apiKeyId: string): void {
    const now = performance.now();
    // To its end, so that those to forget are at the begin.
    this.writtenAt.delete(apiKeyId);
    this.writtenAt.set(apiKeyId, now);
    for (const [key, at] of this.writtenAt) {
      if (now - at <= this.writtenMs) break;
      this.writtenAt.delete(key);
    }
  }

  private hasWritten(apiKeyId: string): boolean {
    return performance.now() - (this.writtenAt.get(apiKeyId) ?? -Infinity) <= this.writtenMs;
  }

  private counted(server: 'standby' | 'primary', why: string): void {
    this.counters.incrementBy('late_reads', { server, why });
  }
}

/** Of the primary, too: what is wrong with the request itself. What a standby does not have may be there. */
function isCertain(error: unknown): boolean {
  if (error instanceof HttpException) return true;
  return error instanceof AppError && error.status < 500 && error.kind !== 'not_found' && error.kind !== 'gone';
}
