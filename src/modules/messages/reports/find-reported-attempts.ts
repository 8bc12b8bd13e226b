import { isUuid } from '../../../common/ids.js';
import type { Statements } from '../../../infrastructure/database/database.js';
import type { StatusReport } from '../../message-state/message.types.js';

/** The attempt that a report may be about. */
export interface Target {
  messageId: string;
  attemptId: string;
}

/** The ids that the request contained, `<message id>.<attempt id>`; they may lead nowhere. */
export function idsInCallback({ callbackData }: Pick<StatusReport, 'callbackData'>): Target | null {
  const [messageId, attemptId, ...more] = (callbackData ?? '').toLowerCase().split('.');
  return isUuid(messageId) && isUuid(attemptId) && more.length === 0 ? { messageId, attemptId } : null;
}

/** The attempt of each report's connection that has the platform's id, one a report; null: none has it. */
export async function findByPlatformId(
  reports: readonly StatusReport[],
  statements: Statements,
): Promise<(Target | null)[]> {
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
