import type { ErrorCode as AdminErrorCode } from './admin-schema.js';
import type { components, ErrorCode as MessagingErrorCode } from './schema.js';

/** Codes that errors of both APIs may have; a later Herald may know more. */
export type ErrorCode = MessagingErrorCode | AdminErrorCode;

type ErrorBody = components['schemas']['ErrorResponse'];
export type ErrorDetail = components['schemas']['ErrorDetail'];

/** Herald refused the request, or could not take it. Decide by `code`; it never changes its meaning. */
export class HeraldError<Code extends string = ErrorCode> extends Error {
  override readonly name = 'HeraldError';

  constructor(
    readonly status: number,
    readonly code: Code,
    /** What Herald says; `message` of this error has code, details and request id too. */
    readonly text: string,
    /** Give it when you ask for help; it names the request in Herald's log. */
    readonly requestId: string,
    /** A page about the code: when it comes, and what to do. */
    readonly docUrl: string | null,
    /** The invalid fields, where the request was invalid. */
    readonly details: readonly ErrorDetail[],
    /** Seconds to wait before the next try, where Herald said so. */
    readonly retryAfterSeconds: number | null,
    /** Every field of the error, those of its code too: `window_expired_at`, `required_scope` and so on. */
    readonly fields: Readonly<Record<string, unknown>>,
  ) {
    super(wordsOf(text, code, requestId, details));
  }
}

/** All that a log needs of it. */
function wordsOf(text: string, code: string, requestId: string, details: readonly ErrorDetail[]): string {
  const each = details.map(({ message }) => message).filter((message) => !text.includes(message));
  const request = requestId === '' ? '' : `, request ${requestId}`;
  return `${[text, ...each].join(' ')} (${code}${request})`;
}

/** No answer came: the service is out of reach, or took too long. With an Idempotency-Key the request may be repeated. */
export class HeraldConnectionError extends Error {
  override readonly name = 'HeraldConnectionError';
}

/** Whether it is an error of Herald, and, where codes are named, one of these. */
export function isHeraldError<Code extends ErrorCode>(error: unknown, ...codes: Code[]): error is HeraldError<Code> {
  return error instanceof HeraldError && (codes.length === 0 || codes.includes(error.code as Code));
}

/** @param body what came; a proxy in between may have answered with something else */
export function errorOf(response: Response, body: unknown): HeraldError {
  const { error } = isErrorBody(body) ? body : { error: foreignError(response) };
  const { code, message, request_id, doc_url, details } = error;
  const fields: Record<string, unknown> = { ...error };
  return new HeraldError(
    response.status,
    // A later Herald may have codes that this client does not know yet.
    code as ErrorCode,
    message,
    request_id,
    doc_url,
    details ?? [],
    secondsIn(response.headers.get('retry-after')),
    fields,
  );
}

/** Herald's own is a number of seconds; a proxy in between may name a time. Null where there is none, or it is neither. */
export function secondsIn(retryAfter: string | null): number | null {
  if (retryAfter === null || /^\d+$/.test(retryAfter)) return retryAfter === null ? null : Number(retryAfter);
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null || !('error' in body)) return false;
  const { error } = body;
  return typeof error === 'object' && error !== null && 'code' in error && 'message' in error;
}

function foreignError(response: Response): ErrorBody['error'] {
  return {
    code: response.status >= 500 ? 'SERVICE_UNAVAILABLE' : 'INVALID_REQUEST',
    message: `${response.url} answered ${response.status} without a body of Herald; is baseUrl right?`,
    request_id: response.headers.get('x-request-id') ?? '',
    doc_url: '',
  };
}
