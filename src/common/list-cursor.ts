import type { ErrorDetail } from './app-error.js';
import { commonErrors } from './common.errors.js';
import { isDateTime } from './date-time.js';
import { isUuid } from './ids.js';

/** Where a page of a list begins: behind the row that was made then and has this id; without an id, before the time. */
export interface ListCursor {
  before: Date | null;
  beforeId: string | null;
}

interface Given {
  before?: string;
  before_id?: string;
}

/** What is wrong with the cursor of a list's query; one answer for every list. */
export function cursorFaults({ before, before_id: beforeId }: Given): ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  const fault = (field: string, rule: string, message: string) => faults.push({ field, rule, message });
  if (before !== undefined && !isDateTime(before)) {
    const example = '2026-11-21T08:00:00.000Z';
    // In a query an unescaped + means a space.
    const plus = isDateTime(before.replace(' ', '+')) ? ' Escape the + of the zone as %2B.' : '';
    fault('before', 'format', `before must be an ISO 8601 date-time with its zone, such as ${example}.${plus}`);
  }
  if (beforeId !== undefined && !isUuid(beforeId)) fault('before_id', 'format', 'before_id must be a UUID.');
  if (beforeId !== undefined && before === undefined) {
    fault('before_id', 'requires_before', 'before_id needs before: pass both as the last page gave them.');
  }
  return faults;
}

/** @throws INVALID_REQUEST (400) naming each faulty part. */
export function readCursor(given: Given): ListCursor {
  const faults = cursorFaults(given);
  if (faults.length > 0) throw commonErrors.INVALID_REQUEST({ details: faults });
  return cursorOf(given);
}

/** Of what has no faults. */
export function cursorOf({ before, before_id: beforeId }: Given): ListCursor {
  return { before: before === undefined ? null : new Date(before), beforeId: beforeId?.toLowerCase() ?? null };
}
