import type { Database } from '../../src/infrastructure/database/database.js';
import { dumpDatabase } from '../otp/canary-search.js';

/**
 * Rows with one of the texts in them, by table, the queue's too: plainly, as bytes, or in the platform's base64.
 *
 * @param organizationId only rows that name this workspace.
 */
export async function rowsWith(
  database: Database,
  texts: readonly string[],
  organizationId?: string,
): Promise<string[]> {
  const has = (text: string): boolean => texts.some((each) => text.includes(each));
  const decoded = (row: string): string =>
    [
      ...[...row.matchAll(/\\\\x([0-9a-f]{8,})/g)].map(([, hex]) => Buffer.from(hex ?? '', 'hex').toString('utf8')),
      ...[...row.matchAll(/wamid\.([A-Za-z0-9+/=_-]{16,})/g)].map(([, text]) =>
        Buffer.from(text ?? '', 'base64').toString('latin1'),
      ),
    ].join('\n');
  return (await dumpDatabase(database))
    .filter(({ text }) => has(text) || has(decoded(text)))
    .filter(({ text }) => organizationId === undefined || text.includes(organizationId))
    .map(({ place }) => place);
}
