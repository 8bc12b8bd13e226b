import { findPlatformError } from './error-table.js';
import type { Exchange } from './exchange.js';
import { presentable, readGraphError } from './graph-error.js';
import { parseJson } from './json-access.js';

/** What came of a call other than a send. */
export type PlatformResult<T = unknown> =
  { readonly ok: true; readonly status: number; readonly body: T } | PlatformFailure;

/**
 * `rejected`: the platform refused it in so many words. `timeout`: it was sent and no answer came in time, so it may
 * have taken effect. `unavailable`: the platform was not reached, broke off, or answered nothing that can be read.
 */
export interface PlatformFailure {
  readonly ok: false;
  readonly kind: 'rejected' | 'unavailable' | 'timeout';
  /** HTTP status, where there was one. */
  readonly status: number | null;
  readonly code: number | null;
  readonly subcode: number | null;
  /** The platform's words, or one sentence of ours where it said none; never the access token. */
  readonly message: string;
  readonly traceId: string | null;
}

/** Says what an exchange other than a send has come to. Total, as `classifyExchange`. */
export function toPlatformResult(exchange: Exchange, token: string): PlatformResult {
  if (exchange.kind === 'broken') {
    const message = exchange.timedOut
      ? `The platform did not answer in time (${exchange.code}).`
      : `The platform could not be reached (${exchange.code}).`;
    return failure(exchange.timedOut ? 'timeout' : 'unavailable', { message });
  }
  const { status, body: text } = exchange;
  const body = parseJson(text);
  if (status >= 200 && status < 300 && body !== undefined) {
    return { ok: true, status, body };
  }
  const error = readGraphError(body);
  if (error === null) {
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

/** A failure with nothing known but what is given. */
export function failure(
  kind: PlatformFailure['kind'],
  known: { message: string } & Partial<PlatformFailure>,
): PlatformFailure {
  return { status: null, code: null, subcode: null, traceId: null, ...known, ok: false, kind };
}
