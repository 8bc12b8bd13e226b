import type { ErrorDetail } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { isUuid } from '../../common/ids.js';
import { cursorFaults, cursorOf } from '../../common/list-cursor.js';
import { fault } from '../../common/shape.js';
import type { MessageStatus } from './message-state.js';

/** States that the journal can be filtered by; `accepted` is not among them (specification, GET /messages). */
export const JOURNAL_STATUSES = [
  'queued',
  'processing',
  'sent',
  'delivered',
  'read',
  'received',
  'failed',
  'outcome_unknown',
] as const satisfies readonly MessageStatus[];

export interface JournalFilter {
  /** 1 to 100. */
  limit: number;
  before: Date | null;
  beforeId: string | null;
  connectionId: string | null;
  status: (typeof JOURNAL_STATUSES)[number] | null;
  clientMessageId: string | null;
  /** Digits without `+`. */
  recipient: string | null;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;

/**
 * Reads the query of GET /messages; unknown parameters are ignored.
 *
 * @throws INVALID_REQUEST (400) naming each faulty parameter.
 */
export function readJournalFilter(query: Record<string, unknown>): JournalFilter {
  const faults: ErrorDetail[] = [];
  const text = (name: string): string | null => {
    const value = query[name];
    if (value === undefined) return null;
    if (typeof value === 'string') {
      if (!value.includes('\u0000')) return value;
      faults.push(fault(name, 'text', `${name} must not contain U+0000.`));
      return null;
    }
    faults.push(fault(name, 'repeated', `${name} must be given once.`));
    return null;
  };
  const checked = (name: string, valid: (value: string) => boolean, rule: string, meaning: string): string | null => {
    const value = text(name);
    if (value === null || valid(value)) return value;
    faults.push(fault(name, rule, `${name} must be ${meaning}.`));
    return null;
  };
  const limit = checked(
    'limit',
    (value) => /^\d{1,4}$/.test(value) && Number(value) >= 1 && Number(value) <= MAX_LIMIT,
    'range',
    `a whole number from 1 to ${MAX_LIMIT}`,
  );
  const cursor = { before: text('before') ?? undefined, before_id: text('before_id') ?? undefined };
  const filter: JournalFilter = {
    limit: limit === null ? DEFAULT_LIMIT : Number(limit),
    ...cursorOf(cursor),
    connectionId: checked('connection_id', isUuid, 'format', 'a UUID')?.toLowerCase() ?? null,
    status: checked('status', isJournalStatus, 'one_of', JOURNAL_STATUSES.join(', ')) as JournalFilter['status'],
    clientMessageId: checked('client_message_id', (value) => value.length <= 200, 'length', 'at most 200 characters'),
    recipient:
      checked('to', (value) => /^\+?[0-9]{8,16}$/.test(value), 'format', 'a phone number of 8 to 16 digits')?.replace(
        '+',
        '',
      ) ?? null,
  };
  // What was given twice or is no text is named already.
  if (cursor.before !== undefined || query.before === undefined) faults.push(...cursorFaults(cursor));
  if (faults.length > 0) throw commonErrors.INVALID_REQUEST({ details: faults });
  return filter;
}

function isJournalStatus(value: string): boolean {
  return JOURNAL_STATUSES.some((status) => status === value);
}
