// Sends a text over WhatsApp: CONNECTION=<id> node notify.mjs +15550001234 "Your table is ready."
import { randomUUID } from 'node:crypto';

const { HERALD_URL, HERALD_API_KEY, CONNECTION } = process.env;
const [to, body] = process.argv.slice(2);

const response = await fetch(`${HERALD_URL}/api/v1/messages`, {
  method: 'POST',
  headers: {
    authorization: `Bearer ${HERALD_API_KEY}`,
    'content-type': 'application/json',
    // Store it with your record before you send: a repeat with the same key makes no second message.
    'idempotency-key': randomUUID(),
  },
  body: JSON.stringify({ connection_id: CONNECTION, to, type: 'text', text: { body } }),
  signal: AbortSignal.timeout(30_000),
});
const { data, error } = await response.json();
if (error) throw new Error(`${error.code}: ${error.message}`);
console.log(data.id, data.status);
