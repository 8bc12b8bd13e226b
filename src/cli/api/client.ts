import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../common/describe-error.js';
import { type DemoFile, readDemoFile } from '../../bootstrap/demo-file.js';
import { loadClientConfig } from '../../infrastructure/config/load-config.js';
import { CLIENT_SETTINGS } from '../../infrastructure/config/settings.js';
import { secretArgument } from '../arguments.js';

/** An answer of the API that is no success, in its own words. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** What is beside code and message in the answer. */
    readonly extra: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

interface ErrorBody {
  error?: { code?: string; message?: string; details?: { field: string; message: string }[] } & Record<string, unknown>;
}

/** Names the invalid fields too: the API lists them beside its message. */
export function apiError(status: number, body: unknown): ApiError {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as ErrorBody;
  if (error?.code === undefined) {
    return new ApiError(status, 'UNEXPECTED_ANSWER', `the answer was ${status}: is this address a Herald?`);
  }
  const { code, message = '', ...extra } = error;
  return new ApiError(status, code, refusalText(message, error.details), extra);
}

/** Message and details, each text once: where one field is wrong, the message is that of its detail. */
export function refusalText(message: string, details: readonly { message: string }[] = []): string {
  return [...new Set([message, ...details.map((detail) => detail.message)])].join(' ');
}

/** What arrives of an answer that is declared as `T`: JSON has no dates. */
export type Wire<T> = T extends Date ? string : T extends object ? { [F in keyof T]: Wire<T[F]> } : T;

interface ApiRequest {
  query?: Record<string, string | number | undefined>;
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

  /** The console with this key in the fragment, which no browser sends and the page removes from the address. */
  consoleLink(consoleUrl: string): string {
    return `${consoleUrl}#${new URLSearchParams({ key: this.key }).toString()}`;
  }

  async get<T>(path: string, query?: ApiRequest['query']): Promise<Wire<T>> {
    return (await this.call<T>('GET', path, { query })).body;
  }

  async post<T>(path: string, body: object, headers?: Record<string, string>): Promise<Wire<T>> {
    return (await this.call<T>('POST', path, { body, headers })).body;
  }

  /**
   * One call of `/api/v1`. Waits where the rate limit asks for it.
   *
   * @throws ApiError for every answer but 2xx, Error saying what to do where no service answers.
   */
  async call<T>(method: string, path: string, request: ApiRequest = {}) {
    for (let tries = 1; ; tries++) {
      const response = await this.send(method, path, request);
      const body = await readJson(response);
      if (response.ok) return { body: body as Wire<T>, headers: response.headers };
      const wait = Number(response.headers.get('retry-after') ?? 'none');
      const limited = response.status === 429 && wait <= 5 && apiError(429, body).code === 'RATE_LIMITED';
      if (!limited || tries >= RATE_LIMIT_TRIES) throw apiError(response.status, body);
      await sleep(wait * 1_000, undefined, { signal: this.signal });
    }
  }

  private async send(method: string, path: string, { query, headers, body }: ApiRequest): Promise<Response> {
    const url = new URL(`${this.url}/api/v1${path}`);
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return request(this.url, url, {
      method,
      headers: { authorization: `Bearer ${this.key}`, ...headers },
      body,
      signal: this.signal,
    });
  }
}

/** An answer, whatever its status; where none comes, an error that says how to come to a running service. */
export async function request(
  base: string,
  url: URL | string,
  { method, headers, body, signal }: ApiRequest & { method: string; signal?: AbortSignal | undefined },
): Promise<Response> {
  const isForm = body instanceof FormData;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await fetch(url, {
      method,
      headers: { ...(body !== undefined && !isForm && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const why = (cause as { code?: string }).code ?? describeError(cause);
    throw new Error(
      `Herald does not answer at ${base} (${why}): start it with "npm start" in another terminal, or name it with --url`,
      { cause: error },
    );
  }
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Options of every command that calls the API. */
export interface TargetOptions {
  url?: string;
  key?: string;
}

export interface Target {
  api: ApiClient;
  /** The demo workspace's facts where its key is used; else empty. */
  demo: Partial<DemoFile>;
}

/** As HERALD_URL is read. */
export function addressOf(option: string | undefined): string | null {
  if (option === undefined) return null;
  try {
    return CLIENT_SETTINGS.url.read(option, { production: false });
  } catch (error) {
    throw new Error(`--url ${describeError(error)}`, { cause: error });
  }
}

/**
 * Where to call, and as whom: options first, then settings, then the demo's file. The demo's key goes to the demo's
 * address only.
 *
 * @throws Error saying how to name a key where there is none.
 */
export async function targetOf({ url, key }: TargetOptions, signal?: AbortSignal): Promise<Target> {
  const config = loadClientConfig();
  const demo = readDemoFile(config.dataDir);
  const base = addressOf(url) ?? config.url ?? demo.base_url ?? `http://127.0.0.1:${config.port}`;
  const given = key === undefined ? config.apiKey : await secretArgument(key);
  if (given !== null) {
    const isDemo = given === demo.api_key && base === demo.base_url;
    return { api: new ApiClient(base, given, signal), demo: isDemo ? demo : {} };
  }
  if (demo.api_key !== undefined && base === demo.base_url) {
    return { api: new ApiClient(base, demo.api_key, signal), demo };
  }
  throw new Error(
    demo.api_key === undefined
      ? 'no API key: give --key or HERALD_API_KEY (herald key create makes one), or start the demo with "npm start"'
      : `no API key for ${base}: give --key or HERALD_API_KEY; the demo's is good for ${demo.base_url} only`,
  );
}
