import { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { findPlatformError, presentable, readGraphError } from './graph-error.js';
import type { Exchange } from './http-exchanger.js';
import { parseJson } from './json-access.js';
import { TOO_LARGE_STATUSES } from './outcome.js';

/** The outcome of a call other than a send. */
export type PlatformResult<T = unknown> =
  { readonly ok: true; readonly status: number; readonly body: T } | PlatformFailure;

/**
 * `rejected`: WhatsApp refused it explicitly, or for its size. `timeout`: it was sent, but no answer came in time, so
 * it may have taken effect. `unavailable`: WhatsApp was not reached, the connection broke, or the answer was
 * unreadable.
 */
export interface PlatformFailure {
  readonly ok: false;
  readonly kind: 'rejected' | 'unavailable' | 'timeout';
  /** HTTP status, where there was one. */
  readonly status: number | null;
  readonly code: number | null;
  readonly subcode: number | null;
  /** WhatsApp's text, or a sentence of Herald's where there is none; never the access token. */
  readonly message: string;
  readonly traceId: string | null;
}

/** The result of an exchange other than a send. Total, like `classifyExchange`. */
export function toPlatformResult(exchange: Exchange, token: string): PlatformResult {
  if (exchange.kind === 'broken') {
    const message = exchange.timedOut
      ? `The platform did not answer in time (${exchange.code}).`
      : `The platform could not be reached (${exchange.code}).`;
    return failure(exchange.timedOut ? 'timeout' : 'unavailable', { message });
  }
  const { status, body: text } = exchange;
  const body = parseJson(text);
  if (status >= 200 && status < 300 && body !== undefined) return { ok: true, status, body };
  const error = readGraphError(body);
  if (error === null) {
    if (TOO_LARGE_STATUSES.has(status)) {
      const message = `The request is too large for the platform (HTTP ${status}); send shorter texts.`;
      return failure('rejected', { status, message });
    }
    return failure(status === 408 ? 'timeout' : 'unavailable', {
      status,
      message: `The platform answered HTTP ${status} without a readable body.`,
    });
  }
  const isRefusal =
    status >= 400 &&
    status < 500 &&
    status !== 408 &&
    (error.code === null || findPlatformError(error.code, error.subcode)?.action !== 'unknown');
  return failure(isRefusal ? 'rejected' : 'unavailable', {
    status,
    code: error.code,
    subcode: error.subcode,
    message:
      error.message === null
        ? `The platform answered HTTP ${status} without a reason.`
        : presentable(error.message, token),
    traceId: error.traceId,
  });
}

/** A failure with only the given facts. */
export function failure(
  kind: PlatformFailure['kind'],
  known: { message: string } & Partial<PlatformFailure>,
): PlatformFailure {
  return { status: null, code: null, subcode: null, traceId: null, ...known, ok: false, kind };
}

/** WhatsApp's limit of calls counts per hour. */
const LIMIT_RETRY_SECONDS = 60;

/**
 * The error for a caller of Herald when a call to WhatsApp failed: PLATFORM_TIMEOUT (504), PLATFORM_UNAVAILABLE (502),
 * RATE_LIMITED (429) where WhatsApp accepts no more calls for now, PLATFORM_REJECTED (400).
 */
export function platformError(failure: PlatformFailure): AppError {
  if (failure.kind === 'timeout') return commonErrors.PLATFORM_TIMEOUT(undefined, { internal: failure.message });
  if (failure.kind === 'unavailable')
    return commonErrors.PLATFORM_UNAVAILABLE(undefined, { internal: failure.message });
  const { code, subcode, message, traceId } = failure;
  if (isCallLimit(failure)) {
    return new AppError({
      kind: 'rate_limited',
      code: 'RATE_LIMITED',
      message: `The messaging platform takes no more calls for this account now; try again in ${LIMIT_RETRY_SECONDS} s.`,
      extra: { retry_after_seconds: LIMIT_RETRY_SECONDS, platform: { code, subcode, message, trace_id: traceId } },
      headers: { 'Retry-After': String(LIMIT_RETRY_SECONDS) },
    });
  }
  return commonErrors.PLATFORM_REJECTED({ code, subcode, message, traceId });
}

/** WhatsApp no longer accepts the token (code 190; 0 where it can't identify its owner): a new one is needed. */
export function isTokenRefused({ code }: Pick<PlatformFailure, 'code'>): boolean {
  return code === 190 || code === 0;
}

function isCallLimit({ code, subcode }: PlatformFailure): boolean {
  return code !== null && findPlatformError(code, subcode)?.category === 'rate_limited';
}
