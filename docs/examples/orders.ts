// Confirms the orders of orders.json over WhatsApp: HANDLE=... node orders.ts
import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHeraldClient, isHeraldError, type Message, type Template } from '@herald/client';

interface Order {
  id: string;
  name: string;
  to: string;
  key?: string;
  receipt?: string;
  message?: string;
}

const TEMPLATE = 'order_confirmed_ts';
// Repeats 429, and with a key 503 and lost answers too: up to six times, each after the pause that Herald asks for.
const herald = createHeraldClient({
  baseUrl: process.env.HERALD_URL!,
  apiKey: process.env.HERALD_API_KEY!,
  maxAttempts: 6,
  maxPauseMs: 60_000,
});

/** Makes the template where it is missing, and waits for the platform's review. */
async function approved(connection: string): Promise<void> {
  const read = async (): Promise<Template | undefined> => {
    try {
      return (await herald.templates.get(connection, TEMPLATE, 'en_US')).versions[0];
    } catch (error) {
      if (isHeraldError(error, 'TEMPLATE_NOT_FOUND')) return undefined;
      throw error;
    }
  };
  let template = (await read()) ?? (await create(connection));
  while (template.status === 'pending') {
    await sleep(1_000);
    template = (await read()) ?? template;
  }
  if (template.status !== 'approved')
    throw new Error(`the template is ${template.status}: ${template.rejected_reason ?? ''}`);
}

function create(connection: string): Promise<Template> {
  return herald.templates.create(connection, {
    name: TEMPLATE,
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'DOCUMENT', example: { header_handle: [process.env.HANDLE] } },
      {
        type: 'BODY',
        text: 'Hello {{1}}, your order {{2}} is confirmed. The receipt is attached.',
        example: { body_text: [['Ana', '4711']] },
      },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'URL',
            text: 'Follow the order',
            url: 'https://shop.example.com/orders/{{1}}',
            example: ['https://shop.example.com/orders/4711'],
          },
        ],
      },
    ],
  });
}

function componentsFor(order: Order) {
  return [
    { type: 'header', parameters: [{ type: 'document', document: { id: order.receipt, filename: 'receipt.pdf' } }] },
    {
      type: 'body',
      parameters: [
        { type: 'text', text: order.name },
        { type: 'text', text: order.id },
      ],
    },
    { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: order.id }] },
  ];
}

/** What to do about a message that did not arrive. */
function nextStep({ id, status, failure_category: category, error }: Message): string {
  if (status === 'outcome_unknown') return 'ask the customer: it may have arrived';
  switch (category) {
    case 'invalid_recipient':
    case 'recipient_unreachable':
      return 'send an e-mail';
    case 'rate_limited':
    case 'platform_unavailable':
      return `later: herald.messages.retry('${id}')`;
    case 'template_unavailable':
    case 'invalid_content':
    case 'media_error':
      return `mend the message: ${error?.message ?? ''}`;
    default:
      return `ask the operator of Herald: ${category ?? ''}`;
  }
}

const orders = JSON.parse(await readFile('orders.json', 'utf8')) as Order[];

async function save(): Promise<void> {
  await writeFile('orders.json.new', JSON.stringify(orders, null, 2));
  await rename('orders.json.new', 'orders.json');
}

const [number] = await herald.connections.list();
if (number === undefined) throw new Error('the workspace has no number yet');
await approved(number.id);

for (const order of orders) {
  if (order.message !== undefined) continue;
  if (order.key === undefined) {
    const file = new Blob([`%PDF-1.4\n% ${order.id}\n%%EOF\n`]);
    const receipt = await herald.media.upload({ connection_id: number.id, file, filename: 'receipt.pdf' });
    // The key is stored before the first try: after a crash the same message is asked for, not a second one.
    Object.assign(order, { key: crypto.randomUUID(), receipt: receipt.id });
    await save();
  }
  try {
    const template = { name: TEMPLATE, language: { code: 'en_US' }, components: componentsFor(order) };
    const body = { connection_id: number.id, to: order.to, type: 'template' as const, template };
    order.message = (await herald.messages.send(body, { idempotencyKey: order.key })).id;
  } catch (error) {
    if (!isHeraldError(error)) throw error;
    console.log(`${order.id}: not taken, ${error.status} ${error.code}: ${error.message}`);
  }
  await save();
}

for (const order of orders) {
  if (order.message === undefined) continue;
  const deadline = performance.now() + 60_000;
  for (;;) {
    const message = await herald.messages.get(order.message);
    if (['delivered', 'read'].includes(message.status)) console.log(`${order.id}: confirmed`);
    else if (['failed', 'outcome_unknown'].includes(message.status))
      console.log(`${order.id}: ${message.status}, ${nextStep(message)}`);
    else if (performance.now() < deadline) {
      await sleep(500);
      continue;
    } else console.log(`${order.id}: ${message.status}; the next run looks again`);
    break;
  }
}
