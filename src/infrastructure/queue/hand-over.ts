import type { Lane } from './lane-state.js';

/** Between two lanes that are handed over: to announce one, release it and take it is seven commits of the database. */
const HAND_OVER_EVERY_MS = 100;

export interface HandOverOptions {
  /** No row more can be worked on at this moment. */
  isFull: () => boolean;
  /** A lane may be handed over when it has been held for this long. */
  afterMs: () => number;
  /** Tells the other processes; false where that cannot be done now. */
  announce: (laneKey: string) => boolean;
}

/** A process without free capacity gives lanes that may have due rows to other processes, one after the other. */
export class HandOver {
  /** When the last look ended, no row more could be worked on: it took all that was free. */
  private lookEndedFull = false;
  private handedOverAt = -Infinity;

  constructor(private readonly options: HandOverOptions) {}

  /**
   * Full now, or at the end of the last look: between two looks some row has usually ended, and the next look takes that place, too.
   * Another process may have more free places.
   */
  get isSaturated(): boolean {
    return this.options.isFull() || this.lookEndedFull;
  }

  /** Call it at the end of each look. */
  lookEnded(): void {
    this.lookEndedFull = this.options.isFull();
  }

  /** When a lane that is taken now may be handed over. */
  timeIfTakenAt(now: number): number {
    return now + this.options.afterMs();
  }

  /** Announces one of the lanes where it is time; the caller releases it. */
  announceNext(held: readonly (readonly [string, Lane])[], now: number): string[] {
    if (!this.isSaturated || now - this.handedOverAt < HAND_OVER_EVERY_MS) return [];
    const found = held.find(([, { handOverAt, lookAt }]) => handOverAt <= now && lookAt <= now);
    if (found === undefined || !this.options.announce(found[0])) return [];
    this.handedOverAt = now;
    found[1].handOver(now);
    return [found[0]];
  }
}
