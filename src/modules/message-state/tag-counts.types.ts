import type { MessageState, Work } from './facts.types.js';
import type { MessageCase } from './message-case.js';

/** A change of the number of a tag's messages in one state (a row of `message_tag_count`). */
interface CountRow {
  organizationId: string;
  tag: string;
  connectionId: string;
  status: string;
  failureCategory: string | null;
  messages: number;
  scheduled: number;
  /** Microseconds. */
  at: number;
}

/** The count changes that follow from changed messages; messages without a tag add none. */
export function countRows(cases: readonly MessageCase[]): CountRow[] {
  const rows = new Map<string, CountRow>();
  for (const { message, state, work } of cases) {
    const { tag } = message;
    if (tag === null) continue;
    const add = (of: MessageState, inQueue: Work | null, by: 1 | -1): void => {
      const failureCategory = of.status === 'failed' ? (of.failureCategory ?? 'unknown') : null;
      const { organizationId, connectionId } = message;
      const place = { organizationId, tag, connectionId, status: of.status, failureCategory };
      const key = JSON.stringify(place);
      const row = rows.get(key) ?? { ...place, messages: 0, scheduled: 0, at: message.now };
      row.messages += by;
      if (inQueue !== null && inQueue.scheduledFor !== null) row.scheduled += by;
      row.at = Math.max(row.at, message.now, of.retriedAt ?? 0);
      rows.set(key, row);
    };
    add(message.state, message.work, -1);
    add(state, work, 1);
  }
  return [...rows.values()].filter(({ messages, scheduled }) => messages !== 0 || scheduled !== 0);
}

/** SQL: the columns of an inserted row of `message_tag_count`. */
export const COUNT_COLUMNS =
  'organization_id, tag, connection_id, status, failure_category, messages, scheduled, last_at';
