import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../database/database.js';
import { isExhausted, isLocked, isUnreachable } from '../database/database-faults.js';
import { ONE_CLAIM } from './lane-grant.js';

const CLAIMS_ENDED_MS = 1_000;
const LOOK_AGAIN_MS = 500;
/** How long to continue after the lease while the database cannot be reached. */
const MAX_AWAY_MS = 600_000;

/** A claim with an unknown outcome: the statement was sent, and the connection broke before its answer. */
export class LostClaimError extends Error {
  constructor(
    /** The ids of the attempts that it may have made. */
    readonly ids: readonly string[],
    cause: unknown,
  ) {
    super('a claim was lost on its way', { cause });
  }
}

/**
 * Runs the statement of a claim that gives these ids to its attempts.
 *
 * @param withinMs the time limit; default: that of every statement.
 * @throws LostClaimError where the connection broke after the statement was sent: it may have been committed.
 */
export async function runClaim<T>(
  database: Database,
  ids: readonly string[],
  statement: () => Promise<T>,
  withinMs?: number,
): Promise<T> {
  let isSent = false;
  const send = (): Promise<T> => {
    isSent = true;
    return statement();
  };
  try {
    return await database.byIndex(send, withinMs);
  } catch (error) {
    const nothingWasDone = !isSent || isExhausted(error) || isLocked(error);
    throw isUnreachable(error) && !nothingWasDone ? new LostClaimError(ids, error) : error;
  }
}

/**
 * Waits until running claims of these lanes have ended, so that their rows are visible. A commit hangs while a
 * synchronous standby is away. It waits for one lane's lock at a time and releases it at once, so other lanes can be
 * claimed meanwhile.
 *
 * @throws the database's error where a claim takes longer than a second.
 */
export async function claimsEnded(database: Database, laneKeys: readonly string[]): Promise<void> {
  const underWay = await database.query<{ key: string }>(UNDER_WAY, [laneKeys]);
  for (const { key } of underWay) {
    await database.byIndex(() => database.execute(WAIT_FOR_CLAIM, [key]), CLAIMS_ENDED_MS);
  }
}

const UNDER_WAY = `select key from unnest($1::text[]) as key where not pg_try_advisory_xact_lock(${ONE_CLAIM}, hashtext(key))`;
const WAIT_FOR_CLAIM = `select pg_advisory_xact_lock(${ONE_CLAIM}, hashtext($1))`;

interface ReleasingLost<A> {
  /** Of the attempts, those that exist. Called after the claim has ended (`claimsEnded`). */
  find: (ids: readonly string[]) => Promise<A[]>;
  release: (attempt: A) => Promise<unknown>;
  forMs: number;
}

/**
 * Releases the rows that a lost claim took, by the ids of its attempts. None of them was sent, because this process
 * never received them. The statement may still run on the server, so the search goes on until its lease has run out,
 * and longer while the database is away or the claim still runs. By that time the sweep may have set the attempts to an
 * unknown outcome, which this resolves.
 *
 * @returns how many rows were released.
 */
export async function releaseLost<A>(
  { ids }: LostClaimError,
  { find, release, forMs }: ReleasingLost<A>,
): Promise<number> {
  const until = performance.now() + forMs;
  for (;;) {
    const isLast = performance.now() >= until;
    try {
      const claimed = await find(ids);
      // A claim is one statement: it took all rows or none.
      await Promise.all(claimed.map((attempt) => release(attempt)));
      if (claimed.length > 0 || isLast) return claimed.length;
    } catch {
      // The database is still away, or the claim still runs.
      if (performance.now() >= until + MAX_AWAY_MS) return 0;
    }
    await pause(LOOK_AGAIN_MS, undefined, { ref: false });
  }
}
