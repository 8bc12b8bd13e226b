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

export interface FollowOptions {
  /** Milliseconds between two requests where nothing more is there. Left out: the server is asked to wait for the next event. */
  everyMs?: number;
  /** Aborted, it ends: at once while it waits, else after the event under way. */
  signal?: AbortSignal;
}

/**
 * Events in their order, one request a page.
 *
 * @param follow go on where nothing more is there; without it the end of what is there ends it
 */
export async function* everyEvent<Event>(
  read: (after: string | undefined) => Promise<EventPage<Event>>,
  start: string | undefined,
  follow?: FollowOptions,
): AsyncGenerator<Event, void> {
  for (let after = start; ;) {
    const page = await read(after).catch((error: unknown) => {
      if (follow?.signal?.aborted === true) return null;
      throw error;
    });
    if (page === null) return;
    const { data, next, done } = page;
    for (const event of data) {
      if (follow?.signal?.aborted === true) return;
      yield event;
    }
    // The same place again: what follows is stored, and not given yet.
    const rests = done || next === after;
    after = next;
    if (!rests) continue;
    if (follow === undefined) return;
    await pause(follow.everyMs ?? 1_000, follow.signal);
    if (follow.signal?.aborted === true) return;
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
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
export async function* everyItem<Item>(read: (place: Place) => Promise<Page<Item>>): AsyncGenerator<Item, void> {
  let place: Place = {};
  for (;;) {
    const { data, pagination } = await read(place);
    yield* data;
    const { next_before: before, next_before_id: before_id } = pagination;
    if (before === null || before_id === null) return;
    place = { before, before_id };
  }
}
