import type { ClientBase } from 'pg';
import type { Database, Statements } from '../../src/infrastructure/database/database.js';
import type { Prepared } from '../../src/infrastructure/database/prepared.js';
import type { Applied, OutcomeRecord } from '../../src/modules/message-state/facts.types.js';
import { FactsRepository } from '../../src/modules/message-state/facts.repository.js';
import { FactsService } from '../../src/modules/message-state/facts.service.js';
import type { OutboundStatus } from '../../src/modules/message-state/message-state.types.js';
import { MessagesRepository } from '../../src/modules/messages/messages.repository.js';
import { LIMITED } from './limits.js';

/** The door to the messages' rows, with messages that live 24 hours. */
export function factsOf(database: Database): FactsService {
  return new FactsService(database, new FactsRepository(LIMITED));
}

/** Records an outcome in the transaction that is open on this connection. */
export function recordIn(client: ClientBase, record: OutcomeRecord): Promise<Applied[]> {
  const run = (sql: string | Prepared, params: readonly unknown[] = []) =>
    client.query(typeof sql === 'string' ? sql : sql.text, params as unknown[]);
  const statements = {
    query: async (sql: string | Prepared, params?: readonly unknown[]) => (await run(sql, params)).rows as unknown[],
    execute: async (sql: string | Prepared, params?: readonly unknown[]) => (await run(sql, params)).rowCount ?? 0,
  } as Statements;
  return factsOf(undefined as never).apply([{ kind: 'answer', ...record }], statements);
}

/** Cancels a message; false where it does not wait. */
export async function cancelMessage(database: Database, organizationId: string, messageId: string): Promise<boolean> {
  const [applied] = await factsOf(database).applyNow([{ kind: 'canceled', messageId }], { organizationId });
  return applied?.moved === true;
}

/** Retries one message; false where it has another status than `from`. */
export async function retryMessage(
  database: Database,
  organizationId: string,
  messageId: string,
  from: readonly OutboundStatus[] = ['outcome_unknown'],
  body: string | null = null,
): Promise<boolean> {
  const messages = new MessagesRepository(database, factsOf(database));
  return (await messages.retry(organizationId, [{ messageId, body }], from)).length > 0;
}
