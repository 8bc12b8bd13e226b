import { Logger, type OnModuleDestroy } from '@nestjs/common';
import { describeError } from '../../common/describe-error.js';
import type { Drain } from '../http/drain.js';
import { ratesErrors } from '../rates/rates.errors.js';
import type { EventCursor } from './event-cursor.js';

/** Between two looks: an event is seen this long after its commit at the latest. */
const LOOK_EVERY_MS = 200;
const RETRY_AFTER_SECONDS = 1;

/** How many requests of one process may wait, and how many of those whose share is the same. */
export interface WaitLimits {
  inAll: number;
  ofShare: number;
}

export interface Waited {
  /** Whether an event is behind the place; false: the time is over, the caller has gone, or the process stops. */
  found: boolean;
  /** The place that was given, or behind events of other types that came meanwhile. */
  after: EventCursor;
}

/** What is behind one of the places that were looked at. */
export interface Look {
  index: number;
  /** An event of the types, or so many others that the reader had better read a page. */
  matched: boolean;
  last: EventCursor;
}

interface Waiting<Place> {
  place: Place;
  end: (found: boolean) => void;
}

/** Readers of events that wait: one statement at a time looks for all of this process. */
export class WaitingReaders<Place extends { after: EventCursor }> implements OnModuleDestroy {
  private readonly logger = new Logger(WaitingReaders.name);
  private readonly waiting = new Set<Waiting<Place>>();
  private readonly ofShare = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  /** @param lookBehind those of the places that something is behind */
  constructor(
    private readonly lookBehind: (places: readonly Place[]) => Promise<Look[]>,
    private readonly limits: WaitLimits,
    private readonly drain: Drain,
  ) {
    drain.closed.addEventListener('abort', () => this.endAll());
  }

  get count(): number {
    return this.waiting.size;
  }

  onModuleDestroy(): void {
    clearTimeout(this.timer);
    this.endAll();
  }

  /**
   * Resolves as soon as an event is behind the place, and at the latest after `ms`, or when the caller goes or the process
   * stops.
   *
   * @param share the workspace or key as one of whose readers it counts
   * @throws RATE_LIMITED (429) where as many wait already as may.
   */
  async wait(share: string, place: Place, ms: number, gone: AbortSignal): Promise<Waited> {
    if (this.drain.closed.aborted || gone.aborted) return { found: false, after: place.after };
    const ofShare = this.ofShare.get(share) ?? 0;
    if (this.waiting.size >= this.limits.inAll || ofShare >= this.limits.ofShare) {
      throw ratesErrors.RATE_LIMITED({ retryAfterSeconds: RETRY_AFTER_SECONDS, scope: 'waiting_readers' });
    }
    this.ofShare.set(share, ofShare + 1);
    const waiting: Waiting<Place> = { place: { ...place }, end: () => undefined };
    const found = new Promise<boolean>((resolve) => (waiting.end = resolve));
    const end = (): void => waiting.end(false);
    const timer = setTimeout(end, ms);
    gone.addEventListener('abort', end);
    this.waiting.add(waiting);
    this.timer ??= setTimeout(() => void this.look(), LOOK_EVERY_MS);
    try {
      return { found: await found, after: waiting.place.after };
    } finally {
      clearTimeout(timer);
      this.waiting.delete(waiting);
      this.leave(share);
    }
  }

  private endAll(): void {
    for (const { end } of this.waiting) end(false);
  }

  private leave(share: string): void {
    const left = (this.ofShare.get(share) ?? 0) - 1;
    if (left > 0) this.ofShare.set(share, left);
    else this.ofShare.delete(share);
  }

  private async look(): Promise<void> {
    const startedAt = performance.now();
    const waiting = [...this.waiting];
    try {
      const looks = waiting.length === 0 ? [] : await this.lookBehind(waiting.map(({ place }) => place));
      for (const { index, matched, last } of looks) {
        const reader = waiting[index];
        if (matched) reader?.end(true);
        else if (reader !== undefined) reader.place.after = last;
      }
    } catch (error) {
      this.logger.warn(`waiting readers of events were not looked for: ${describeError(error)}`);
    }
    this.timer = undefined;
    if (this.waiting.size === 0 || this.drain.closed.aborted) return;
    this.timer = setTimeout(() => void this.look(), Math.max(0, LOOK_EVERY_MS - (performance.now() - startedAt)));
  }
}
