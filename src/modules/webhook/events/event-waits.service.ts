import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { describeError } from '../../../common/describe-error.js';
import { Drain } from '../../../infrastructure/http/drain.js';
import { Metrics } from '../../../infrastructure/operations/metrics/metrics.js';
import { ratesErrors } from '../../../infrastructure/rates/rates.errors.js';
import type { EventCursor } from './event-cursor.js';
import { EventsRepository, type EventPlace } from './events.repository.js';

/** Between two looks: an event is seen this long after its commit at the latest. */
const LOOK_EVERY_MS = 200;
/** Requests of one process that wait, and those of one workspace. */
export const MAX_WAITING = 1_000;
export const MAX_OF_WORKSPACE = 100;
const RETRY_AFTER_SECONDS = 1;

export interface Waited {
  /** Whether an event is behind the place; false: the time is over, the caller has gone, or the process stops. */
  found: boolean;
  /** The place that was given, or behind events of other types that came meanwhile. */
  after: EventCursor;
}

interface Waiting extends EventPlace {
  end: (found: boolean) => void;
}

/** Readers of GET /events that wait: one statement at a time looks for all of this process. */
@Injectable()
export class EventWaits implements OnModuleDestroy {
  private readonly logger = new Logger(EventWaits.name);
  private readonly waiting = new Set<Waiting>();
  private readonly ofWorkspace = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly events: EventsRepository,
    private readonly drain: Drain,
    metrics: Metrics,
  ) {
    drain.closed.addEventListener('abort', () => this.endAll());
    metrics.add({
      name: 'event_readers_waiting',
      help: `Requests GET /events of this process that wait for an event; beyond ${MAX_WAITING} the answer is 429.`,
      collect: () => Promise.resolve([{ value: this.waiting.size }]),
    });
  }

  onModuleDestroy(): void {
    clearTimeout(this.timer);
    this.endAll();
  }

  /**
   * Resolves as soon as an event is behind the place, and at the latest after `ms`, or when the caller goes or the process
   * stops.
   *
   * @throws RATE_LIMITED (429) where as many wait already as may.
   */
  async wait(place: EventPlace, ms: number, gone: AbortSignal): Promise<Waited> {
    const { organizationId } = place;
    if (this.drain.closed.aborted || gone.aborted) return { found: false, after: place.after };
    const ofWorkspace = this.ofWorkspace.get(organizationId) ?? 0;
    if (this.waiting.size >= MAX_WAITING || ofWorkspace >= MAX_OF_WORKSPACE) {
      throw ratesErrors.RATE_LIMITED({ retryAfterSeconds: RETRY_AFTER_SECONDS, scope: 'waiting_readers' });
    }
    this.ofWorkspace.set(organizationId, ofWorkspace + 1);
    const waiting: Waiting = { ...place, end: () => undefined };
    const found = new Promise<boolean>((resolve) => (waiting.end = resolve));
    const end = (): void => waiting.end(false);
    const timer = setTimeout(end, ms);
    gone.addEventListener('abort', end);
    this.waiting.add(waiting);
    this.timer ??= setTimeout(() => void this.look(), LOOK_EVERY_MS);
    try {
      return { found: await found, after: waiting.after };
    } finally {
      clearTimeout(timer);
      this.waiting.delete(waiting);
      this.leave(organizationId);
    }
  }

  private endAll(): void {
    for (const { end } of this.waiting) end(false);
  }

  private leave(organizationId: string): void {
    const left = (this.ofWorkspace.get(organizationId) ?? 0) - 1;
    if (left > 0) this.ofWorkspace.set(organizationId, left);
    else this.ofWorkspace.delete(organizationId);
  }

  private async look(): Promise<void> {
    const startedAt = performance.now();
    const places = [...this.waiting];
    try {
      for (const { index, matched, last } of places.length === 0 ? [] : await this.events.look(places)) {
        const waiting = places[index];
        if (matched) waiting?.end(true);
        else if (waiting !== undefined) waiting.after = last;
      }
    } catch (error) {
      this.logger.warn(`waiting readers of events were not looked for: ${describeError(error)}`);
    }
    this.timer = undefined;
    if (this.waiting.size === 0 || this.drain.closed.aborted) return;
    this.timer = setTimeout(() => void this.look(), Math.max(0, LOOK_EVERY_MS - (performance.now() - startedAt)));
  }
}
