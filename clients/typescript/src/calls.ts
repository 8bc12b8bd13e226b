import { errorOf } from './errors.js';
import { OwnWrites } from './own-writes.js';
import { retryingFetch, type RetryOptions } from './retrying-fetch.js';

/** What the clients of both APIs have in common. */

const MOST_WAIT_SECONDS = 20;

export interface Keyed {
  /** Repeat it when you repeat the call; without it a new one is made, which covers the repeats of this client only. */
  idempotencyKey?: string;
}

interface Result<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** Repeats what may be repeated, and reads what this client has written. */
export function fetcherOf(
  fetcher: typeof fetch,
  { maxAttempts = 4, maxPauseMs = 10_000, timeoutMs = 15_000 }: Partial<RetryOptions>,
): (request: Request) => Promise<Response> {
  const call = retryingFetch(fetcher, { maxAttempts, maxPauseMs, timeoutMs });
  const ownWrites = new OwnWrites();
  return async (request) => {
    ownWrites.sending(request);
    const response = await call(request);
    ownWrites.answered(response);
    return response;
  };
}

/** That GET /events is asked to wait for one event, below what one try may take. */
export function waitSecondsOf({ timeoutMs = 15_000 }: Partial<RetryOptions>): number {
  return Math.min(MOST_WAIT_SECONDS, Math.max(0, Math.floor(timeoutMs / 1_000) - 5));
}

/** What is missing is mostly an environment variable, which the first call would only show as 401 or as a lost network. */
export function requireOptions(baseUrl: string | undefined, keys: Readonly<Record<string, string | undefined>>): void {
  if (!URL.canParse(baseUrl ?? '') || !/^https?:/.test(baseUrl ?? '')) {
    const given = baseUrl === undefined || baseUrl === '' ? 'missing' : `no address: ${baseUrl}`;
    throw new TypeError(`baseUrl is ${given}. Give the address of Herald, such as https://herald.example.com.`);
  }
  for (const [name, key] of Object.entries(keys)) {
    if (typeof key === 'string' && key.trim() !== '') continue;
    const form = name === 'apiKey' ? 'hrld_live_...' : 'hrld_admin_...';
    throw new TypeError(`${name} is missing. Give a key (${form}); is the environment variable set?`);
  }
}

/** Made once for all tries of one call. */
export function keyed(idempotencyKey: string = crypto.randomUUID()): { 'Idempotency-Key': string } {
  return { 'Idempotency-Key': idempotencyKey };
}

export function check({ error, response }: Result<unknown>): void {
  if (!response.ok) throw errorOf(response, error);
}

export function answerOf<Answer>(result: Result<Answer>): Answer {
  check(result);
  if (result.data === undefined) throw errorOf(result.response, null);
  return result.data;
}

export function dataOf<Data>(result: Result<{ data: Data }>): Data {
  return answerOf(result).data;
}
