import { findPlatformError } from '../../../infrastructure/whatsapp/error-table.js';
import type { DownloadExchange } from '../../../infrastructure/whatsapp/media-http.js';
import type { PlatformFailure } from '../../../infrastructure/whatsapp/platform-result.js';

/**
 * Why a file was not fetched. `wait`: nothing is said against the file. `refused`: the platform has it not, or not so
 * as it said; some tries more. `failed`: it can't be had. `account`: the number or its token is the problem.
 */
export interface FetchFault {
  readonly kind: 'wait' | 'refused' | 'failed' | 'account';
  /** One sentence; never the token, never the file's address. */
  readonly failure: string;
}

/** What it means that the platform did not describe a file. */
export function faultOfDescription(answer: PlatformFailure): FetchFault {
  const { kind, code, subcode, message: failure } = answer;
  if (kind !== 'rejected') return { kind: 'wait', failure };
  const listed = code === null ? null : findPlatformError(code, subcode);
  if (listed?.action === 'pause_lane') return { kind: 'account', failure };
  // Without a status it was Herald who would not send the token.
  if (answer.status === null) return { kind: 'account', failure };
  const forNow = listed?.category === 'rate_limited' || listed?.category === 'platform_unavailable';
  return { kind: forNow ? 'wait' : 'refused', failure };
}

/** An address lives for five minutes: where it leads nowhere any more, another one may be asked for. */
export function isStaleAddress(exchange: DownloadExchange): boolean {
  return exchange.kind === 'refused' && [403, 404, 410].includes(exchange.status);
}

/** What it means that a file's bytes did not come; null where they did. */
export function faultOfDownload(exchange: DownloadExchange, maxBytes: number): FetchFault | null {
  switch (exchange.kind) {
    case 'downloaded':
      return null;
    case 'too_large':
      return { kind: 'failed', failure: `The file is larger than ${maxBytes} bytes.` };
    case 'address':
      return { kind: 'refused', failure: 'The platform named an address that is none of its own.' };
    case 'refused':
      return { kind: 'wait', failure: `The platform answered HTTP ${exchange.status} instead of the file.` };
    case 'broken':
      return { kind: 'wait', failure: `The file broke off on its way (${exchange.code}).` };
  }
}
