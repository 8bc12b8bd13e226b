import { randomUUID } from 'node:crypto';
import { isAbsolute, relative, resolve } from 'node:path';
import type { DemoFile } from './demo-file.js';

/** What a newcomer needs: the next thing to paste, and where everything else is. It works as it is printed. */
export function welcome(demo: DemoFile, dataDir: string): string {
  const folder = shown(dataDir);
  const to = demo.recipients[0]?.to ?? '';
  const text = { body: 'Hello from Herald' };
  const body = JSON.stringify({ connection_id: demo.connection_id, to, type: 'text', text });
  return [
    '',
    '  Herald is ready. In another terminal, in this folder, send a message and watch it arrive:',
    '',
    `    npx herald message send --to ${to} --text "Your table is ready." --watch`,
    '',
    '  The same as a call of the API:',
    '',
    `    curl -sS ${demo.base_url}/api/v1/messages \\`,
    `      -H 'Authorization: Bearer ${demo.api_key}' \\`,
    `      -H 'Idempotency-Key: ${randomUUID()}' \\`,
    `      -H 'Content-Type: application/json' \\`,
    `      -d '${body}'`,
    '',
    `  Browse and try the API:      ${demo.docs_url}  (its key: the one above)`,
    '  See everything at work:      npx herald demo',
    '  Go through it by yourself:   docs/quick-start.md',
    `  Keys, ids, numbers to try:   ${folder}/demo.json`,
    '',
    '  Ctrl-C stops Herald.',
    '',
    '',
  ].join('\n');
}

/** As one would type it: short where the folder is below the current one. */
function shown(dataDir: string): string {
  const path = relative(process.cwd(), dataDir);
  return path.startsWith('..') || isAbsolute(path) ? resolve(dataDir) : `./${path}`;
}
