import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { newId } from '../../src/common/ids.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { CloudApiClient } from '../../src/infrastructure/whatsapp/cloud-api-client.js';
import {
  DestinationsProcessor,
  DestinationTurns,
} from '../../src/modules/destinations/runner/destinations.processor.js';
import { TurnsRepository } from '../../src/modules/destinations/runner/turns.repository.js';
import type { ClaimedTurn } from '../../src/modules/destinations/destinations.types.js';
import { MessageSender } from '../../src/modules/sending/processors/message-sender.js';
import { gate } from '../support/gate.js';
import { startTestApp } from '../support/test-app.js';
import { openTestDatabase } from '../support/test-database.js';
import { waitFor } from '../support/wait-for.js';

const GRANT = { slots: 1, paused: false, pausedMs: null, unusedRows: 1 };

/** Waits until work is under way, which lasts until the gate opens. */
function held() {
  const { opened, open } = gate();
  let isUnderWay = false;
  return {
    open,
    begun: () => waitFor(() => isUnderWay),
    wait: async () => {
      isUnderWay = true;
      await opened;
    },
  };
}

it('a stop tells all that works at once: what hangs in one kind keeps no other from its end', async () => {
  const stored = await openTestDatabase();
  const api = await startTestApp({ database: { url: stored.url, drop: () => Promise.resolve() } });
  const { app } = api;
  const [writing, sending, sweeping] = [held(), held(), held()];
  // A destination whose broker does not answer.
  const turn = { id: newId(), organizationId: newId(), attemptId: newId() } as ClaimedTurn;
  jest
    .spyOn(app.get(TurnsRepository), 'claim')
    .mockImplementation((requests) => Promise.resolve(requests.map(() => ({ grant: GRANT, items: [turn] }))));
  jest.spyOn(app.get(DestinationTurns), 'work').mockImplementation(() => writing.wait().then(() => null));
  app.get(DestinationsProcessor).wakeDestination(turn.id);
  // A sweep that waits for a lock.
  app.get(Sweeps).add({ name: 'held', everyMs: 1_000, run: () => sweeping.wait().then(() => 0) });
  // A message whose answer is on its way.
  const client = app.get(CloudApiClient);
  const sendMessage = client.sendMessage.bind(client);
  jest.spyOn(client, 'sendMessage').mockImplementation(async (request) => {
    await sending.wait();
    return sendMessage(request);
  });
  const sender = await api.sender();
  const { phone } = await api.openWindow(sender);
  const sent = await sender.api.post(
    '/messages',
    { connection_id: sender.connection.id, to: `+${phone}`, type: 'text', text: { body: 'Hello' } },
    { headers: { 'idempotency-key': randomUUID() } },
  );
  await Promise.all([writing.begun(), sending.begun(), sweeping.begun()]);

  const told = jest.spyOn(app.get(MessageSender), 'stop');
  const stopping = api.stop();
  await waitFor(() => told.mock.calls.length > 0);
  sending.open();
  // Its outcome is recorded while the two others are still waited for.
  const { id } = sent.body.data as { id: string };
  const [attempt] = await waitFor(async () => {
    const rows = await stored.database.query('select answer from message_attempt where message_id = $1', [id]);
    return rows.length > 0 && rows;
  });
  expect(attempt).toEqual({ answer: 'accepted' });
  writing.open();
  sweeping.open();
  await stopping;
  await stored.close();
});
