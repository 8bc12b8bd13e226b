import { Logger, type OnModuleDestroy } from '@nestjs/common';
import { describeError } from '../../common/describe-error.js';
import type { Drain } from '../http/drain.js';
import { ratesErrors } from '../rates/rates.errors.js';
import type { EventCursor } from './event-cursor.js';

/** Polling interval: an event is found at most this long after its commit. */
const LOOK_EVERY_MS = 200;
const RETRY_AFTER_SECONDS = 1;

/** Limits of waiting requests: in one process, and for one share. */
export interface WaitLimits {
  inAll: number;
  ofShare: number;
}

export interface Waited {
  /** Whether there is an event after the place; false: time is up, the caller has gone, or the process stops. */
  found: boolean;
  /** The given place, or one after events of other types that came meanwhile. */
  after: EventCursor;
}

/** The result for one of the examined places. */
export interface Look {
  index: number;
  /** An event of the requested types, or so many others that the reader should read a page. */
  matched: boolean;
  last: EventCursor;
}

interface Waiting<Place> {
  place: Place;
  end: (found: boolean) => void;
}

/** Waiting readers of events: one statement at a time polls for all of this process. */
export class WaitingReaders<Place extends { after: EventCursor }> implements OnModuleDestroy {
  private readonly logger = new Logger(WaitingReaders.name);
  private readonly waiting = new Set<Waiting<Place>>();
  private readonly ofShare = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  /** @param lookBehind returns those of the places that have events after them */
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
   * Resolves when there is an event after the place, at the latest after `ms`, or when the caller disconnects or the
   * process stops.
   *
   * @param share the workspace or key whose limit applies
   * @throws RATE_LIMITED (429) where too many wait already.
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
