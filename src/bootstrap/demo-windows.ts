import { Logger, type INestApplicationContext } from '@nestjs/common';
import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from '../modules/connections/connections.types.js';
import { RecipientsService } from '../modules/messages/contacts/recipients.service.js';
import { DEMO_RECIPIENTS } from './demo-recipients.js';

/** A window that closes sooner is opened again: 24 h less the 20 h for which a demo should last. */
const LEAST_LEFT_MS = 4 * 3_600_000;
const OPEN_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 20;

/**
 * Lets the demo's customers write "Hi!" through the simulator, so that they may be answered. Resolves when their
 * messages have come in through the webhook, as real ones would; that they did not is a warning only.
 */
export async function openDemoWindows(
  app: INestApplicationContext,
  simulatorUrl: string,
  connection: Connection,
): Promise<void> {
  const recipients = app.get(RecipientsService, { strict: false });
  const findOpen = async (phone: string) => (await recipients.findOpen(connection.id, phone)).open;
  const closed: string[] = [];
  for (const { to } of DEMO_RECIPIENTS) {
    const phone = to.slice(1);
    const open = await findOpen(phone);
    if (open !== null && open.closesAt > Date.now() + LEAST_LEFT_MS) continue;
    if (open === null) closed.push(phone);
    await writeAs(simulatorUrl, connection.phoneNumberId, phone);
  }
  const deadline = performance.now() + OPEN_WITHIN_MS;
  for (const phone of closed) {
    while ((await findOpen(phone)) === null) {
      if (performance.now() > deadline) {
        new Logger('Demo').warn(`the demo's customers wrote, but no notification of it came in from ${simulatorUrl}`);
        return;
      }
      await wait(LOOK_EVERY_MS);
    }
  }
}

async function writeAs(simulatorUrl: string, phoneNumberId: string, from: string): Promise<void> {
  const message = { type: 'text', text: { body: 'Hi!' } };
  const response = await fetch(`${simulatorUrl}/_simulator/inbound`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ phone_number_id: phoneNumberId, from, profile_name: 'Demo customer', message }),
    signal: AbortSignal.timeout(OPEN_WITHIN_MS),
  });
  if (!response.ok) throw new Error(`the simulator refused a demo message with ${response.status}`);
}
