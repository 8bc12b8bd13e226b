import type { ErrorDetail } from '../../../common/app-error.js';
import { commonErrors } from '../../../common/common.errors.js';
import { isUuid } from '../../../common/ids.js';
import { cursorFaults, cursorOf } from '../../../common/list-cursor.js';
import { fault } from '../../../common/shape.js';
import type { JournalQuery } from './journal-page.js';
import { MESSAGE_STATUSES } from '../message-state.js';
import { USER_ID } from '../accept/recipient.js';

/** What the journal can be asked for; see `JournalQuery`. */
export type JournalFilter = Omit<JournalQuery, 'organizationId'>;

export const JOURNAL_DIRECTIONS = ['outbound', 'inbound'] as const;

/** The parameters of GET /messages. */
export const JOURNAL_PARAMETERS = [
  'limit',
  'before',
  'before_id',
  'connection_id',
  'conversation_id',
  'direction',
  'status',
  'from',
  'to',
  'recipient',
  'client_message_id',
] as const;

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
const PHONE = /^\+?[0-9]{8,16}$/;
const PHONE_MEANING = 'a phone number of 8 to 16 digits, the + written as %2B or left out';

/**
 * Reads the query of GET /messages.
 *
 * @throws INVALID_REQUEST (400) naming each faulty parameter.
 */
export function readJournalFilter(query: Record<string, unknown>): JournalFilter {
  const faults: ErrorDetail[] = [];
  type Name = (typeof JOURNAL_PARAMETERS)[number];
  const text = (name: Name): string | null => {
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
  const checked = (name: Name, valid: (value: string) => boolean, rule: string, meaning: string): string | null => {
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
  const uuid = (name: Name): string | null => checked(name, isUuid, 'format', 'a UUID')?.toLowerCase() ?? null;
  const phone = (name: Name): string | null =>
    checked(name, (value) => PHONE.test(value), 'format', PHONE_MEANING)?.replace('+', '') ?? null;
  const oneOf = <T extends string>(name: Name, known: readonly T[]): T | null =>
    checked(name, (value) => known.some((one) => one === value), 'one_of', known.join(', ')) as T | null;
  const cursor = { before: text('before') ?? undefined, before_id: text('before_id') ?? undefined };
  const filter: JournalFilter = {
    limit: limit === null ? DEFAULT_LIMIT : Number(limit),
    ...cursorOf(cursor),
    connectionId: uuid('connection_id'),
    conversationId: uuid('conversation_id'),
    direction: oneOf('direction', JOURNAL_DIRECTIONS),
    status: oneOf('status', MESSAGE_STATUSES),
    clientMessageId: checked('client_message_id', (value) => value.length <= 200, 'length', 'at most 200 characters'),
    from: phone('from'),
    to: phone('to'),
    recipient: checked('recipient', (value) => USER_ID.test(value), 'format', 'a user id such as DE.1795'),
  };
  // What was given twice or is no text is named already.
  if (cursor.before !== undefined || query.before === undefined) faults.push(...cursorFaults(cursor));
  if (faults.length > 0) throw commonErrors.INVALID_REQUEST({ details: faults });
  return filter;
}
