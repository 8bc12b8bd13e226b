import type { Answer } from '../http/answer.js';
import { jsonAnswer } from '../http/answer.js';
import type { Call } from '../http/call.js';
import { GraphError } from '../graph-error.js';
import type { SimulatorContext } from '../simulator-context.js';

/**
 * `GET` of a temporary address: 401 without a good token, or with another than the one it was made for; 404 once it, or
 * the file, is gone. The faults that were asked for strike here.
 */
export function downloadMedia(context: SimulatorContext, call: Call): Answer {
  const { faults, media, mediaAddresses, tokens } = context;
  let token: string;
  try {
    token = tokens.check(call.request, call.search);
  } catch (error) {
    if (error instanceof GraphError) return { status: 401, body: null };
    throw error;
  }
  const address = mediaAddresses.read(call.query, token);
  if (address === 'foreign') return { status: 401, body: null };
  if (address === 'void') return notFound();
  const file = media.get(address.id);
  if (file === undefined || address.madeAt < (file.addressesFrom ?? 0)) return notFound();
  let cutAfterBytes: number | undefined;
  if (faults.downloadFailures > 0) {
    faults.downloadFailures--;
    if (faults.downloadFailure === 'not_found') return notFound();
    if (faults.downloadFailure === 'server_error') return { status: 500, body: null };
    cutAfterBytes = Math.floor(file.sizeBytes / 2);
  }
  const wrong = cutAfterBytes === undefined && faults.downloadWrongBytes > 0;
  if (wrong) faults.downloadWrongBytes--;
  return {
    status: 200,
    body: null,
    // A type is whatever somebody said it is; a header can't carry all of that.
    contentType: file.mimeType.replaceAll(/[^\x20-\x7e]/g, '?'),
    delayMs: faults.downloadLatencyMs,
    file: {
      path: media.pathOf(file.id),
      sizeBytes: file.sizeBytes,
      cutAfterBytes,
      spoilLastByte: wrong,
      bytesPerSecond: faults.downloadBytesPerSecond,
    },
  };
}

function notFound(): Answer {
  return jsonAnswer({ error: { message: 'The address has expired, or the file is gone.' } }, 404);
}
