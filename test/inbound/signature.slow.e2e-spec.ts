import { connect, type Socket } from 'node:net';
import { newId } from '../../src/common/ids.js';
import { signBody } from '../../src/infrastructure/whatsapp/webhook-signature.js';
import type { ConnectionRow } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { bytesOf, envelope, secondsNow, WEBHOOK } from './fixture.js';

const LIMIT = 3 * 1_024 * 1_024;

let test: TestApp;
let connection: ConnectionRow;

beforeAll(async () => {
  test = await startTestApp({
    roles: ['api'],
    env: { WHATSAPP_APP_SECRET: 'new-secret,old-secret', WHATSAPP_VERIFY_TOKEN: 'the-verify-token' },
  });
  const workspace = await test.factories.workspace();
  connection = await test.factories.connection({ organizationId: workspace.id });
});

afterAll(() => test.stop());

function textBody(marker: string, text = 'oi'): Buffer {
  const message = {
    from: '15550001234',
    id: marker,
    timestamp: String(secondsNow()),
    type: 'text',
    text: { body: text },
  };
  return bytesOf(envelope(connection, { messages: [message] }));
}

describe('addresses behind a trusted proxy', () => {
  let guarded: TestApp;

  beforeAll(async () => {
    guarded = await startTestApp({
      roles: ['api'],
      shareWith: test,
      env: {
        WHATSAPP_APP_SECRET: 'new-secret',
        WHATSAPP_VERIFY_TOKEN: 'the-verify-token',
        TRUST_PROXY: '1',
        AUTH_FAILURES_PER_MINUTE: '5',
      },
    });
  });
  afterAll(() => guarded.stop());

  const statusFrom = async (address: string, body: Buffer, signature: string): Promise<number> => {
    const headers = { 'x-hub-signature-256': signature, 'x-forwarded-for': address };
    const answer = await fetch(`${guarded.baseUrl}${WEBHOOK}`, { method: 'POST', headers, body: new Uint8Array(body) });
    await answer.arrayBuffer();
    return answer.status;
  };

  /** As much of a body of 3 MiB as a stranger sends before he stops. */
  function unfinished(address: string): Socket {
    const socket = connect(Number(new URL(guarded.baseUrl).port), '127.0.0.1');
    socket.on('error', () => undefined).resume();
    socket.write(
      `POST ${WEBHOOK} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n` +
        `X-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\nContent-Length: ${LIMIT}\r\n\r\n`,
    );
    socket.write(Buffer.alloc(LIMIT - 1));
    return socket;
  }

  it('with unfinished bodies block neither each other nor the platform', async () => {
    const body = textBody(`wamid.${newId()}`, 'x'.repeat(100_000));
    const sockets = Array.from({ length: 40 }, (_, index) => unfinished(`203.0.113.${index % 2}`));
    try {
      const proven = textBody(`wamid.${newId()}`);
      expect(await statusFrom('198.51.100.9', proven, signBody(proven, 'new-secret'))).toBe(200);
      for (let n = 0; n < 20; n++) {
        expect(await statusFrom('198.51.100.9', body, signBody(body, 'new-secret'))).toBe(200);
      }
      // Each is cut off, long before a body's whole time is over.
      await waitFor(() => sockets.every((socket) => socket.closed), {
        what: 'the strangers cut off',
      });
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
