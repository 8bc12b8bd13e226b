// Receives Herald's webhooks and verifies each. WEBHOOK_SECRET=whsec_… PORT=8080 node receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const key = Buffer.from((process.env.WEBHOOK_SECRET ?? '').replace(/^whsec_/, ''), 'base64');
if (key.length < 24) {
  console.error('Set WEBHOOK_SECRET to the secret of the webhook, whsec_…: with an empty one any sender could sign.');
  process.exit(1);
}
const TOLERANCE_SECONDS = 300;

function verify(headers, body) {
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  // Prevents replay attacks. A timestamp has digits only.
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS + 1) return false;
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  // For 24 hours after a rotation there are two, each for its secret.
  return (headers['webhook-signature'] ?? '').split(' ').some((one) => {
    const [version, signature = ''] = one.split(',');
    const given = Buffer.from(signature, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

const seen = new Set(); // in production, use a table with a unique key

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (!verify(request.headers, body)) {
      console.log('refused: the signature is not right');
      response.writeHead(401).end();
      return;
    }
    response.writeHead(204).end();
    if (seen.has(request.headers['webhook-id'])) return;
    seen.add(request.headers['webhook-id']);
    const event = JSON.parse(body);
    console.log('verified', event.type, event.id);
  });
});

server.listen(process.env.PORT ?? 8080, () => console.log(`listening on port ${server.address().port}`));
