import { HeraldConnectionError, secondsIn } from './errors.js';
import { pause } from './pages.js';

export interface RetryOptions {
  /** Tries in all. Default: 4; 1 never repeats. */
  maxAttempts: number;
  /** Longest pause before a further try, in milliseconds; where Herald asks for more, the error is yours at once. */
  maxPauseMs: number;
  /** For one try, in milliseconds. */
  timeoutMs: number;
}

/** Each message of the body has its key, or nothing is sent. */
const KEYED_BODY = /\/messages\/(batch|check)$/;
const FIRST_PAUSE_MS = 200;

/** A `fetch` that repeats what may be repeated: see `mayRepeat`. */
export function retryingFetch(fetcher: typeof fetch, options: RetryOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    for (let attempt = 1; ; attempt++) {
      const outcome = await once(fetcher, request, options.timeoutMs);
      const pauseMs =
        attempt < options.maxAttempts && mayRepeat(request, outcome)
          ? pauseBefore(outcome, attempt, options.maxPauseMs)
          : null;
      if (pauseMs === null || pauseMs > options.maxPauseMs) {
        if (outcome instanceof Error) throw outcome;
        return outcome;
      }
      // An unread body would keep its connection.
      if (!(outcome instanceof Error)) await outcome.body?.cancel();
      await pause(pauseMs, request.signal);
    }
  };
}

/** Never rejects: an error is that no answer came. */
async function once(fetcher: typeof fetch, request: Request, timeoutMs: number): Promise<Response | Error> {
  try {
    return await fetcher(request.clone(), {
      signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]),
    });
  } catch (cause) {
    // A caller that aborts wants no further attempt, and its own reason back.
    if (request.signal.aborted) throw cause;
    return new HeraldConnectionError(`no answer from ${request.method} ${request.url}`, { cause });
  }
}

/**
 * 429 was not taken, so anything may be sent again. After 503 and without an answer the outcome is unknown: reads and
 * PUT do no harm twice, and an Idempotency-Key, or one of each message of a batch, makes the second the same as the first;
 * nothing else is repeated.
 */
function mayRepeat(request: Request, outcome: Response | Error): boolean {
  if (outcome instanceof Response && outcome.status !== 503) return outcome.status === 429;
  return (
    ['GET', 'HEAD', 'PUT'].includes(request.method) ||
    request.headers.has('idempotency-key') ||
    KEYED_BODY.test(new URL(request.url).pathname)
  );
}

/** What Herald asks for, else twice as long each time with up to half of it at random, so that callers spread. */
function pauseBefore(outcome: Response | Error, attempt: number, maxPauseMs: number): number {
  const asked = outcome instanceof Error ? null : secondsIn(outcome.headers.get('retry-after'));
  if (asked !== null) return asked * 1_000;
  return Math.min(maxPauseMs, FIRST_PAUSE_MS * 2 ** (attempt - 1) * (1 + Math.random() / 2));
}
