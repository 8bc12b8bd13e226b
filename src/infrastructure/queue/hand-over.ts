/** Between two lanes that are handed over: to take a lane and to release it is seven commits. */
const HAND_OVER_EVERY_MS = 100;
/** For so long no wake here takes back a lane that was handed over, so that another process gets it. */
const HANDED_OVER_MS = 100;

/** A lane that this process holds; all times are monotonic ms. */
interface HeldLane {
  lookAt: number;
  handOverAt: number;
  ignoreWakesUntil: number;
}

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
  private wasFull = false;
  private handedOverAt = -Infinity;

  constructor(private readonly options: HandOverOptions) {}

  /** Each look takes all that is free: another process may have more. */
  get isSaturated(): boolean {
    return this.options.isFull() || this.wasFull;
  }

  /** Call it at the end of each look. When the next one begins, some row has usually ended. */
  lookEnded(): void {
    this.wasFull = this.options.isFull();
  }

  /** When a lane that is taken now may be handed over. */
  timeFor(now: number): number {
    return now + this.options.afterMs();
  }

  /** Announces one of the lanes where it is time; the caller releases it. */
  next(held: readonly (readonly [string, HeldLane])[], now: number): string[] {
    if (!this.isSaturated || now - this.handedOverAt < HAND_OVER_EVERY_MS) return [];
    const found = held.find(([, { handOverAt, lookAt }]) => handOverAt <= now && lookAt <= now);
    if (found === undefined || !this.options.announce(found[0])) return [];
    this.handedOverAt = now;
    found[1].ignoreWakesUntil = now + HANDED_OVER_MS;
    return [found[0]];
  }
}
