import type { JournalPlace } from '../../webhook/events/journal.types.js';
import { orderKey, type OutgoingEvent, type Sink, SinkError } from '../sinks/sink.js';

/** The result of writing a page of events. */
export interface WrittenPage {
  /** The place of the last event up to which all are written; null: the first one is not. */
  cursor: JournalPlace | null;
  /** Events after the cursor that are written. */
  writtenAhead: string[];
  written: number;
  /** Events that can never be written. */
  lost: number;
  /** The first error; null: all events are written, or lost. */
  error: SinkError | null;
}

export interface PageOptions {
  /** Events written earlier. */
  writtenBefore: ReadonlySet<string>;
  /** The deadline by `performance.now()`: nothing is sent later. */
  notAfter: number;
  /** This process stops: running writes are awaited, and nothing more is sent. */
  isStopping: () => boolean;
}

const LEAST_MS = 500;

/**
 * Writes events in their order. Different conversations are written together; a failed event delays only the later ones
 * of its conversation. Events written after it are remembered, so that they are not written twice.
 */
export async function writePage(
  sink: Sink,
  events: readonly OutgoingEvent[],
  options: PageOptions,
): Promise<WrittenPage> {
  const done = new Set(options.writtenBefore);
  const lost = new Set<string>();
  let error: SinkError | null = null;
  let left = queuesOf(events.filter(({ id }) => !done.has(id)));
  while (left.length > 0) {
    const withinMs = options.notAfter - performance.now();
    if (options.isStopping() || withinMs < LEAST_MS || !sink.isOpen) {
      error ??= new SinkError(options.isStopping() ? 'stopping' : sink.isOpen ? 'timeout' : 'connection_closed');
      break;
    }
    const queues = left.slice(0, sink.maxAtOnce);
    const first = queues.flatMap(([event]) => (event === undefined ? [] : [event]));
    const outcomes = await sink.write(first, withinMs);
    const failed = new Set<OutgoingEvent[]>();
    for (const [index, queue] of queues.entries()) {
      const outcome = outcomes[index] ?? null;
      const event = queue.shift();
      if (event === undefined) continue;
      if (outcome === null) done.add(event.id);
      else if (outcome.never) lost.add(event.id);
      else {
        failed.add(queue);
        error ??= outcome;
      }
    }
    left = [...left.slice(sink.maxAtOnce), ...queues].filter((queue) => queue.length > 0 && !failed.has(queue));
  }
  const firstLeft = events.findIndex(({ id }) => !done.has(id) && !lost.has(id));
  const before = firstLeft === -1 ? events : events.slice(0, firstLeft);
  const last = before.at(-1);
  return {
    cursor: last === undefined ? null : { transaction: last.transaction, id: last.id },
    writtenAhead: events.slice(before.length).flatMap(({ id }) => (done.has(id) ? [id] : [])),
    written: events.filter(({ id }) => done.has(id) && !options.writtenBefore.has(id)).length,
    lost: before.filter(({ id }) => lost.has(id)).length,
    error,
  };
}

/** Grouped by order key, in the order of their first events. */
function queuesOf(events: readonly OutgoingEvent[]): OutgoingEvent[][] {
  const queues = new Map<string, OutgoingEvent[]>();
  for (const event of events) {
    const key = orderKey(event);
    const queue = queues.get(key);
    if (queue === undefined) queues.set(key, [event]);
    else queue.push(event);
  }
  return [...queues.values()];
}
