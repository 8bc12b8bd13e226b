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
/**
 * After a caller's write, its reads without a mark use the primary for this long, or for READ_LAG_MS if that is longer.
 */
const WRITTEN_MS = 5_000;

interface Write {
  at: number;
  /** Null: the write is in flight, or got no mark. */
  mark: string | null;
}

/**
 * Answers reads that may be late (`@ReadsMayBeLate()`) from a standby, and adds a mark to each answer to a write, with
 * which a later read sees that write. If a standby cannot answer, the read is repeated once on the primary.
 *
 * It is the outermost interceptor that runs work, so that marks are made after the commits of inner ones.
 */
@Injectable()
export class LateReads implements NestInterceptor {
  /** The last write of each caller, the oldest first. */
  private readonly written = new Map<string, Write>();
  private readonly writtenMs: number;

  constructor(
    private readonly standbys: Standbys,
    private readonly counters: Counters,
    { database }: Config,
  ) {
    // A standby in use has everything older than READ_LAG_MS.
    this.writtenMs = Math.max(WRITTEN_MS, database.readLagMs);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (this.standbys.all.length === 0) return next.handle();
    const http = context.switchToHttp();
    const req = http.getRequest<HeraldRequest>();
    // The id of the key or of the signed-in person. Absent for health checks, WhatsApp's notifications, and links.
    const callerId = req.apiKeyId ?? req.personId;
    if (callerId === undefined) return next.handle();
    if (!READING.has(req.method)) return from(this.write(callerId, http.getResponse<Response>(), next));
    if (mayBeLateOf(context.getHandler())?.(req.query) !== true) return next.handle();
    const chosen = this.choose(req, callerId);
    if (typeof chosen === 'object') return from(this.readLate(chosen, http.getResponse<Response>(), next));
    this.counted('primary', chosen);
    return next.handle();
  }

  /** The standby to use, or why none is used. */
  private choose(req: HeraldRequest, callerId: string): ChosenStandby | 'written' | 'behind' {
    const given = req.headers[READ_AFTER_HEADER.toLowerCase()];
    const own = this.lastWrite(callerId);
    if (own !== null && (given === undefined || own.mark === null)) return 'written';
    // The answer with the caller's last mark may have been lost.
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
      // A request that failed through no fault of the caller may have written.
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
    // Re-inserted at the end, so that the oldest entries are at the beginning.
    this.written.delete(callerId);
    this.written.set(callerId, { at: now, mark });
    for (const [key, { at }] of this.written) {
      if (now - at <= this.writtenMs) break;
      this.written.delete(key);
    }
  }

  /** Null where the write is so old that every standby in use has it. */
  private lastWrite(callerId: string): Write | null {
    const write = this.written.get(callerId);
    return write !== undefined && performance.now() - write.at <= this.writtenMs ? write : null;
  }

  private counted(server: 'standby' | 'primary', why: string): void {
    this.counters.incrementBy('late_reads', { server, why });
  }
}

/** Whether the primary would fail too: the request itself is wrong. Anything that a standby lacks may exist there. */
function isCertain(error: unknown): boolean {
  if (error instanceof HttpException) return true;
  return error instanceof AppError && error.status < 500 && error.kind !== 'not_found' && error.kind !== 'gone';
}
