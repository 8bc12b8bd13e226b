import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { newId } from '../../src/common/ids.js';
import { INSERT_MESSAGES, type NewMessage } from '../../src/modules/messages/accept/accept.repository.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import type { InsertOrder, InsertResult } from './insert-order.js';

/** The statement with which Herald accepts messages, without HTTP, key, limits and checks. */
const order = JSON.parse(process.argv[2] ?? '') as InsertOrder;
const organizationId = randomUUID();
const connectionId = randomUUID();
const text = 'Hello, your order 4711 is on its way.';

function message(n: number): NewMessage {
  return {
    id: newId(),
    organizationId,
    connectionId,
    conversationId: connectionId,
    type: 'text',
    recipient: recipientNumber(n % 200),
    sender: '49300000001',
    body: text,
    content: { body: text, preview_url: false },
    clientMessageId: null,
    replyToMessageId: null,
    mediaObjectId: null,
    idempotencyKey: randomUUID(),
    fingerprint: '00'.repeat(32),
  };
}

/** After so long a message that waits expires; nothing waits so long here. */
const TTL_HOURS = 24;
let inserted = 0;

async function drive(client: pg.Client, until: number): Promise<void> {
  while (performance.now() < until) {
    const batch = Array.from({ length: order.rows }, (_, n) => message(inserted + n));
    const result = await client.query({ ...INSERT_MESSAGES, values: [JSON.stringify(batch), TTL_HOURS] });
    inserted += batch.length - (result.rowCount ?? 0); // its rows are those that it did not insert
  }
}

const clients = Array.from(
  { length: order.connections },
  () => new pg.Client({ connectionString: order.databaseUrl, application_name: 'herald-bench' }),
);
await Promise.all(clients.map((client) => client.connect()));
const startedAt = performance.now();
await Promise.all(clients.map((client) => drive(client, startedAt + order.durationMs)));
const result: InsertResult = { perSecond: inserted / ((performance.now() - startedAt) / 1_000) };
await Promise.all(clients.map((client) => client.end()));
process.stdout.write(JSON.stringify(result));
