import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import type { AppError } from '../../common/app-error.js';
import { errorBody } from './error-body.js';
import { toAppError } from './foreign-errors.js';
import type { HeraldRequest } from './herald-request.js';
import { PublicUrl } from './public-url.js';

/** So many lines a second say that the service is away or overloaded; the rest are counted. A line costs more than an answer. */
const UNAVAILABLE_LINES = 10;
const SECOND_MS = 1_000;

/** The one place where an error becomes an answer. */
@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  private second = { startedAt: -Infinity, lines: 0, leftOut: 0 };

  constructor(private readonly publicUrl: PublicUrl) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<HeraldRequest>(), http.getResponse<Response>());
  }

  answer(thrown: unknown, req: HeraldRequest, res: Response): void {
    const error = toAppError(thrown);
    this.log(error);
    if (res.headersSent) {
      // Part of an answer is out: only a broken connection tells the caller that the rest will not come.
      res.destroy();
      return;
    }
    for (const name of ['Content-Disposition', 'Content-Encoding', 'Content-Length']) {
      // Removing a length that was never set would keep Node from setting one.
      if (res.hasHeader(name)) res.removeHeader(name);
    }
    for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
    res.status(error.status).json(errorBody(error, req.id, this.publicUrl.value));
  }

  private log(error: AppError): void {
    if (error.kind === 'unavailable' && !this.mayTell()) return;
    if (error.status >= 500) {
      this.logger.error(
        `${error.code}${error.internal === undefined ? '' : `: ${error.internal}`}`,
        error.cause ?? error,
      );
    } else {
      this.logger.debug(`${error.code}: ${error.message}`);
    }
  }

  /** False where this second has its lines. */
  private mayTell(): boolean {
    const now = performance.now();
    if (now - this.second.startedAt >= SECOND_MS) {
      const { leftOut } = this.second;
      if (leftOut > 0) this.logger.warn(`${leftOut} more requests were answered 503`);
      this.second = { startedAt: now, lines: 0, leftOut: 0 };
    }
    if (this.second.lines < UNAVAILABLE_LINES) {
      this.second.lines++;
      return true;
    }
    this.second.leftOut++;
    return false;
  }
}
