import { randomUUID } from 'node:crypto';
import { isAbsolute, relative, resolve } from 'node:path';
import type { DemoFile } from './demo-file.js';

/** What a newcomer needs, with a first call that works as it is printed and the next thing to paste. */
export function welcome(demo: DemoFile, dataDir: string): string {
  const folder = shown(dataDir);
  const body = JSON.stringify({
    connection_id: demo.connection_id,
    to: demo.recipients[0]?.to,
    type: 'text',
    text: { body: 'Hello from Herald' },
  });
  return [
    '',
    `  Herald is ready.  ${demo.docs_url}  describes the API; the key to try it with:`,
    '',
    `    ${demo.api_key}`,
    '',
    '  Send a first message, in another terminal (a new Idempotency-Key sends another one):',
    '',
    `    curl -sS ${demo.base_url}/api/v1/messages \\`,
    `      -H 'Authorization: Bearer ${demo.api_key}' \\`,
    `      -H 'Idempotency-Key: ${randomUUID()}' \\`,
    `      -H 'Content-Type: application/json' \\`,
    `      -d '${body}'`,
    '',
    '  Then watch it arrive: its status goes from queued to read within a second.',
    '',
    `    . ${folder}/demo.sh; curl -sS "$BASE/messages?limit=1" -H "$AUTH" | json`,
    '',
    `  The whole walk: docs/quick-start.md. Keys, ids, numbers that fail: ${folder}/demo.json. Ctrl-C stops Herald.`,
    '',
    '',
  ].join('\n');
}

/** As one would type it: short where the folder is below the current one. */
function shown(dataDir: string): string {
  const path = relative(process.cwd(), dataDir);
  return path.startsWith('..') || isAbsolute(path) ? resolve(dataDir) : `./${path}`;
}
