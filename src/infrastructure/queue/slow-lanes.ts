/** How a lane is claimed: together with all others that wait, or alone. */
export type Claiming = 'shared' | 'suspect' | 'slow';

/** The result of a lane's claim. `failed`: an error that does not concern its time. */
export type ClaimTime = 'in_time' | 'out_of_time' | 'failed';

/** A claim faster than this shows that its lanes are not slow; also the time limit for a suspect lane. */
const QUICK_MS = 250;
/** The minimum time limit of a shared claim. */
const SHARED_MS = 1_000;
const MAX_PATIENCE_MS = 2_000;
/** After this many claims of single lanes in a row ran out of time, the database is slow rather than any lane. */
const MAX_SLOW_IN_A_ROW = 8;

/**
 * Which lanes of a kind are claimed alone: a lane whose rows take long to find must not delay the others.
 *
 * | A lane is | Its claim                                                                          | Then it is |
 * | --------- | ---------------------------------------------------------------------------------- | ---------- |
 * | `shared`  | takes `patienceMs` or longer; or all of it, of several lanes, runs out of time      | `suspect`  |
 * | `shared`  | the same, and the lane was alone in it; or only some of its lanes ran out of time   | `slow`     |
 * | `suspect` | runs out of its 250 ms                                                             | `slow`     |
 * | each      | takes less than 250 ms                                                             | `shared`   |
 *
 * Any other claim changes nothing; after `MAX_SLOW_IN_A_ROW` all lanes are `shared`.
 *
 * The patience starts at 250 ms. If the whole database is busy, no single lane is the cause: so each suspicion doubles
 * the patience. A slow database makes it unlimited, until a shared claim is quick again.
 */
export class SlowLanes {
  private readonly alone = new Map<string, 'suspect' | 'slow'>();
  private patienceMs = QUICK_MS;
  private slowInARow = 0;

  /** No lane is claimed alone. */
  get isEmpty(): boolean {
    return this.alone.size === 0;
  }

  of(laneKey: string): Claiming {
    return this.alone.get(laneKey) ?? 'shared';
  }

  /** The time limit of a claim's statement; undefined: that of every statement. */
  withinMs(claiming: Claiming): number | undefined {
    if (claiming === 'suspect') return QUICK_MS;
    return claiming === 'shared' && this.patienceMs <= MAX_PATIENCE_MS
      ? Math.max(SHARED_MS, this.patienceMs)
      : undefined;
  }

  /** Records the result of a claim of these lanes. */
  claimed(claiming: Claiming, lanes: readonly { key: string; time: ClaimTime }[], tookMs: number): void {
    const late = lanes.filter(({ time }) => time === 'out_of_time');
    const inTime = lanes.filter(({ time }) => time === 'in_time');
    if (inTime.length > 0) this.slowInARow = 0;
    if (tookMs < QUICK_MS) {
      for (const { key } of inTime) this.alone.delete(key);
      if (claiming === 'shared' && inTime.length > 0) this.patienceMs = QUICK_MS;
    }
    // If all of several lanes were late, none is known to be the slow one.
    if (lanes.length > 1 && inTime.length === 0) return this.suspect(late);
    for (const { key } of late) this.late(key, lanes.length === 1);
    if (claiming !== 'shared' || late.length > 0 || tookMs < this.patienceMs) return;
    if (lanes.length > 1) this.suspect(inTime);
    else for (const { key } of inTime) this.alone.set(key, 'slow');
  }

  private suspect(lanes: readonly { key: string }[]): void {
    if (lanes.length === 0) return;
    for (const { key } of lanes) this.alone.set(key, 'suspect');
    this.patienceMs = this.patienceMs < MAX_PATIENCE_MS ? 2 * this.patienceMs : Infinity;
  }

  private late(laneKey: string, wasAlone: boolean): void {
    this.alone.set(laneKey, 'slow');
    if (!wasAlone || ++this.slowInARow < MAX_SLOW_IN_A_ROW) return;
    this.alone.clear();
    this.slowInARow = 0;
    this.patienceMs = Infinity;
  }
}
