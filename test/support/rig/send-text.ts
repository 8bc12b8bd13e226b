import { randomUUID } from 'node:crypto';
import type { HeraldProcess } from './herald.js';
import { recipientNumber } from './recipients.js';
import type { SeededWorkspace } from './workspace.js';

const REQUEST_MS = 30_000;

/**
 * Posts to the API with a key of its own.
 *
 * @returns the id of what was accepted, and when its 202 was there: milliseconds since the epoch
 * @throws Error where it is not accepted
 */
export async function post(
  url: string,
  apiKey: string,
  body: object,
  timeoutMs = REQUEST_MS,
): Promise<{ id: string; answeredAt: number }> {
  const response = await fetch(url, {
    method: 'POST',
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify(body),
  });
  const answeredAt = Date.now();
  const text = await response.text();
  if (response.status !== 202) throw new Error(`Herald answered ${response.status}: ${text}`);
  return { id: (JSON.parse(text) as { data: { id: string } }).data.id, answeredAt };
}

/**
 * Sends one text from the workspace's first number through the API.
 *
 * @param recipient as `recipientNumber` counts them
 */
export function sendText(api: HeraldProcess, { apiKey, connections }: SeededWorkspace, recipient: number) {
  const text = { body: 'Hello, your order 4711 is on its way.' };
  const body = { connection_id: connections[0].id, to: `+${recipientNumber(recipient)}`, type: 'text', text };
  return post(`${api.url}/api/v1/messages`, apiKey, body);
}
