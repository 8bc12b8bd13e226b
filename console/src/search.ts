import { api, dataOf, type MessageRow } from './api.ts';
import { csvOf } from './csv.ts';
import { wholeNumber, WRITE_WHOLE_NUMBER } from './parts.tsx';

export const STATUSES = [
  'queued',
  'processing',
  'sent',
  'delivered',
  'read',
  'failed',
  'outcome_unknown',
  'received',
] as const;
const DIRECTIONS: Readonly<Record<string, string>> = {
  in: 'inbound',
  out: 'outbound',
  inbound: 'inbound',
  outbound: 'outbound',
};

/** A word of the search box, and the parameter of GET /messages that it sets. */
const WORDS: Readonly<Record<string, string>> = {
  status: 'status',
  direction: 'direction',
  to: 'to',
  from: 'from',
  connection: 'connection_id',
  conversation: 'conversation_id',
  client: 'client_message_id',
  file: 'media_object_id',
  user: 'recipient',
  tag: 'tag',
  category: 'failure_category',
  since: 'since',
  until: 'until',
};
export const SEARCH_WORDS = Object.keys(WORDS);

/**
 * The other party's number, in either direction: `to` and `from` together. GET /messages takes both at once as the two
 * ends of one message, so each is asked for on its own.
 */
const EITHER = 'number';
const SIDES = ['to', 'from'] as const;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NUMBER = /^\+?[\d ()./-]{3,24}$/;

export interface Search {
  filters: Record<string, string>;
  /** A message's id, which opens it. */
  id: string | null;
  problem: string | null;
}

/** Reads `status:failed to:+49...`; a bare number is that of a customer, in both directions, a bare id a message. */
export function readSearch(text: string): Search {
  const search: Search = { filters: {}, id: null, problem: null };
  let words = text.split(/\s+/).filter(Boolean);
  // A number may have spaces within.
  const bare = words.filter((word) => !word.includes(':')).join(' ');
  if (NUMBER.test(bare)) {
    words = words.filter((word) => word.includes(':'));
    const number = wholeNumber(bare);
    if (number === null) search.problem = WRITE_WHOLE_NUMBER;
    else search.filters[EITHER] = number;
  }
  for (const word of words) {
    const [name = '', ...rest] = word.split(':');
    const value = rest.join(':');
    const parameter = WORDS[name];
    if (UUID.test(word)) search.id = word;
    else if (parameter === undefined || rest.length === 0) {
      search.problem = `“${word}” is no filter: write a number, an id, or ${SEARCH_WORDS.map((one) => `${one}:`).join(' ')}`;
    } else if (value !== '') readFilter(search, name, parameter, value);
  }
  return search;
}

function readFilter(search: Search, name: string, parameter: string, value: string): void {
  if (name === 'direction') {
    const direction = DIRECTIONS[value];
    if (direction === undefined) search.problem = 'direction: takes in or out';
    else search.filters.direction = direction;
  } else if (name === 'status' && !STATUSES.some((status) => status === value)) {
    search.problem = `status: takes ${STATUSES.join(', ')}`;
  } else if (name === 'to' || name === 'from') {
    const number = wholeNumber(value);
    if (number !== null) search.filters[name] = number;
    else search.problem = `${name}: takes a whole number such as +4915112345678`;
  } else if (parameter.endsWith('_id') && name !== 'client' && !UUID.test(value)) {
    search.problem = `${name}: takes a whole id`;
  } else if (name === 'since' || name === 'until') {
    const at = Date.parse(value);
    if (Number.isNaN(at)) search.problem = `${name}: takes a time such as 2026-11-21 or 2026-11-21T08:00`;
    else search.filters[name] = new Date(at).toISOString();
  } else search.filters[parameter] = value;
}

/** The text with one filter set, or without it where `value` is empty. */
export function withFilter(text: string, name: string, value: string): string {
  const others = text.split(/\s+/).filter((word) => word !== '' && !word.startsWith(`${name}:`));
  return [...others, ...(value === '' ? [] : [`${name}:${value}`])].join(' ');
}

export function filterIn(text: string, name: string): string {
  const word = text.split(/\s+/).find((one) => one.startsWith(`${name}:`));
  return word?.slice(name.length + 1) ?? '';
}

export interface Cursor {
  before: string;
  before_id: string;
}

/** Where the next page of a list begins; null: this was the last. */
export function nextCursor(pagination: { next_before: string | null; next_before_id: string | null }): Cursor | null {
  const { next_before: before, next_before_id: id } = pagination;
  return before === null || id === null ? null : { before, before_id: id };
}

export interface JournalPage {
  rows: MessageRow[];
  next: Cursor | null;
}

/** The queries of GET /messages that answer a search. */
export function journalQueries({ [EITHER]: number, ...others }: Record<string, string>): Record<string, string>[] {
  if (number === undefined) return [others];
  return SIDES.filter((side) => others[side] === undefined).map((side) => ({ ...others, [side]: number }));
}

export async function journalPage(
  filters: Record<string, string>,
  cursor: Cursor | null,
  limit: number,
  signal?: AbortSignal,
): Promise<JournalPage> {
  const pages = await Promise.all(
    journalQueries(filters).map(async (one) => {
      const query = { ...one, ...cursor, limit };
      const { data, pagination } = await dataOf(api.GET('/api/v1/messages', { params: { query }, signal }));
      return { rows: data, next: nextCursor(pagination) };
    }),
  );
  const [only] = pages;
  return pages.length === 1 && only !== undefined ? only : joined(pages);
}

/** Several lists, each the newest first, as one: down to the newest of their ends, below which a list may lack rows. */
function joined(pages: readonly JournalPage[]): JournalPage {
  const [next = null] = pages
    .flatMap((page) => page.next ?? [])
    .sort((a, b) => newerFirst(placeOfCursor(a), placeOfCursor(b)));
  const end = next === null ? '' : placeOfCursor(next);
  // A message from a number to itself is in both.
  const rows = new Map(pages.flatMap((page) => page.rows).map((row) => [placeOfRow(row), row]));
  const places = [...rows].filter(([place]) => place >= end).sort(([a], [b]) => newerFirst(a, b));
  return { rows: places.map(([, row]) => row), next };
}

/** A place in the journal, as text that is ordered as the journal is. */
const placeOfRow = ({ created_at: at, id }: MessageRow): string => `${at} ${id}`;
const placeOfCursor = ({ before: at, before_id: id }: Cursor): string => `${at} ${id}`;
const newerFirst = (a: string, b: string): number => (a < b ? 1 : -1);

const CSV_COLUMNS = [
  'id',
  'created_at',
  'direction',
  'from',
  'to',
  'type',
  'body',
  'status',
  'failure_category',
  'client_message_id',
] as const;

export const csvOfMessages = (rows: readonly MessageRow[]): string =>
  csvOf(
    CSV_COLUMNS,
    rows.map((row) => CSV_COLUMNS.map((name) => row[name])),
  );
