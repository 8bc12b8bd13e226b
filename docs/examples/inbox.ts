// Answers each customer once, by events (node inbox.ts events place.txt) or by webhook (WEBHOOK_SECRET=whsec_… node inbox.ts webhook).
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createHeraldClient, isHeraldError, type WebhookEvent, webhookListener } from '@herald/client';

const [way, file = 'place.txt'] = process.argv.slice(2);
const herald = createHeraldClient({
  baseUrl: process.env.HERALD_URL!,
  apiKey: process.env.HERALD_API_KEY!,
  timeoutMs: 30_000,
});

type Received = Extract<WebhookEvent, { type: 'message.received' }>;

/** Once for each event, however often it comes: the key is made of its id. */
async function answer({ id, data }: { id: string; data: Received['data'] }): Promise<void> {
  const { contact, message } = data;
  if (message.type !== 'text') return;
  const hash = createHash('sha1').update(`inbox.ts/${id}`).digest('hex');
  const idempotencyKey = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-5$3-8$4-$5');
  const to = contact.phone === null ? { recipient: contact.user_id ?? '' } : { to: `+${contact.phone}` };
  const text = { body: `We read “${message.body}” and answer soon.` };
  try {
    await herald.messages.send({ connection_id: message.connection_id, ...to, type: 'text', text }, { idempotencyKey });
    console.log('answered', message.body);
  } catch (error) {
    // A refusal stays one, such as 24 hours later, when the window is closed. Anything else is tried again.
    if (!isHeraldError(error)) throw error;
    console.log(`not answered: ${error.message}`);
  }
}

if (way === 'events') {
  // From the place where the last run ended; at first from now on. It is stored once an event is dealt with: a program that dies before reads it again.
  const store = {
    load: () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined),
    save: (place: string) => {
      writeFileSync(`${file}.new`, place);
      renameSync(`${file}.new`, file);
    },
  };
  for await (const event of herald.events.follow({ types: ['message.received'], after: 'now', store })) {
    if (event.type === 'message.received') await answer(event);
  }
} else {
  const secret = process.env.WEBHOOK_SECRET!;
  // It answers 204 once the event is dealt with; where that fails Herald delivers it again.
  const onEvent = async (event: WebhookEvent): Promise<void> => {
    if (event.type === 'message.received') await answer(event);
  };
  const server = createServer(webhookListener({ secrets: [secret], onEvent, onError: console.error }));
  server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
    const address = server.address();
    console.log('listening on port', typeof address === 'object' ? address?.port : address);
  });
}
