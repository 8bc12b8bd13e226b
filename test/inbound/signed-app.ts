import type { ConnectionRow } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { bytesOf, envelope, secondsNow, WEBHOOK } from './fixture.js';

/** The most bytes of a notification. */
export const LIMIT = 3 * 1_024 * 1_024;

/** An application that takes two app secrets, and a connection of it. */
export async function startSignedApp(): Promise<{ test: TestApp; connection: ConnectionRow }> {
  const test = await startTestApp({
    roles: ['api'],
    env: { WHATSAPP_APP_SECRET: 'new-secret,old-secret', WHATSAPP_VERIFY_TOKEN: 'the-verify-token' },
  });
  const workspace = await test.factories.workspace();
  return { test, connection: await test.factories.connection({ organizationId: workspace.id }) };
}

export function textBody(connection: ConnectionRow, marker: string, text = 'oi'): Buffer {
  const message = {
    from: '15550001234',
    id: marker,
    timestamp: String(secondsNow()),
    type: 'text',
    text: { body: text },
  };
  return bytesOf(envelope(connection, { messages: [message] }));
}

/** Another process with its database, which takes addresses from a proxy and few invalid signatures of each. */
export function startBehindProxy(test: TestApp): Promise<TestApp> {
  return startTestApp({
    roles: ['api'],
    shareWith: test,
    env: {
      WHATSAPP_APP_SECRET: 'new-secret',
      WHATSAPP_VERIFY_TOKEN: 'the-verify-token',
      TRUST_PROXY: '1',
      AUTH_FAILURES_PER_MINUTE: '5',
    },
  });
}

export async function statusFrom(test: TestApp, address: string, body: Buffer, signature: string): Promise<number> {
  const headers = { 'x-hub-signature-256': signature, 'x-forwarded-for': address };
  const answer = await fetch(`${test.baseUrl}${WEBHOOK}`, { method: 'POST', headers, body: new Uint8Array(body) });
  await answer.arrayBuffer();
  return answer.status;
}
