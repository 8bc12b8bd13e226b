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
/** For so long after a write of its caller a read without a mark is not late; longer where READ_LAG_MS is. */
const WRITTEN_MS = 5_000;

interface Write {
  at: number;
  /** Null: it is under way, or got none. */
  mark: string | null;
}

/**
 * Answers reads that may be late (`@ReadsMayBeLate()`) from a standby, and gives each answer to a write a mark with which
 * a later read finds what was written. Whatever a standby cannot answer is read again on the primary, once.
 *
 * It is the outermost of the interceptors that run work, so that a mark is made after the commit of what they wrap.
 */
@Injectable()
export class LateReads implements NestInterceptor {
  /** What each caller wrote last, the longest ago first. */
  private readonly written = new Map<string, Write>();
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
    // Of a key, or a person who signed in. Without: health, notifications of the platform, links.
    const callerId = req.apiKeyId ?? req.personId;
    if (callerId === undefined) return next.handle();
    if (!READING.has(req.method)) return from(this.write(callerId, http.getResponse<Response>(), next));
    if (mayBeLateOf(context.getHandler())?.(req.query) !== true) return next.handle();
    const chosen = this.choose(req, callerId);
    if (typeof chosen === 'object') return from(this.readLate(chosen, http.getResponse<Response>(), next));
    this.counted('primary', chosen);
    return next.handle();
  }

  /** The standby, or why it is none. */
  private choose(req: HeraldRequest, callerId: string): ChosenStandby | 'written' | 'behind' {
    const given = req.headers[READ_AFTER_HEADER.toLowerCase()];
    const own = this.lastWrite(callerId);
    if (own !== null && (given === undefined || own.mark === null)) return 'written';
    // The answer with the caller's last mark may have got lost.
    const marks = [given, own?.mark].filter((mark) => typeof mark === 'string');
    return this.standbys.choose(marks) ?? 'behind';
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

  private async write(callerId: string, res: Response, next: CallHandler): Promise<unknown> {
    this.noteWrite(callerId, null);
    let mark: string | null = null;
    try {
      const answer: unknown = await lastValueFrom(next.handle());
      mark = await this.mark(res);
      return answer;
    } catch (error) {
      // What failed for no fault of the caller may have written.
      if (toAppError(error).status >= 500) mark = await this.mark(res);
      throw error;
    } finally {
      this.noteWrite(callerId, mark);
    }
  }

  private async mark(res: Response): Promise<string | null> {
    const mark = await this.standbys.mark();
    if (mark !== null && !res.headersSent) res.setHeader(READ_AFTER_HEADER, mark);
    return mark;
  }

  private noteWrite(callerId: string, mark: string | null): void {
    const now = performance.now();
    // To its end, so that those to forget are at the begin.
    this.written.delete(callerId);
    this.written.set(callerId, { at: now, mark });
    for (const [key, { at }] of this.written) {
      if (now - at <= this.writtenMs) break;
      this.written.delete(key);
    }
  }

  /** Null where it is so long ago that every standby that is read has it. */
  private lastWrite(callerId: string): Write | null {
    const write = this.written.get(callerId);
    return write !== undefined && performance.now() - write.at <= this.writtenMs ? write : null;
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
