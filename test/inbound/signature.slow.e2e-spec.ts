import { connect, type Socket } from 'node:net';
import { newId } from '../../src/common/ids.js';
import { signBody } from '../../src/infrastructure/whatsapp/webhook-signature.js';
import type { ConnectionRow } from '../support/factories.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { WEBHOOK } from './fixture.js';
import { LIMIT, startBehindProxy, startSignedApp, statusFrom, textBody } from './signed-app.js';

let test: TestApp;
let connection: ConnectionRow;

beforeAll(async () => {
  ({ test, connection } = await startSignedApp());
});

afterAll(() => test?.stop());

describe('addresses behind a trusted proxy', () => {
  let guarded: TestApp;

  beforeAll(async () => {
    guarded = await startBehindProxy(test);
  });
  afterAll(() => guarded.stop());

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
    const body = textBody(connection, `wamid.${newId()}`, 'x'.repeat(100_000));
    const sockets = Array.from({ length: 40 }, (_, index) => unfinished(`203.0.113.${index % 2}`));
    try {
      const proven = textBody(connection, `wamid.${newId()}`);
      expect(await statusFrom(guarded, '198.51.100.9', proven, signBody(proven, 'new-secret'))).toBe(200);
      for (let n = 0; n < 20; n++) {
        expect(await statusFrom(guarded, '198.51.100.9', body, signBody(body, 'new-secret'))).toBe(200);
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
