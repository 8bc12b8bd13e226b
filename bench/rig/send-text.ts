import { randomUUID } from 'node:crypto';
import type { HeraldProcess } from './herald.js';
import { recipientNumber } from './recipients.js';
import type { SeededWorkspace } from './workspace.js';

/**
 * Sends one text from the workspace's first number through the API.
 *
 * @param recipient as `recipientNumber` counts them
 * @returns the message's id, and when its 202 was there: milliseconds since the epoch
 * @throws Error where it is not accepted
 */
export async function sendText(
  api: HeraldProcess,
  { apiKey, connections }: SeededWorkspace,
  recipient: number,
): Promise<{ id: string; answeredAt: number }> {
  const response = await fetch(`${api.url}/api/v1/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({
      connection_id: connections[0]?.id,
      to: `+${recipientNumber(recipient)}`,
      type: 'text',
      text: { body: 'Hello, your order 4711 is on its way.' },
    }),
  });
  const answeredAt = Date.now();
  if (response.status !== 202) throw new Error(`Herald answered ${response.status}: ${await response.text()}`);
  return { id: ((await response.json()) as { data: { id: string } }).data.id, answeredAt };
}
