import createClient from 'openapi-fetch';
import type { components, paths } from '../../clients/typescript/src/schema.ts';
import { session, type KeyFacts } from './session.ts';

export type Schemas = components['schemas'];
export type MessageRow = Schemas['MessageListItem'];
export type Message = Schemas['MessageResponse'];

/** A refusal of the API, or none at all: then `status` is 0. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null,
    readonly docUrl: string | null,
    readonly details: Schemas['ErrorDetail'][] = [],
  ) {
    super(message);
  }
}

async function refusalOf(response: Response): Promise<ApiError> {
  try {
    const { error } = (await response.json()) as Schemas['ErrorResponse'];
    const docUrl = `/docs/errors#${encodeURIComponent(error.code)}`;
    return new ApiError(response.status, error.code, error.message, error.request_id, docUrl, error.details);
  } catch {
    return new ApiError(response.status, `HTTP_${response.status}`, 'The answer could not be read.', null, null);
  }
}

/** The answer that is a success; an ApiError for whatever is none. A key that is refused is signed out. */
export async function answered(key: string, call: Promise<Response>, signal: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await call;
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiError(0, 'NOT_REACHED', 'Herald does not answer. This page tries again by itself.', null, null);
  }
  if (response.ok) return response;
  const refusal = await refusalOf(response);
  if (refusal.status === 401) session.remove(key, 'The key is no longer valid: it was revoked or has expired.');
  throw refusal;
}

/** Every call of the console, with `key`. */
function fetchWith(key: string, request: Request): Promise<Response> {
  request.headers.set('Authorization', `Bearer ${key}`);
  return answered(key, fetch(request), request.signal);
}

export const api = createClient<paths>({
  baseUrl: window.location.origin,
  fetch: (request) => fetchWith(session.activeKey() ?? '', request),
});

/** The data of an answer that is a success; others have thrown. */
export async function dataOf<T>(call: Promise<{ data?: T }>): Promise<T> {
  const { data } = await call;
  if (data === undefined) throw new ApiError(0, 'EMPTY', 'The answer is empty.', null, null);
  return data;
}

/** @throws ApiError where the key is not valid */
export async function factsOf(key: string): Promise<KeyFacts> {
  const response = await fetchWith(key, new Request(`${window.location.origin}/api/v1/key`));
  return ((await response.json()) as { data: KeyFacts }).data;
}

/** The call as a command that runs in a shell; the key comes from its environment. */
export function curlOf(method: string, path: string, body?: unknown): string {
  const lines = [`curl -sS${method === 'GET' ? '' : ` -X ${method}`} '${window.location.origin}${path}'`];
  lines.push(`  -H "Authorization: Bearer $HERALD_API_KEY"`);
  if (method === 'POST') lines.push(`  -H "Idempotency-Key: $(uuidgen)"`);
  if (body === undefined) return lines.join(' \\\n');
  lines.push(`  -H 'Content-Type: application/json'`, `  --data-binary @- <<'JSON'`);
  return `${lines.join(' \\\n')}\n${JSON.stringify(body, null, 2)}\nJSON`;
}
