import { AsyncLocalStorage } from 'node:async_hooks';

interface LateRead {
  /**
   * The standby's data source; null once the read has ended: work that it started and did not await continues on the
   * primary.
   */
  source: object | null;
}

const reads = new AsyncLocalStorage<LateRead | null>();

/** The data source for statements of the current read, as given to `readLate`; null: the primary. */
export function lateSource(): object | null {
  return reads.getStore()?.source ?? null;
}

/** Runs a read whose statements and transactions use a standby. It must not write, because a standby refuses writes. */
export async function readLate<T>(source: object, read: () => Promise<T>): Promise<T> {
  const late: LateRead = { source };
  try {
    return await reads.run(late, read);
  } finally {
    late.source = null;
  }
}

/** Runs work on the primary, such as a read whose result is shared, even inside `readLate`. */
export function onPrimary<T>(work: () => T): T {
  // Most requests are not inside `readLate`.
  return reads.getStore() === undefined ? work() : reads.run(null, work);
}
