import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../common/describe-error.js';
import { apiFault } from './api-fault.js';

export interface ApiAnswer<T> {
  status: number;
  body: T;
  headers: Headers;
}

export interface ApiRequest {
  query?: Record<string, string | undefined>;
  headers?: Record<string, string>;
  /** Sent as JSON, or as a form where it is one. */
  body?: object;
}

const TIMEOUT_MS = 30_000;
/** Of answers 429; each is waited out as it says. */
const RATE_LIMIT_TRIES = 5;

/** The API as one of its callers sees it. */
export class ApiClient {
  constructor(
    /** Of the service, without a trailing slash. */
    readonly url: string,
    private readonly key: string,
    private readonly signal?: AbortSignal,
  ) {}

  /** The same service with another key. */
  as(key: string): ApiClient {
    return new ApiClient(this.url, key, this.signal);
  }

  async get<T>(path: string, query?: ApiRequest['query']): Promise<T> {
    return (await this.call<T>('GET', path, { query })).body;
  }

  async post<T>(path: string, body: object, headers?: Record<string, string>): Promise<T> {
    return (await this.call<T>('POST', path, { body, headers })).body;
  }

  /**
   * One call of `/api/v1`. Waits where the rate limit asks for it.
   *
   * @throws ApiFault for every answer but 2xx, Error saying what to do where nobody answers.
   */
  async call<T>(method: string, path: string, request: ApiRequest = {}): Promise<ApiAnswer<T>> {
    for (let tries = 1; ; tries++) {
      const response = await this.send(method, path, request);
      const body = await readJson(response);
      if (response.ok) return { status: response.status, body: body as T, headers: response.headers };
      const wait = Number(response.headers.get('retry-after') ?? 'none');
      const limited = response.status === 429 && wait <= 5 && apiFault(429, body).code === 'RATE_LIMITED';
      if (!limited || tries >= RATE_LIMIT_TRIES) throw apiFault(response.status, body);
      await sleep(wait * 1_000, undefined, { signal: this.signal });
    }
  }

  private async send(method: string, path: string, { query, headers, body }: ApiRequest): Promise<Response> {
    const url = new URL(`${this.url}/api/v1${path}`);
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    const isForm = body instanceof FormData;
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      return await fetch(url, {
        method,
        headers: {
          authorization: `Bearer ${this.key}`,
          ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
        signal: this.signal === undefined ? timeout : AbortSignal.any([this.signal, timeout]),
      });
    } catch (error) {
      if (this.signal?.aborted === true) throw error;
      throw notAnswering(this.url, error);
    }
  }
}

/** Says how to come to a running service. */
export function notAnswering(url: string, error: unknown): Error {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const why = (cause as { code?: string }).code ?? describeError(cause);
  return new Error(
    `Herald does not answer at ${url} (${why}): start it with "npm start" in another terminal, or name it with --url`,
    { cause: error },
  );
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
