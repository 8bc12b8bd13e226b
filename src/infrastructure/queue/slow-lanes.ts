import { isOutOfTime } from '../database/database-faults.js';

/** A claim that takes less shows that its lanes are not slow; the time of a suspect's claim. */
const QUICK_MS = 250;
/** A shared claim that takes so long makes its lanes suspects: until then a lane is still busy with what its last claim brought. */
const LONG_MS = 1_000;
/** Not more often because of claims that brought their rows: the database may be slow for all lanes. */
const SUSPECT_EVERY_MS = 10_000;
/** So many claims of suspects out of time, one after the other: the database is slow, and no lane is to blame. */
const MAX_SLOW_IN_A_ROW = 8;

type Mark = 'suspect' | 'slow';

/** A claim of one lane, beside the shared ones. */
interface AloneClaim<W> {
  waiting: W;
  /** The statement's time; default: that of every statement. */
  withinMs: number | undefined;
  /** Call it once the claim has ended. */
  ended: () => void;
}

/**
 * Which lanes are claimed alone, so that one whose rows take long to find does not keep the others from theirs.
 *
 * | A lane is           | and claimed                         | Its claim was quick | took long       | ran out of time, which does nothing |
 * | ------------------- | ----------------------------------- | ------------------- | --------------- | ----------------------------------- |
 * | shared              | with others                         | shared              | suspect (1 s)   | suspect, where no lane is to blame  |
 * | shared              | with no other, or as one to blame   | shared              | slow (1 s)      | slow                                |
 * | suspect             | alone, within 250 ms                | shared              | slow (250 ms)   | slow                                |
 * | slow                | alone, in the time of any statement | shared              | slow            | slow                                |
 *
 * After eight claims out of time in a row all lanes are shared.
 */
export class SlowLanes<W extends { lane: { key: string } }> {
  private readonly marks = new Map<string, Mark>();
  private waiting: W[] = [];
  private readonly underWay = new Set<Mark>();
  private slowInARow = 0;
  private suspectedAt = -Infinity;

  get isUnderWay(): boolean {
    return this.underWay.size > 0;
  }

  /** @returns false where the lane is shared. */
  add(waiting: W): boolean {
    if (!this.marks.has(waiting.lane.key)) return false;
    this.waiting.push(waiting);
    return true;
  }

  /** One suspect and one slow lane at a time, so that all of them take two connections; of each that which waits longest. */
  next(): AloneClaim<W> | undefined {
    for (const mark of ['suspect', 'slow'] as const) {
      const found = this.waiting.find(({ lane }) => this.marks.get(lane.key) === mark);
      if (this.underWay.has(mark) || found === undefined) continue;
      this.waiting = this.waiting.filter((each) => each !== found);
      this.underWay.add(mark);
      const ended = (): void => void this.underWay.delete(mark);
      return { waiting: found, withinMs: mark === 'suspect' ? QUICK_MS : undefined, ended };
    }
    return undefined;
  }

  /** A claim that they shared ran out of time: each is claimed again, alone. */
  suspect(shared: readonly W[]): void {
    for (const { lane } of shared) this.marks.set(lane.key, 'suspect');
    this.waiting.push(...shared);
  }

  /**
   * Notes the claim of these lanes, which ended at `now`, and what each answered.
   *
   * @returns those that waited for a claim alone, and are shared again.
   */
  note(claimed: readonly W[], answers: readonly unknown[], tookMs: number, now: number): W[] {
    const late = claimed.filter((_, n) => isOutOfTime(answers[n]));
    const ended = claimed.filter((_, n) => !(answers[n] instanceof Error));
    if (ended.length > 0) this.slowInARow = 0;
    for (const { lane } of ended) {
      if (tookMs < QUICK_MS) this.marks.delete(lane.key);
      else if (claimed.length === 1 && (tookMs >= LONG_MS || this.marks.has(lane.key)))
        this.marks.set(lane.key, 'slow');
    }
    if (ended.length > 1 && late.length === 0 && tookMs >= LONG_MS && now >= this.suspectedAt + SUSPECT_EVERY_MS) {
      this.suspectedAt = now;
      for (const { lane } of ended) this.marks.set(lane.key, 'suspect');
    }
    // Of many that failed together none is known to be the slow one.
    if (claimed.length > 1 && ended.length === 0) return [];
    for (const { lane } of late) this.marks.set(lane.key, 'slow');
    this.slowInARow += late.length;
    if (this.slowInARow < MAX_SLOW_IN_A_ROW) return [];
    this.slowInARow = 0;
    this.marks.clear();
    return this.takeAll();
  }

  takeAll(): W[] {
    return this.waiting.splice(0);
  }
}
