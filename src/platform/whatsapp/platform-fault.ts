import type { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { findPlatformError } from './error-table.js';
import type { PlatformFailure } from './platform-result.js';

/**
 * What a caller of Herald is told of a call to the platform that failed: PLATFORM_TIMEOUT (504), PLATFORM_UNAVAILABLE
 * (502; also where the platform limits our calls, since the caller's request was in order), PLATFORM_REJECTED (400).
 */
export function platformFault(failure: PlatformFailure): AppError {
  if (failure.kind === 'timeout') return commonErrors.PLATFORM_TIMEOUT(undefined, { internal: failure.message });
  if (failure.kind === 'unavailable' || isCallLimit(failure)) {
    return commonErrors.PLATFORM_UNAVAILABLE(undefined, { internal: failure.message });
  }
  const { code, subcode, message, traceId } = failure;
  return commonErrors.PLATFORM_REJECTED({ code, subcode, message, traceId });
}

/** The token is no longer taken (code 190; 0 where the platform can't tell whose it is): a new one must be given. */
export function isTokenRefused({ code }: Pick<PlatformFailure, 'code'>): boolean {
  return code === 190 || code === 0;
}

function isCallLimit({ code, subcode }: PlatformFailure): boolean {
  return code !== null && findPlatformError(code, subcode)?.category === 'rate_limited';
}
