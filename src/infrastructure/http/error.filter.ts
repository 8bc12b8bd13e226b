import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable, Logger, HttpException } from '@nestjs/common';
import type { Response } from 'express';
import { AppError, MAX_FIELD_LENGTH, MAX_DETAILS, type ErrorDetail } from '../../common/app-error.js';
import { API_VERSION, API_VERSION_HEADER } from './api-version.js';
import type { HeraldRequest } from './herald-request.js';
import { PublicUrl } from './public-url.js';
import { commonErrors, invalidField } from '../../common/common.errors.js';
import { isExhausted, isTransientConflict, isUnreachable } from '../database/database-faults.js';
import { closeAfterUnreadBody, JSON_LIMIT_BYTES } from './body.guard.js';
import { clip } from '../../common/clip.js';

/**
 * Limit of log lines a second about an unavailable or overloaded service; the rest are counted. A line costs more than
 * an answer.
 */
const UNAVAILABLE_LINES = 10;
const SECOND_MS = 1_000;

/** The only place where an error becomes an answer. */
@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  private second = { startedAt: -Infinity, lines: 0, leftOut: 0 };

  constructor(private readonly publicUrl: PublicUrl) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const req = http.getRequest<HeraldRequest>();
    const res = http.getResponse<Response>();
    const error = toAppError(thrown);
    this.log(error);
    if (res.headersSent) {
      // A part of the answer is sent, so only a broken connection tells the caller that the rest will not come.
      res.destroy();
      return;
    }
    closeAfterUnreadBody(req, res);
    res.setHeader(API_VERSION_HEADER, API_VERSION);
    for (const name of ['Content-Disposition', 'Content-Encoding', 'Content-Length']) res.removeHeader(name);
    for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
    const { status, body } = this.answerOf(error, req.id);
    res.status(status).json(body);
  }

  /** An API with another shape of errors has a subclass that overrides this. */
  protected answerOf(error: AppError, requestId: string): { status: number; body: object } {
    return { status: error.status, body: errorBody(error, requestId, this.publicUrl.value) };
  }

  private log(error: AppError): void {
    // Without a reason it is a deliberate refusal, which is counted where it is made (ADR 12).
    const isMeant = error.internal === undefined && error.cause === undefined;
    if (error.kind === 'unavailable' && (isMeant || !this.mayTell())) return;
    if (error.status >= 500) {
      this.logger.error(
        `${error.code}${error.internal === undefined ? '' : `: ${error.internal}`}`,
        error.cause ?? error,
      );
    } else {
      this.logger.debug(`${error.code}: ${error.message}`);
    }
  }

  /** False where this second already has its lines. */
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

const UNAVAILABLE = [
  [isUnreachable, 'database'],
  [isExhausted, 'the database refuses work'],
  [isTransientConflict, 'conflict in the database'],
] as const;

/** Herald's error for one from elsewhere: the framework, the database, any library. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isUndecodable(error)) return invalidField('', 'path', 'The path is not correctly percent-encoded.', error);
  if (error instanceof HttpException) return ofStatus(error.getStatus(), error.message, error);
  const unavailable = UNAVAILABLE.find(([isIt]) => isIt(error));
  if (unavailable !== undefined) {
    return commonErrors.SERVICE_UNAVAILABLE(undefined, { internal: unavailable[1], cause: error });
  }
  const { expose, statusCode } = (error ?? {}) as { expose?: unknown; statusCode?: unknown };
  if (expose === true && typeof statusCode === 'number') {
    return ofStatus(statusCode, (error as Error).message, error);
  }
  return commonErrors.INTERNAL_ERROR(undefined, { cause: error });
}

/** Express throws an error of its own for it, which Nest wraps. */
function isUndecodable(error: unknown): boolean {
  return error instanceof URIError || (error instanceof Error && error.message.startsWith('Failed to decode param'));
}

function ofStatus(status: number, message: string, cause: unknown): AppError {
  if (status === 404) return commonErrors.ROUTE_NOT_FOUND(undefined, { cause });
  if (status === 413) return commonErrors.PAYLOAD_TOO_LARGE({ limitBytes: JSON_LIMIT_BYTES }, { cause });
  if (status === 415) return commonErrors.UNSUPPORTED_CONTENT_TYPE({ expected: 'application/json' }, { cause });
  if (status === 503) return commonErrors.SERVICE_UNAVAILABLE(undefined, { cause });
  if (status >= 400 && status < 500) return invalidField('', 'request', message, cause);
  return commonErrors.INTERNAL_ERROR(undefined, { cause });
}

export interface ErrorBody {
  error: { code: string; message: string; request_id: string; doc_url: string } & Record<string, unknown>;
}

const MAX_MESSAGE_LENGTH = 400;
const MAX_TEXT_LENGTH = 1_000;
const MAX_ITEMS = 50;
const MAX_ITEM_LENGTH = 200;
/** These characters take six bytes each in JSON, and are not readable. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/gu;

/** The body of every error answer. It stays short, whatever it repeats from the request or from WhatsApp's answer. */
export function errorBody(error: AppError, requestId: string, publicUrl: string): ErrorBody {
  const { code, message, doc_url, ...extra } = errorFields(error, publicUrl);
  return { error: { code, message, request_id: requestId, ...extra, doc_url } };
}

/** An error inside an answer about several items; bounded like `errorBody`. */
export type ErrorFields = { code: string; message: string; doc_url: string } & Record<string, unknown>;

export function errorFields(error: AppError, publicUrl: string): ErrorFields {
  return {
    code: error.code,
    message: clip(error.message, MAX_TEXT_LENGTH),
    ...boundedExtra(error.extra),
    doc_url: docUrl(publicUrl, error.code),
  };
}

/** `errors` contains fields of errors, which are bounded. */
function boundedExtra({ details, errors, ...others }: Record<string, unknown>): Record<string, unknown> {
  const bounded = boundedValue(others) as Record<string, unknown>;
  return {
    ...bounded,
    ...(details !== undefined && { details: boundedDetails(details as ErrorDetail[]) }),
    ...(errors !== undefined && { errors }),
  };
}

function boundedDetails(details: readonly ErrorDetail[]): ErrorDetail[] {
  return details.slice(0, MAX_DETAILS).map(({ field, rule, message }) => ({
    field: printable(field, MAX_FIELD_LENGTH),
    rule: printable(rule, MAX_FIELD_LENGTH),
    message: printable(message, MAX_MESSAGE_LENGTH),
  }));
}

function printable(text: string, max: number): string {
  return clip(text, max).replace(UNPRINTABLE, '\uFFFD');
}

function boundedValue(value: unknown, longest = MAX_TEXT_LENGTH): unknown {
  if (typeof value === 'string') return clip(value, longest);
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => boundedValue(item, MAX_ITEM_LENGTH));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, boundedValue(item, longest)]));
}

export function docUrl(publicUrl: string, code: string): string {
  return `${publicUrl}/docs/errors#${code}`;
}
