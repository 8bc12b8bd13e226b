export interface ApiRequest {
  method?: string;
  /** Beginning with `/`; without `/api` it is taken to be below `/api/v1`. */
  path: string;
  /** Sent as JSON, unless it is text or bytes, which are sent as they are. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Another key than the client's; null sends none. */
  key?: string | null;
  /** Default 20,000. */
  timeoutMs?: number;
}

export interface ApiResponse<B = ApiBody> {
  status: number;
  headers: Headers;
  /** Parsed where it is JSON; text otherwise; null where it is empty. */
  body: B;
}

/** The envelope of every answer below `/api`, loose enough for tests to look into. */
export interface ApiBody {
  // Tests state what they expect of an answer; its type is what is under test.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any;
  error: {
    code: string;
    message: string;
    request_id: string;
    details?: { field: string; rule: string; message: string }[];
  } & Record<string, unknown>;
  pagination: { next_before: string | null; next_before_id: string | null };
}

/** Calls the API as an integrator does, over HTTP. Never throws for a status. */
export class ApiClient {
  constructor(
    readonly baseUrl: string,
    private readonly key: string | null = null,
  ) {}

  as(key: string | null): ApiClient {
    return new ApiClient(this.baseUrl, key);
  }

  async request<B = ApiBody>(request: ApiRequest): Promise<ApiResponse<B>> {
    const { method = 'GET', path, body, headers = {}, key = this.key, timeoutMs = 60_000 } = request;
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(this.urlOf(path), {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : raw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: response.status, headers: response.headers, body: (await contentOf(response)) as B };
  }

  get<B = ApiBody>(path: string, options: Omit<ApiRequest, 'path' | 'method'> = {}): Promise<ApiResponse<B>> {
    return this.request<B>({ ...options, path });
  }

  post<B = ApiBody>(
    path: string,
    body?: unknown,
    options: Omit<ApiRequest, 'path' | 'method' | 'body'> = {},
  ): Promise<ApiResponse<B>> {
    return this.request<B>({ ...options, method: 'POST', path, body });
  }

  private urlOf(path: string): string {
    const isOfApi =
      !/^\/(api|auth|setup|health|metrics|docs|openapi|postman|platform|mcp|graph|v\d+\.\d|media\/[^/]+\/content)(\/|\.|$|\?)/.test(
        path,
      );
    return `${this.baseUrl}${isOfApi ? '/api/v1' : ''}${path}`;
  }
}

async function contentOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return null;
  return /\bjson\b/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text;
}
