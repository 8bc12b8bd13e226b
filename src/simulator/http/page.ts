import { GraphError } from '../graph-error.js';
import type { Call } from './call.js';

const DEFAULT_LIMIT = 25;
const LARGEST_LIMIT = 1000;

export interface Page<T> {
  data: T[];
  paging?: { cursors: { before: string; after: string }; next?: string; previous?: string };
}

/**
 * Cuts a Graph API page out of a list: `limit` (25 by default), `after`, `before`. `next` and `previous` are there only
 * where there is more, which is how a caller knows when to stop.
 * @throws GraphError 100 for a limit or cursor that is none
 */
export function pageOf<T>(items: readonly T[], idOf: (item: T) => string, call: Call): Page<T> {
  const limit = Number(call.query.get('limit') ?? DEFAULT_LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT) {
    throw new GraphError(100, { message: '(#100) Param limit must be a number between 1 and 1000.' });
  }
  const after = call.query.get('after');
  const before = call.query.get('before');
  let from = 0;
  if (after !== null) from = positionOf(items, idOf, after) + 1;
  else if (before !== null) from = Math.max(0, positionOf(items, idOf, before) - limit);
  const end = before === null || after !== null ? from + limit : positionOf(items, idOf, before);
  const data = items.slice(from, end);
  const [first] = data;
  const last = data.at(-1);
  if (first === undefined || last === undefined) return { data };
  const cursors = { before: cursorOf(idOf(first)), after: cursorOf(idOf(last)) };
  return {
    data,
    paging: {
      cursors,
      ...(end < items.length ? { next: linkTo(call, 'after', cursors.after) } : {}),
      ...(from > 0 ? { previous: linkTo(call, 'before', cursors.before) } : {}),
    },
  };
}

function cursorOf(id: string): string {
  return Buffer.from(id).toString('base64');
}

function positionOf<T>(items: readonly T[], idOf: (item: T) => string, cursor: string): number {
  const id = Buffer.from(cursor, 'base64').toString();
  const position = items.findIndex((item) => idOf(item) === id);
  if (position === -1) throw new GraphError(100, { message: '(#100) Invalid cursor.' });
  return position;
}

function linkTo(call: Call, name: 'after' | 'before', cursor: string): string {
  const query = new URLSearchParams(call.query);
  for (const old of ['after', 'before', 'access_token']) query.delete(old);
  query.set(name, cursor);
  const path = (call.request.url ?? '').split('?')[0];
  return `http://${call.request.headers.host ?? 'localhost'}${path}?${query.toString()}`;
}
