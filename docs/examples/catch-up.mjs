// Reads on where it ended the last time, each event once. HERALD_URL=… HERALD_API_KEY=… node catch-up.mjs place.txt
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const file = process.argv[2];
if (!file) throw new Error('Name the file that keeps the place: node catch-up.mjs place.txt');
let after = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;

for (;;) {
  const query = new URLSearchParams({ limit: '250', ...(after && { after }) });
  const response = await fetch(`${process.env.HERALD_URL}/api/v1/events?${query}`, {
    headers: { authorization: `Bearer ${process.env.HERALD_API_KEY}` },
  });
  const body = await response.json();
  // 410: the place is too old. Read from the oldest event that is kept, and pass over those whose ids you know.
  if (!response.ok) throw new Error(`${body.error.code}: ${body.error.message}`);
  for (const event of body.data) handle(event);
  // Only now: a program that dies before reads this page again.
  writeFileSync(`${file}.new`, body.next);
  renameSync(`${file}.new`, file);
  // The same place without an end: what follows is stored, and is given in a moment.
  if (body.done || body.next === after) break;
  after = body.next;
}

function handle({ id, type, data }) {
  console.log(id, type, data.status ?? data.message?.body ?? '');
}
