import { randomUUID } from 'node:crypto';
import type { DemoFile } from './demo-file.js';

/** What a newcomer needs, with a first call that works as it is printed. */
export function welcome(demo: DemoFile): string {
  const body = JSON.stringify({
    connection_id: demo.connection_id,
    to: demo.recipients[0]?.to,
    type: 'text',
    text: { body: 'Hello from Herald' },
  });
  return [
    '',
    `  API        ${demo.base_url}/api/v1`,
    `  Docs       ${demo.docs_url}`,
    ...(demo.simulator_url === null ? [] : [`  Simulator  ${demo.simulator_url}`]),
    `  API key    ${demo.api_key}`,
    '',
    '  Send a first message (a new Idempotency-Key sends another one):',
    '',
    `  curl -sS ${demo.base_url}/api/v1/messages \\`,
    `    -H 'Authorization: Bearer ${demo.api_key}' \\`,
    `    -H 'Idempotency-Key: ${randomUUID()}' \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '${body}'`,
    '',
    '',
  ].join('\n');
}
