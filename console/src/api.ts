import createClient from 'openapi-fetch';
import type { components as AdminComponents, paths as AdminPaths } from '../../clients/typescript/src/admin-schema.ts';
import { OwnWrites } from '../../clients/typescript/src/own-writes.ts';
import type { components, paths } from '../../clients/typescript/src/schema.ts';
import { isOfSession, type KeyFacts, OPERATOR_SESSION, session, workspaceOfKey } from './session.ts';

export type Schemas = components['schemas'];
export type AdminSchemas = AdminComponents['schemas'];
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
export async function answered(
  key: string,
  call: Promise<Response>,
  { signal, method }: Pick<Request, 'signal' | 'method'>,
): Promise<Response> {
  let response: Response;
  try {
    response = await call;
  } catch (error) {
    if (signal.aborted && !isTimeout(signal.reason)) throw error;
    throw notReached(method === 'GET' ? '. This page tries again by itself.' : '. Try again in a moment.');
  }
  if (response.ok) return response;
  const refusal = await refusalOf(response);
  // The page was left while its body came: another answer has said what is wrong.
  if (signal.aborted && !isTimeout(signal.reason)) throw signal.reason;
  if (refusal.status === 401 && isOfSession(key)) session.removePerson(refusal.message);
  else if (refusal.status === 401) session.remove(key, 'The key is no longer valid: it was revoked or has expired.');
  else if (refusal.code === 'SESSION_WORKSPACE_UNKNOWN') session.remove(key, refusal.message);
  throw refusal;
}

const isTimeout = (reason: unknown): boolean => reason instanceof DOMException && reason.name === 'TimeoutError';

/** The service, or what it needs, does not answer: the same call may succeed later. */
export const isAway = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 500);

const notReached = (rest: string): ApiError =>
  new ApiError(0, 'NOT_REACHED', `Herald does not answer${rest}`, null, null);

/** What a form says whose message is sent again with the same Idempotency-Key. */
export function sendFailure(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.status !== 0) return error;
  return notReached(', so it is not known whether it took the message. Send it again: it is not sent twice.');
}

/** What says who calls: a key, or that the cookie of a session is sent by this page, for a workspace. */
export function credentials(key: string): Record<string, string> {
  if (!isOfSession(key)) return { Authorization: `Bearer ${key}` };
  const workspace = workspaceOfKey(key);
  return { 'X-Herald-Console': '1', ...(workspace !== null && { 'X-Herald-Workspace': workspace }) };
}

/** Of all keys: they are of one database. */
const ownWrites = new OwnWrites();

/** Every call of the console, with `key`. */
async function fetchWith(key: string, request: Request): Promise<Response> {
  for (const [name, value] of Object.entries(credentials(key))) request.headers.set(name, value);
  ownWrites.sending(request);
  const response = await answered(key, fetch(request), request);
  ownWrites.answered(response);
  return response;
}

export const api = createClient<paths>({
  baseUrl: window.location.origin,
  fetch: (request) => fetchWith(session.activeKey() ?? '', request),
});

/** The admin API, for operators. */
export const admin = createClient<AdminPaths>({
  baseUrl: window.location.origin,
  fetch: (request) => fetchWith(session.activeKey() ?? '', request),
});

/** The data of an answer that is a success; others have thrown. */
export async function dataOf<T>(call: Promise<{ data?: T }>): Promise<T> {
  const { data } = await call;
  if (data === undefined) throw new ApiError(0, 'EMPTY', 'The answer is empty.', null, null);
  return data;
}

const FACTS_MS = 20_000;

/** @throws ApiError where the key is not valid, and where the service is away */
export async function factsOf(key: string): Promise<KeyFacts> {
  const isOfAdmin = key === OPERATOR_SESSION || key.startsWith('hrld_admin_');
  const path = isOfAdmin ? '/api/admin/v1/key' : '/api/v1/key';
  const signal = AbortSignal.timeout(FACTS_MS);
  const response = await fetchWith(key, new Request(`${window.location.origin}${path}`, { signal }));
  const { data } = (await response.json()) as { data: KeyFacts };
  if (isOfAdmin) return operatorFacts(data as unknown as AdminSchemas['OperatorKeyResponse']);
  // Scopes of both APIs have the same names: those of the admin API are told apart.
  const managed = data.person?.admin_scopes.map((scope) => `manage:${scope}`) ?? [];
  return { ...data, scopes: [...data.scopes, ...managed] };
}

function operatorFacts({ name, scopes, expires_at, version }: AdminSchemas['OperatorKeyResponse']): KeyFacts {
  return {
    workspace: { id: '', name: 'Operator' },
    name,
    scopes: scopes.map((scope) => `operator:${scope}`),
    mode: 'live',
    otp_project: null,
    expires_at,
    person: null,
    version,
  };
}

/** The variable with the key, by the names that the demo's file sets. Where it is empty, the shell says so and calls nothing. */
function keyOfShell(path: string): string {
  const { keys, active } = session.get();
  const facts = keys[active]?.facts;
  const [name, what] = path.startsWith('/api/admin/')
    ? ['HERALD_OPERATOR_KEY', 'operator key']
    : facts?.otp_project
      ? ['HERALD_OTP_KEY', 'OTP key']
      : ['HERALD_API_KEY', 'API key'];
  const demo = ['localhost', '127.0.0.1'].includes(window.location.hostname) ? '; in the demo: . .data/demo.sh' : '';
  return `\${${name}:?set it to your ${what}${demo}}`;
}

/** The call as a command that runs in a shell; the key comes from its environment. */
export function curlOf(method: string, path: string, body?: unknown): string {
  const lines = [`curl -sS${method === 'GET' ? '' : ` -X ${method}`} '${window.location.origin}${path}'`];
  lines.push(`  -H "Authorization: Bearer ${keyOfShell(path)}"`);
  if (method === 'POST') lines.push(`  -H 'Idempotency-Key: ${crypto.randomUUID()}'`);
  if (body === undefined) return lines.join(' \\\n');
  lines.push(`  -H 'Content-Type: application/json'`, `  --data-binary @- <<'JSON'`);
  return `${lines.join(' \\\n')}\n${JSON.stringify(body, null, 2)}\nJSON`;
}
