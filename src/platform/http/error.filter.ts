import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import type { AppError } from '../../common/app-error.js';
import { errorBody } from './error-body.js';
import { toAppError } from './foreign-errors.js';
import type { HeraldRequest } from './herald-request.js';
import { PublicUrl } from './public-url.js';

/** The one place where an error becomes an answer. */
@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

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
    if (error.status >= 500) {
      this.logger.error(
        `${error.code}${error.internal === undefined ? '' : `: ${error.internal}`}`,
        error.cause ?? error,
      );
    } else {
      this.logger.debug(`${error.code}: ${error.message}`);
    }
  }
}
