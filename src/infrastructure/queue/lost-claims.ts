import { setTimeout as pause } from 'node:timers/promises';
import { isUnreachable } from '../database/database-faults.js';

const LOOK_AGAIN_MS = 500;

/** A claim with an unknown outcome: the connection was lost before its answer came. */
export class LostClaimError extends Error {
  constructor(
    /** By which the attempts that it made, if it made any, are found. */
    readonly ids: readonly string[],
    cause: unknown,
  ) {
    super('a claim was lost on its way', { cause });
  }

  /** For the `catch` of a claim that gives these ids to its attempts. */
  static of(ids: readonly string[]): (error: unknown) => never {
    return (error) => {
      throw isUnreachable(error) ? new LostClaimError(ids, error) : error;
    };
  }
}

interface TakingBack<A> {
  /** Those of the attempts that exist. */
  find: (ids: readonly string[]) => Promise<A[]>;
  putBack: (attempt: A) => Promise<unknown>;
  forMs: number;
}

/**
 * Puts back what a lost claim took, by the ids of its attempts: nothing of it was sent, because its rows are not known
 * here. The statement may still be under way on the server, so it is looked for until its lease would have run out.
 *
 * @returns how many rows were put back.
 */
export async function takeBack<A>({ ids }: LostClaimError, { find, putBack, forMs }: TakingBack<A>): Promise<number> {
  const until = performance.now() + forMs;
  do {
    try {
      const claimed = await find(ids);
      // A claim is one statement: it took all of them or none.
      await Promise.all(claimed.map((attempt) => putBack(attempt)));
      if (claimed.length > 0) return claimed.length;
    } catch {
      // The database is still away.
    }
    await pause(LOOK_AGAIN_MS, undefined, { ref: false });
  } while (performance.now() < until);
  return 0;
}
