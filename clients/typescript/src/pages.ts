import { HeraldConnectionError, HeraldError } from './errors.js';

interface Page<Item> {
  data: Item[];
  pagination: { next_before: string | null; next_before_id: string | null };
}

interface Place {
  before?: string;
  before_id?: string;
}

interface EventPage<Event> {
  data: Event[];
  next: string;
  done: boolean;
}

/** One page of a list. */
export interface ListPage<Item> {
  items: Item[];
  /** Of the page behind it; null on the last one. */
  next: string | null;
}

/** An iterator over all items, one request a page; `page` reads one page alone. */
export interface List<Item> extends AsyncGenerator<Item, void> {
  /** @param cursor `next` of the page before; without it the first one. `limit` of the filter says how many. */
  page(cursor?: string | null): Promise<ListPage<Item>>;
}

/** A list that can also be awaited: then it is its first page. */
export type AwaitableList<Item> = List<Item> & Promise<Item[]>;

/** Where a reader of events keeps its place, so that it goes on there after a restart. */
export interface CursorStore {
  /** Empty before the first event. */
  load(): Promise<string | null | undefined> | string | null | undefined;
  /** Called once your loop has asked for the next event: what `load` returns was handled. */
  save(cursor: string): Promise<void> | void;
}

export interface FollowOptions {
  /** Milliseconds between two requests where nothing more is there. Left out: the server is asked to wait for the next event. */
  everyMs?: number;
  /** Aborted, it ends: at once while it waits, else after the event under way. */
  signal?: AbortSignal;
  /** Keeps the place; it goes before `after`. */
  store?: CursorStore;
  /** What keeps it from reading, for your log; it goes on by itself. */
  onInterruption?: (error: HeraldError | HeraldConnectionError) => void;
}

/** The query of GET /events, of both APIs. */
interface EventsQuery {
  after: string | undefined;
  types: string | undefined;
  limit: number;
  wait: number;
}

/**
 * Reads events as `everyEvent`; a reader that follows them lets the server wait, for so many seconds.
 *
 * @param read one page
 */
export function eventReader<Event extends { cursor: string }>(
  read: (query: EventsQuery, signal: { signal?: AbortSignal }) => Promise<EventPage<Event>>,
  waitSeconds: number,
) {
  return (
    { after: start, types, limit = 250 }: { after?: string; types?: readonly string[]; limit?: number },
    follow?: FollowOptions,
  ): AsyncGenerator<Event, void> => {
    const wait = follow === undefined || follow.everyMs !== undefined ? 0 : waitSeconds;
    const signal = follow?.signal && { signal: follow.signal };
    return everyEvent(
      (after) => read({ after, types: types?.join(','), limit, wait }, { ...signal }),
      start,
      // The server has waited already.
      wait > 0 ? { everyMs: 0, ...follow } : follow,
    );
  };
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Events in their order, one request a page.
 *
 * @param follow go on where nothing more is there, and after interruptions; without it the end of what is there ends it
 */
async function* everyEvent<Event extends { cursor: string }>(
  read: (after: string | undefined) => Promise<EventPage<Event>>,
  start: string | undefined,
  follow?: FollowOptions,
): AsyncGenerator<Event, void> {
  const { store, signal } = follow ?? {};
  const isAborted = (): boolean => signal?.aborted === true;
  for (let after = (await store?.load()) ?? start; ;) {
    const page = await (follow === undefined ? read(after) : readUntilDone(() => read(after), follow));
    if (page === null) return;
    for (const event of page.data) {
      if (isAborted()) return;
      yield event;
      await store?.save(event.cursor);
    }
    // The same place again: what follows is stored, and not given yet.
    const rests = page.done || page.next === after;
    after = page.next;
    if (!rests) continue;
    if (follow === undefined) return;
    await pause(follow.everyMs ?? 1_000, signal);
    if (isAborted()) return;
  }
}

/** Tries again until it has an answer: restarts and lost networks are not the end. Null: it was aborted. */
async function readUntilDone<Answer>(
  read: () => Promise<Answer>,
  { signal, onInterruption }: FollowOptions,
): Promise<Answer | null> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    try {
      if (signal?.aborted !== true) return await read();
    } catch (error) {
      if (signal?.aborted === true) return null;
      if (!isInterruption(error)) throw error;
      onInterruption?.(error);
      const asked = error instanceof HeraldError ? error.retryAfterSeconds : null;
      // Up to half of it at random, so that readers do not come back together.
      await pause(Math.max((asked ?? 0) * 1_000, pauseMs * (1 + Math.random() / 2)), signal);
    }
    if (signal?.aborted === true) return null;
  }
}

function isInterruption(error: unknown): error is HeraldError | HeraldConnectionError {
  return (
    error instanceof HeraldConnectionError ||
    (error instanceof HeraldError && (error.status >= 500 || error.status === 429))
  );
}

/** Resolves at once where it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}

/**
 * Every item of a list, newest first, one request a page. Stop when you have enough: no further page is read.
 *
 * @param read one page from a place on; the first from the beginning
 */
export function everyItem<Item>(read: (place: Place) => Promise<Page<Item>>): List<Item> {
  const page = async (cursor?: string | null): Promise<ListPage<Item>> => {
    const { data, pagination } = await read(placeOf(cursor));
    const { next_before: before, next_before_id: id } = pagination;
    return { items: data, next: before === null || id === null ? null : `${before}~${id}` };
  };
  return Object.assign(itemsOf(page), { page });
}

/**
 * Every item of a list, page by page; awaited, the items of the first page.
 *
 * @param page one page from a cursor on; the first without one
 */
export function everyPage<Item>(page: List<Item>['page']): AwaitableList<Item> {
  let first: Promise<Item[]> | undefined;
  const awaited = (): Promise<Item[]> => (first ??= page().then(({ items }) => items));
  const promise: Omit<Promise<Item[]>, typeof Symbol.toStringTag> = {
    // oxlint-disable-next-line unicorn/no-thenable -- to be awaited is the point
    then: (...handlers) => awaited().then(...handlers),
    catch: (handler) => awaited().catch(handler),
    finally: (handler) => awaited().finally(handler),
  };
  return Object.assign(itemsOf(page), { page }, promise) as AwaitableList<Item>;
}

async function* itemsOf<Item>(page: List<Item>['page']): AsyncGenerator<Item, void> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { items, next } = await page(cursor);
    yield* items;
    cursor = next;
  }
}

/** @throws TypeError for a cursor of another list */
function placeOf(cursor: string | null | undefined): Place {
  if (cursor === null || cursor === undefined) return {};
  const [before, before_id] = cursor.split('~');
  if (before === undefined || before_id === undefined) throw new TypeError('cursor is not the `next` of a page.');
  return { before, before_id };
}
