import { randomUUID } from 'node:crypto';
import type { Receiver } from '../faults/webhook-receiver.js';
import type { TestApp, TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { startWebhookApp } from '../webhook/fixture.js';

/** Must be in no span. */
export const TEXT = 'Nothing of this stands in a trace';
const ALL_ROLES = { roles: ['api', 'worker', 'simulator'] } as const;

/** An application whose messages go to the simulator, and a workspace with a webhook. */
export interface Stage {
  test: TestApp;
  sender: TestSender;
}

export async function stageOf(env: Record<string, string>, receiver: Receiver): Promise<Stage> {
  const test = await startWebhookApp({ ...ALL_ROLES, env });
  const sender = await test.sender();
  await sender.api.request({ method: 'PUT', path: '/webhook', body: { url: receiver.url() } });
  return { test, sender };
}

export async function send({ sender }: Stage, phone: string, headers: Record<string, string> = {}): Promise<string> {
  const { status, body } = await sender.api.post(
    '/messages',
    { connection_id: sender.connection.id, to: phone, type: 'text', text: { body: TEXT } },
    { headers: { 'idempotency-key': randomUUID(), ...headers } },
  );
  expect(status).toBe(202);
  return (body.data as { id: string }).id;
}

export const deliveriesOf = (receiver: Receiver, id: string) =>
  receiver.received.filter(
    ({ body }) => body.includes(`"message_id":"${id}"`) || body.includes(`"message_id": "${id}"`),
  );

/** Each state of a sent message has its event. */
export const STATES = 4;

export async function untilRead(receiver: Receiver, id: string): Promise<void> {
  await waitFor(() => deliveriesOf(receiver, id).length === STATES, { what: 'an event of each state' });
}
