import type { Clock } from '../../common/clock.js';
import { isOutOfTime } from '../database/database-faults.js';
import { halvesOf } from '../database/group-commit.js';
import type { Claim, HoldRequest } from './lane-hold.js';
import { errorOf, type QueueKind } from './queue-kind.js';

/** The time of a half; and a claim that takes less shows that its lanes are not slow. Seven halvings find one slow lane of a hundred. */
const SLOW_MS = 250;
/** From the first claim that was out of time: where each half is slow, too, the database is, and no lane is to blame. */
const MAX_HALVING_MS = 2_500;

interface LaneClaimsOptions<T> {
  kind: Pick<QueueKind<T>, 'claim'>;
  clock: Clock;
  /** False: what is out of time is not tried again. */
  mayHalve: () => boolean;
}

/**
 * Claims rows of many lanes in one statement. One lane whose rows take long to find must not keep the others from theirs: a claim
 * of many that is out of time has done nothing, and is made again in two halves, with little time each, down to single lanes.
 */
export class LaneClaims<T> {
  private readonly slow = new Set<string>();

  constructor(private readonly options: LaneClaimsOptions<T>) {}

  /** It was found to be slow, and no quick claim has shown otherwise since. Claim it by itself, beside those of the others. */
  isSlow(laneKey: string): boolean {
    return this.slow.has(laneKey);
  }

  /**
   * Calls `answered` once a lane, as soon as its claim has ended: with the claim, or with why it failed. An error that is not
   * `isOutOfTime` may have come after a commit. No lane may be asked for twice. Does not reject.
   */
  async claim<A extends { request: HoldRequest }>(
    asked: readonly A[],
    answered: (each: A, answer: Claim<T> | Error) => void,
  ): Promise<void> {
    const { kind, clock, mayHalve } = this.options;
    const parts = [asked];
    let withinMs: number | undefined;
    let halvesUntil: number | undefined;
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const requests = part.map(({ request }) => request);
      const startedAt = clock.monotonic();
      let answers: (Claim<T> | Error)[];
      try {
        answers = await kind.claim(requests, withinMs);
      } catch (error) {
        const now = clock.monotonic();
        if (isOutOfTime(error)) {
          withinMs = SLOW_MS;
          halvesUntil ??= now + MAX_HALVING_MS;
          if (part.length > 1 && now < halvesUntil && mayHalve()) {
            parts.unshift(...halvesOf(part));
            continue;
          }
        }
        const failure = errorOf(error);
        answers = part.map(() => failure);
      }
      this.noteSlow(requests, answers, clock.monotonic() - startedAt);
      for (const [index, each] of part.entries()) {
        answered(each, answers[index] ?? new Error('a claim without an answer'));
      }
    }
  }

  private noteSlow(requests: readonly HoldRequest[], answers: readonly (Claim<T> | Error)[], tookMs: number): void {
    // Of many that failed together none is known to be the slow one.
    const knowsSlow = requests.length === 1 || answers.some((answer) => !(answer instanceof Error));
    for (const [index, { laneKey }] of requests.entries()) {
      if (!(answers[index] instanceof Error)) {
        if (tookMs < SLOW_MS) this.slow.delete(laneKey);
      } else if (knowsSlow && isOutOfTime(answers[index])) {
        this.slow.add(laneKey);
      }
    }
  }
}
