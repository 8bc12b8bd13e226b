import type { Statements } from '../../../infrastructure/database/database.js';
import type { StatusReport } from '../../message-state/message.types.js';
import type { Applied, LockedMessage } from '../../message-state/facts.types.js';
import type { FactsService } from '../../message-state/facts.service.js';
import { findByPlatformId, idsInCallback, type Target } from './find-reported-attempts.js';

/** What a report led to; null: no attempt of the report's connection is meant. */
export interface AppliedReport extends Pick<
  LockedMessage,
  'organizationId' | 'conversationId' | 'recipient' | 'traceContext'
> {
  messageId: string;
  /** Whether the message was moved by this report. */
  moved: boolean;
}

/**
 * Applies what the platform reports about sent messages, in the caller's transaction. Usually a report returns both ids of its request;
 * where they are missing, or lead to no attempt of the connection, the attempt is looked up by the platform's id.
 *
 * Returns one result a report, in the same order: null where no attempt is meant by it (yet).
 */
export async function applyStatusReports(
  reports: readonly StatusReport[],
  statements: Statements,
  facts: FactsService,
): Promise<(AppliedReport | null)[]> {
  const results: (AppliedReport | null)[] = reports.map(() => null);
  const byCallback = reports.flatMap((report, index) => {
    const target = idsInCallback(report);
    return target === null ? [] : [{ index, report, target }];
  });
  await applyTo(byCallback, results, statements, facts);
  const open = reports.flatMap((report, index) => (results[index] === null ? [{ index, report }] : []));
  const found = await findByPlatformId(
    open.map(({ report }) => report),
    statements,
  );
  const byPlatformId = open.flatMap((each, n) => {
    const target = found[n] ?? null;
    return target === null ? [] : [{ ...each, target }];
  });
  await applyTo(byPlatformId, results, statements, facts);
  return results;
}

async function applyTo(
  targets: readonly { index: number; report: StatusReport; target: Target }[],
  results: (AppliedReport | null)[],
  statements: Statements,
  facts: FactsService,
): Promise<void> {
  const applied = await facts.apply(
    targets.map(({ report, target }) => ({ kind: 'report', report, ...target })),
    statements,
  );
  for (const [n, { index }] of targets.entries()) results[index] = resultOf(applied[n]);
}

function resultOf(applied: Applied | undefined): AppliedReport | null {
  if (applied === undefined || applied.message === null || applied.result === 'not_found') return null;
  const { id: messageId, organizationId, conversationId, recipient, traceContext } = applied.message;
  return { messageId, organizationId, conversationId, recipient, traceContext, moved: applied.moved };
}
