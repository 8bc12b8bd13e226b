import { type INestApplicationContext, Logger } from '@nestjs/common';
import {
  EXAMPLE_CONNECTION_ID,
  EXAMPLE_FAILED_MESSAGE_ID,
  EXAMPLE_MEDIA_ID,
  EXAMPLE_MESSAGE_ID,
  EXAMPLE_WEBHOOK_URL,
} from '../common/example-ids.js';
import { MessagesService } from '../modules/messages/messages.service.js';
import type { Config } from '../infrastructure/config/config.js';
import { DocsDemo, ExampleValues } from '../infrastructure/http/docs/docs-demo.js';
import type { DemoFile } from './demo-file.js';
import { DEMO_CUSTOMER } from './demo-recipients.js';

/** One key makes one message, for ever: every start after the first gets the same one. */
const FAILED_MESSAGE_KEY = 'd3a0fa11-ed00-4000-8000-000000000002';
/** At the simulator a message to a number that ends so is accepted and then fails. */
const FAILING = /0002$/;
const CALL_WITHIN_MS = 5_000;
/** Where the receiver of docs/webhooks.md listens. */
const LOCAL_RECEIVER = 'http://127.0.0.1:8080/';

/**
 * Lets the served API description name things of the demo that are there, so that "Try it out" works as it stands: its
 * number, a message of its customer that can be answered, one that failed and can be retried, and a file; and offers
 * its keys to Swagger UI. What can not be made is a warning only.
 */
export async function showDemoInDocs(app: INestApplicationContext, config: Config, demo: DemoFile): Promise<void> {
  app.get(DocsDemo, { strict: false }).offer({ api_key: demo.api_key, otp_sandbox_key: demo.otp_sandbox_key });
  const examples = app.get(ExampleValues, { strict: false });
  examples.replace(EXAMPLE_CONNECTION_ID, demo.connection_id);
  if (config.webhook.allowPrivateTargets) examples.replace(EXAMPLE_WEBHOOK_URL, LOCAL_RECEIVER);
  const ids = {
    [EXAMPLE_MESSAGE_ID]: () => answerableMessage(app, demo),
    [EXAMPLE_FAILED_MESSAGE_ID]: () => failedMessage(demo),
    [EXAMPLE_MEDIA_ID]: () => storedFile(demo),
  };
  for (const [example, find] of Object.entries(ids)) {
    try {
      const id = await find();
      if (id !== null) examples.replace(example, id);
    } catch (error) {
      new Logger('Demo').warn(`an example of /docs stands for nothing: ${(error as Error).message}`);
    }
  }
}

async function answerableMessage(app: INestApplicationContext, demo: DemoFile): Promise<string | null> {
  const { messages } = await app.get(MessagesService, { strict: false }).list(demo.organization_id, {
    status: 'received',
    connectionId: demo.connection_id,
    from: DEMO_CUSTOMER,
    limit: 1,
  });
  return messages[0]?.id ?? null;
}

async function failedMessage(demo: DemoFile): Promise<string | null> {
  const to = demo.recipients.find((recipient) => FAILING.test(recipient.to))?.to;
  if (to === undefined || demo.simulator_url === null) return null;
  const message = { connection_id: demo.connection_id, to, type: 'text', text: { body: 'This one fails.' } };
  return idIn(
    await call(demo, '/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': FAILED_MESSAGE_KEY },
      body: JSON.stringify(message),
    }),
  );
}

async function storedFile(demo: DemoFile): Promise<string> {
  const [known] = (await call(demo, '/media?direction=outbound&limit=1')) as { id: string }[];
  if (known !== undefined) return known.id;
  const form = new FormData();
  form.set('connection_id', demo.connection_id);
  form.set('file', new Blob(['Soup, bread, coffee\n'], { type: 'text/plain' }), 'menu.txt');
  return idIn(await call(demo, '/media', { method: 'POST', body: form }));
}

/** As any caller would, over HTTP. Returns `data`. */
async function call(demo: DemoFile, path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(`${demo.base_url}/api/v1${path}`, {
    ...init,
    headers: { ...init.headers, authorization: `Bearer ${demo.api_key}` },
    signal: AbortSignal.timeout(CALL_WITHIN_MS),
  });
  if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${path} answered ${response.status}`);
  return ((await response.json()) as { data: unknown }).data;
}

function idIn(data: unknown): string {
  return (data as { id: string }).id;
}
