import { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { findPlatformError } from './error-table.js';
import type { PlatformFailure } from './platform-result.js';

/** The platform counts its calls by the hour. */
const LIMIT_RETRY_SECONDS = 60;

/**
 * What a caller of Herald is told of a call to the platform that failed: PLATFORM_TIMEOUT (504), PLATFORM_UNAVAILABLE
 * (502), RATE_LIMITED (429) where the platform takes no more calls for now, PLATFORM_REJECTED (400).
 */
export function platformFault(failure: PlatformFailure): AppError {
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

/** The token is no longer taken (code 190; 0 where the platform can't tell whose it is): a new one must be given. */
export function isTokenRefused({ code }: Pick<PlatformFailure, 'code'>): boolean {
  return code === 190 || code === 0;
}

function isCallLimit({ code, subcode }: PlatformFailure): boolean {
  return code !== null && findPlatformError(code, subcode)?.category === 'rate_limited';
}
