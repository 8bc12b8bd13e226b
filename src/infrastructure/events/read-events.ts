import { databaseClock } from '../../common/clock.js';
import { invalidField } from '../../common/common.errors.js';
import { cursorText, type EventCursor, parseCursor, timeOf } from './event-cursor.js';
import { eventsErrors } from './events.errors.js';
import type { Waited } from './waiting-readers.js';

const DAY_MS = 86_400_000;
/** What a transaction began to write before the cursor's event may be older than that; it must not be removed yet. */
const MARGIN_MS = 3_600_000;
/** A reader of events that are few gets a new place so often, for a place is good as long as events are kept. */
const RENEWED_MS = DAY_MS;

/** What decides whether a cursor is still good, as the database knows it. Transaction ids are decimal. */
export interface ReadingState {
  identity: string;
  /** The first transaction whose events are recorded for certain; null: none are. */
  since: string | null;
  /** The reading was noted so long ago that it has to be noted again. */
  stale: boolean;
  /** The first transaction that has not begun. */
  nextTransaction: string;
}

export interface EventPage<Event> {
  /** In the order of their transactions; one more than asked for where there are more. */
  events: Event[];
  /** The last one that was looked at, of the types or not; null: there is none behind the cursor. */
  last: EventCursor | null;
  /** As many were looked at as one page may. */
  full: boolean;
  /** Committed events that are not given yet, for a transaction that began before theirs is still open. */
  held: boolean;
}

/** A log of events, each with the id of the transaction that wrote it. */
export interface EventLog<Event> {
  /** Whose events they are: a cursor of another log is none of this one. */
  owner: string;
  /** As the caller calls them in an error. */
  ownerText: string;
  keptDays: number;
  state(): Promise<ReadingState>;
  /**
   * Notes the reading, by a write of its own.
   *
   * @returns the place before every transaction that may still write some.
   */
  note(): Promise<EventCursor>;
  /** Whether exactly this event is in this database: its history goes at least so far then. */
  has(cursor: EventCursor): Promise<boolean>;
  /** The events behind a place, of transactions before which none is open any more: the order never changes. */
  page(after: EventCursor, limit: number): Promise<EventPage<Event>>;
  placeAt(event: Event): EventCursor;
  wait(after: EventCursor, ms: number): Promise<Waited>;
}

/** How a request waits. */
export interface Reader {
  /** Runs the wait without what the request holds of its workspace's share, and has it again afterwards. */
  waitOutside: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Aborted when the caller has gone. */
  gone: AbortSignal;
  /** Whether the caller may still be answered after the wait. @throws as at the request's start. */
  confirm: () => Promise<void>;
}

export interface EventsRead<Event> {
  events: { event: Event; cursor: string }[];
  next: string;
  done: boolean;
}

/**
 * One page of a log, each event once, in the order of the transactions that wrote them.
 *
 * @throws EVENT_CURSOR_EXPIRED (410), INVALID_REQUEST (400) for what is no cursor of this log, RATE_LIMITED (429) where
 * too many wait.
 */
export async function readEvents<Event>(
  log: EventLog<Event>,
  { after: text, limit, wait }: { after?: string; limit: number; wait: number },
  { waitOutside, confirm }: Reader,
): Promise<EventsRead<Event>> {
  const state = await log.state();
  const place = { owner: log.owner, identity: state.identity };
  const given = text === undefined || text === 'now' ? text : parseCursor(text, place);
  if (given === null) throw invalidField('after', 'cursor', noCursor(log.ownerText));
  const noted = state.stale || text === 'now' ? await log.note() : null;
  const after = await placeOf(log, given, noted, state);
  let end = after;
  let page = await log.page(after, limit);
  if (page.last === null && timeOf(after) < databaseClock.now() - RENEWED_MS) {
    // Where nothing follows an old place: a new one that is good for as long as events are kept. It is before what the
    // page may see, so what came meanwhile is in the page.
    end = await log.note();
    page = await log.page(after, limit);
  }
  if (wait > 0 && page.events.length === 0 && !page.full) {
    const from = page.last ?? end;
    const waited = await waitOutside(() => log.wait(from, wait * 1_000));
    await confirm();
    end = waited.after;
    const { held } = page;
    page = waited.found ? await log.page(end, limit) : { events: [], last: null, full: false, held };
  }
  const events = page.events.slice(0, limit);
  const last = events.at(-1);
  const cut = page.events.length > limit;
  const next = cut && last !== undefined ? log.placeAt(last) : (page.last ?? end);
  return {
    events: events.map((event) => ({ event, cursor: cursorText(log.placeAt(event), place) })),
    next: cursorText(next, place),
    done: !cut && !page.full && !page.held,
  };
}

async function placeOf<Event>(
  log: EventLog<Event>,
  given: Given | 'now' | undefined,
  noted: EventCursor | null,
  { since, nextTransaction }: ReadingState,
): Promise<EventCursor> {
  if (given === 'now' || given === undefined) {
    // What is left from a time before the recording ended is not complete.
    if (noted !== null && (given === 'now' || since === null)) return noted;
    return { ...START, transaction: since ?? START.transaction };
  }
  const keptMs = log.keptDays * DAY_MS - MARGIN_MS;
  if (timeOf(given) < databaseClock.now() - keptMs) throw eventsErrors.EVENT_CURSOR_EXPIRED({ reason: 'retention' });
  const isForeign = given.moved || isLess(nextTransaction, given.transaction);
  if (isForeign && !(await log.has(given))) throw eventsErrors.EVENT_CURSOR_EXPIRED({ reason: 'database_changed' });
  if (since !== null && !isLess(given.transaction, since)) return given;
  throw eventsErrors.EVENT_CURSOR_EXPIRED({ reason: 'not_recorded' });
}

/** A cursor, and whether it was made on another server or history. */
type Given = EventCursor & { moved: boolean };

const noCursor = (owner: string): string =>
  `after must be \`next\` of an earlier answer to ${owner}, the \`cursor\` of one of its events, or \`now\`. ` +
  'Leave it out to begin with the oldest event that is kept.';

/** Before the first transaction. */
const START: EventCursor = { kind: 'transaction', transaction: '0', id: '00000000-0000-7000-8000-000000000000' };

const isLess = (transaction: string, other: string): boolean => BigInt(transaction) < BigInt(other);
