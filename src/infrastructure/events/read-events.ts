import { databaseClock } from '../../common/clock.js';
import { invalidField } from '../../common/common.errors.js';
import { cursorText, type EventCursor, parseCursor, timeOf } from './event-cursor.js';
import { eventsErrors } from './events.errors.js';
import type { Waited } from './waiting-readers.js';

const DAY_MS = 86_400_000;
/** A transaction may have begun to write this long before the cursor's event; its events must not be removed yet. */
const MARGIN_MS = 3_600_000;
/** A reader of rare events gets a new cursor this often, since a cursor is valid only while events are kept. */
const RENEWED_MS = DAY_MS;

/** The database's facts that decide whether a cursor is valid. Transaction ids are decimal. */
export interface ReadingState {
  identity: string;
  /** The first transaction whose events are certainly recorded; null: none are. */
  since: string | null;
  /** The last record of the reading is so old that it must be renewed. */
  stale: boolean;
  /** The next transaction id to be assigned. */
  nextTransaction: string;
}

export interface EventPage<Event> {
  /** In the order of their transactions; one more than requested if there are more. */
  events: Event[];
  /** The last examined event, of the requested types or not; null: there is none after the cursor. */
  last: EventCursor | null;
  /** The page examined as many events as it may. */
  full: boolean;
  /** Some committed events are withheld, because a transaction that began before theirs is still open. */
  held: boolean;
}

/** A log of events, each with the id of the transaction that wrote it. */
export interface EventLog<Event> {
  /** The owner of the events: a cursor of another log is not valid here. */
  owner: string;
  /** The owner's name in errors. */
  ownerText: string;
  keptDays: number;
  state(): Promise<ReadingState>;
  /**
   * Records the reading, in a write of its own.
   *
   * @returns the place before every transaction that may still write events.
   */
  note(): Promise<EventCursor>;
  /** Whether this database has exactly this event; then its history goes at least that far. */
  has(cursor: EventCursor): Promise<boolean>;
  /** The events after a place, from transactions with no open one before them, so that the order never changes. */
  page(after: EventCursor, limit: number): Promise<EventPage<Event>>;
  placeAt(event: Event): EventCursor;
  wait(after: EventCursor, ms: number): Promise<Waited>;
}

/** How a request waits. */
export interface Reader {
  /** Waits without the request's slot of its workspace, and takes a slot again afterwards. */
  waitOutside: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Aborted when the caller disconnects. */
  gone: AbortSignal;
  /**
   * Checks that the caller may still be answered after the wait.
   *
   * @throws the same errors as at the start of the request.
   */
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
 * @throws EVENT_CURSOR_EXPIRED (410), INVALID_REQUEST (400) where the cursor is not one of this log, RATE_LIMITED (429)
 * where too many wait.
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
    // Nothing follows an old cursor, so the reader gets a new one that is valid as long as events are kept. It is taken
    // before the page is read, so events that come meanwhile are in the page.
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
    // Events from before an interruption of the recording are incomplete.
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
