import { useCallback, useEffect, useRef, useState } from 'react';
import type { MessageRow } from './api.ts';
import { type HeraldEvent, useEvents } from './live.ts';
import { type Cursor, journalPage } from './search.ts';

const PAGE = 50;
/** Pages of new rows that are fetched to close the gap to those shown; beyond it the list begins again. */
const MAX_CATCH_UP = 4;
const REFRESH_MS = 400;

export interface Journal {
  rows: readonly MessageRow[];
  /** New rows that wait until the reader is at the top. */
  waiting: number;
  loading: boolean;
  hasMore: boolean;
  error: unknown;
  loadedAt: number;
  loadMore: () => void;
  showWaiting: () => void;
  retry: () => void;
}

interface State {
  rows: readonly MessageRow[];
  fresh: readonly MessageRow[];
  next: Cursor | null;
  loading: boolean;
  error: unknown;
  loadedAt: number;
}

const EMPTY: State = { rows: [], fresh: [], next: null, loading: true, error: null, loadedAt: 0 };

const NOTHING: State = { ...EMPTY, loading: false };

/** The messages that match, the newest first; new ones and new states come in by themselves. Null: none are asked for. */
export function useJournal(filters: Record<string, string> | null, atTop: () => boolean): Journal {
  const name = JSON.stringify(filters);
  const [state, setState] = useState<State>(EMPTY);
  const current = useRef(state);
  current.current = state;
  const life = useRef(new AbortController());
  const busy = useRef(false);

  const begin = useCallback(() => {
    life.current.abort();
    if (name === 'null') {
      setState(NOTHING);
      return;
    }
    const mine = new AbortController();
    life.current = mine;
    busy.current = true;
    setState((before) => ({ ...before, loading: true, error: null }));
    journalPage(JSON.parse(name) as Record<string, string>, null, PAGE, mine.signal)
      .then(({ rows, next }) => setState({ rows, fresh: [], next, loading: false, error: null, loadedAt: Date.now() }))
      .catch((error: unknown) => {
        if (!mine.signal.aborted) setState((before) => ({ ...before, loading: false, error }));
      })
      .finally(() => {
        if (life.current === mine) busy.current = false;
      });
  }, [name]);

  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    setState(EMPTY);
    begin();
    return () => {
      life.current.abort();
      // It would look for rows of the search before.
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [begin]);

  const loadMore = useCallback(() => {
    const { next } = current.current;
    if (busy.current || next === null) return;
    busy.current = true;
    const mine = life.current;
    setState((before) => ({ ...before, loading: true }));
    journalPage(JSON.parse(name) as Record<string, string>, next, PAGE, mine.signal)
      .then((page) =>
        setState((before) => ({ ...before, rows: [...before.rows, ...page.rows], next: page.next, loading: false })),
      )
      .catch((error: unknown) => {
        if (!mine.signal.aborted) setState((before) => ({ ...before, loading: false, error }));
      })
      .finally(() => {
        if (life.current === mine) busy.current = false;
      });
  }, [name]);

  const refresh = useCallback(async () => {
    const mine = life.current;
    const { rows, fresh, error } = current.current;
    if (error !== null) {
      begin();
      return;
    }
    const known = new Set([...fresh, ...rows].map(({ id }) => id));
    const found: MessageRow[] = [];
    let cursor: Cursor | null = null;
    for (let page = 0; page < MAX_CATCH_UP; page++) {
      const answer = await journalPage(JSON.parse(name) as Record<string, string>, cursor, PAGE, mine.signal);
      found.push(...answer.rows);
      cursor = answer.next;
      if (cursor === null || answer.rows.some(({ id }) => known.has(id))) break;
      if (page === MAX_CATCH_UP - 1) {
        begin();
        return;
      }
    }
    if (mine.signal.aborted) return;
    setState((before) => merged(before, found, atTop()));
  }, [name, begin, atTop]);

  const onEvents = useCallback(
    (events: readonly HeraldEvent[] | null) => {
      if (name === 'null') return;
      if (events !== null) {
        const changes = statusChanges(events);
        if (changes.size > 0)
          setState((before) => ({ ...before, rows: before.rows.map((row) => changed(row, changes)) }));
      }
      // Many events in a moment are one look.
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        refresh().catch(() => undefined);
      }, REFRESH_MS);
    },
    [refresh, name],
  );
  useEvents(onEvents);

  const showWaiting = useCallback(
    () =>
      setState((before) =>
        before.fresh.length === 0 ? before : { ...before, rows: [...before.fresh, ...before.rows], fresh: [] },
      ),
    [],
  );
  const { rows, fresh, next, loading, error, loadedAt } = state;
  const hasMore = next !== null;
  return { rows, waiting: fresh.length, loading, hasMore, error, loadedAt, loadMore, showWaiting, retry: begin };
}

function merged(before: State, found: readonly MessageRow[], atTop: boolean): State {
  const byId = new Map(found.map((row) => [row.id, row]));
  const known = new Set(before.rows.map(({ id }) => id));
  const rows = before.rows.map((row) => byId.get(row.id) ?? row);
  const held = new Map(before.fresh.map((row) => [row.id, row]));
  for (const row of found) if (!known.has(row.id)) held.set(row.id, row);
  const fresh = [...held.values()].sort((a, b) => b.created_at.localeCompare(a.created_at));
  const loadedAt = Date.now();
  return atTop ? { ...before, rows: [...fresh, ...rows], fresh: [], loadedAt } : { ...before, rows, fresh, loadedAt };
}

type Change = Pick<MessageRow, 'status' | 'failure_category'>;

function statusChanges(events: readonly HeraldEvent[]): Map<string, Change> {
  const changes = new Map<string, Change>();
  for (const event of events) {
    if (event.type !== 'message.status.updated') continue;
    const { message_id: id, status, failure_category } = event.data;
    changes.set(id, { status, failure_category });
  }
  return changes;
}

function changed(row: MessageRow, changes: Map<string, Change>): MessageRow {
  const change = changes.get(row.id);
  return change === undefined ? row : { ...row, ...change };
}
