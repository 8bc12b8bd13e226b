import { isUuid } from '../../../common/ids.js';
import type { Statements } from '../../../infrastructure/database/database.js';
import type { StatusReport } from '../../message-state/message.types.js';
import type { Applied, LockedMessage } from '../../message-state/facts.types.js';
import type { FactsService } from '../../message-state/facts.service.js';

/** The result of a report; null: it names no attempt of its connection. */
export interface AppliedReport extends Pick<
  LockedMessage,
  'organizationId' | 'conversationId' | 'recipient' | 'traceContext'
> {
  messageId: string;
  /** Whether this report changed the message's status. */
  moved: boolean;
}

/**
 * Applies WhatsApp's reports about sent messages, in the caller's transaction. Usually a report contains the ids of the
 * message and of the attempt, which were in its request. Where they are missing, or match no attempt of the connection,
 * the attempt is looked up by WhatsApp's id. Returns one result per report, in the same order: null where no attempt is
 * found (yet).
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

/** The attempt that a report may concern. */
export interface Target {
  messageId: string;
  attemptId: string;
}

/** Reads the ids that the request contained, `<message id>.<attempt id>`. They may match no attempt. */
export function idsInCallback({ callbackData }: Pick<StatusReport, 'callbackData'>): Target | null {
  const [messageId, attemptId, ...more] = (callbackData ?? '').toLowerCase().split('.');
  return isUuid(messageId) && isUuid(attemptId) && more.length === 0 ? { messageId, attemptId } : null;
}

/** For each report, the attempt of its connection with this WhatsApp id; null: there is none. */
async function findByPlatformId(reports: readonly StatusReport[], statements: Statements): Promise<(Target | null)[]> {
  if (reports.length === 0) return [];
  const params = [reports.map(({ metaMessageId }) => metaMessageId), reports.map(({ connectionId }) => connectionId)];
  const found = await statements.query<Target & { place: number }>(FIND, params);
  const byPlace = new Map(found.map(({ place, ...target }) => [place, target]));
  return reports.map((_report, index) => byPlace.get(index + 1) ?? null);
}

const FIND = `
select k.place::integer as place, a.message_id as "messageId", a.id as "attemptId"
from unnest($1::text[], $2::uuid[]) with ordinality as k (meta_message_id, connection_id, place) cross join lateral (
  select a.message_id, a.id from message_attempt a join message m on m.id = a.message_id
  where a.meta_message_id = k.meta_message_id and m.connection_id = k.connection_id
  order by a.number desc limit 1) as a`;
