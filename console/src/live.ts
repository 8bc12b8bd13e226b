import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import { api, ApiError, dataOf, type Schemas } from './api.ts';

export type HeraldEvent = Schemas['EventsResponse']['data'][number];
/** `polling`: the key may not read events, so pages ask again by themselves. */
export type LiveState = 'connecting' | 'live' | 'polling' | 'reconnecting';

const WAIT_SECONDS = 20;
const RETRY_MS = 1_500;
const POLL_MS = 10_000;
const GATHER_MS = 700;
const EVENTS_LIMIT = 250;

let state: LiveState = 'connecting';
const stateListeners = new Set<() => void>();
const listeners = new Set<(events: readonly HeraldEvent[] | null) => void>();

function setState(next: LiveState): void {
  if (state === next) return;
  state = next;
  for (const listener of stateListeners) listener();
}

function tell(events: readonly HeraldEvent[] | null): void {
  for (const listener of listeners) listener(events);
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Follows the workspace's events until `signal` ends it. */
async function follow(signal: AbortSignal): Promise<void> {
  let after = 'now';
  while (!signal.aborted) {
    try {
      const query = { after, limit: EVENTS_LIMIT, ...(after !== 'now' && { wait: WAIT_SECONDS }) };
      const answer = await dataOf(api.GET('/api/v1/events', { params: { query }, signal }));
      after = answer.next;
      // What happened before, or while the connection was away, is in the lists, not in the events; those that the pages
      // have may have been read earlier.
      if (state !== 'live') tell(null);
      setState('live');
      if (answer.data.length > 0) {
        tell(answer.data);
        // What follows within a moment comes as one page, and is one refresh of each list.
        await pause(GATHER_MS, signal);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status >= 400 && error.status < 429) after = 'now';
      setState('reconnecting');
      await pause(RETRY_MS, signal);
    }
  }
}

async function poll(signal: AbortSignal): Promise<void> {
  setState('polling');
  while (!signal.aborted) {
    await pause(POLL_MS, signal);
    if (!signal.aborted) tell(null);
  }
}

/** One connection for the whole page, made anew for another key. */
export function useLiveConnection(key: string | null, mayReadEvents: boolean): void {
  useEffect(() => {
    if (key === null) return undefined;
    const ending = new AbortController();
    state = 'connecting';
    void (mayReadEvents ? follow(ending.signal) : poll(ending.signal));
    return () => ending.abort();
  }, [key, mayReadEvents]);
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (listener) => {
      stateListeners.add(listener);
      return () => stateListeners.delete(listener);
    },
    () => state,
  );
}

/** `onChange` gets the events, or null where anything may have changed. */
export function useEvents(onChange: (events: readonly HeraldEvent[] | null) => void): void {
  useEffect(() => {
    listeners.add(onChange);
    return () => {
      listeners.delete(onChange);
    };
  }, [onChange]);
}

/**
 * Reads again what a page shows, where events tell of it, or anything may have changed.
 *
 * @param isAbout which events do. Default: all of them.
 */
export function useFresh(refetch: () => unknown, isAbout: (type: HeraldEvent['type']) => boolean = () => true): void {
  const latest = useRef({ refetch, isAbout });
  latest.current = { refetch, isAbout };
  useEvents(
    useCallback((events) => {
      if (events === null || events.some(({ type }) => latest.current.isAbout(type))) void latest.current.refetch();
    }, []),
  );
}
