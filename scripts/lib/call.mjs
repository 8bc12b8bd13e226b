import { randomUUID } from 'node:crypto';

/** One call of an API, with an idempotency key of its own. Returns the answer's JSON. @throws Error for every answer but 2xx */
export async function call(url, { key, ...init } = {}) {
  const headers = {
    'idempotency-key': randomUUID(),
    'content-type': 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  const response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(10_000) });
  const body = await response.json();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${JSON.stringify(body)}`);
  return body;
}
