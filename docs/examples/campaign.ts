// Sends the campaign of recipients.csv (to,name,order) under one tag, and reports it: node campaign.ts spring-sale
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHeraldClient } from '@herald/client';

const [tag = ''] = process.argv.slice(2);
const BATCH = 100;
const ON_THE_WAY = ['queued', 'processing', 'accepted', 'sent'];
const herald = createHeraldClient({ baseUrl: process.env.HERALD_URL!, apiKey: process.env.HERALD_API_KEY! });

/** The same key for the same names: a program that starts again makes no second message. */
function keyOf(...names: string[]): string {
  const hash = createHash('sha1').update(names.join('/')).digest('hex');
  return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-5$3-8$4-$5');
}

const [number] = await herald.connections.list();
if (number === undefined) throw new Error('the workspace has no number yet');
const [, ...lines] = (await readFile('recipients.csv', 'utf8')).trim().split(/\r?\n/);
const messages = lines.map((line) => {
  const [to = '', name = '', order = ''] = line.split(',');
  return {
    // From tag and recipient, not from the line: the file may be sorted anew, and no one gets a second message.
    idempotency_key: keyOf('campaign.ts', tag, to),
    connection_id: number.id,
    to,
    type: 'template' as const,
    template: { name: 'order_update', language: 'en_US', parameters: { body: [name, order] } },
    tag,
  };
});
for (let start = 0; start < messages.length; start += BATCH) {
  const part = messages.slice(start, start + BATCH);
  const { errors } = await herald.messages.sendBatch({ messages: part, validation: 'permissive' });
  for (const { index, code } of errors) console.log(`not taken: ${part[index]?.to} ${code}`);
}

let counted = await herald.tags.get(tag);
while (ON_THE_WAY.some((status) => (counted.counts[status] ?? 0) > 0)) {
  await sleep(2_000);
  counted = await herald.tags.get(tag);
}
console.log(`${counted.messages} messages, ${counted.counts.failed ?? 0} failed`);
for await (const { to, failure_category } of herald.messages.list({ tag, status: 'failed' }))
  console.log(`failed: +${to} ${failure_category}`);
