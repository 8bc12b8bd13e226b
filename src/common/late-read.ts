import { AsyncLocalStorage } from 'node:async_hooks';

interface LateRead {
  /** The standby's; null once the read has ended: what it began and did not wait for goes on at the primary. */
  source: object | null;
}

const reads = new AsyncLocalStorage<LateRead | null>();

/** What the statements of the read under way go to, as `readLate` was given it; null: to the primary. */
export function lateSource(): object | null {
  return reads.getStore()?.source ?? null;
}

/** Runs a read whose statements go to a standby, with its transactions. It must write nothing: a standby refuses that. */
export async function readLate<T>(source: object, read: () => Promise<T>): Promise<T> {
  const late: LateRead = { source };
  try {
    return await reads.run(late, read);
  } finally {
    late.source = null;
  }
}

/** Runs what must not be late, such as a read that others share, whether or not the caller's read may be. */
export function onPrimary<T>(work: () => T): T {
  // Nothing to leave, in most requests.
  return reads.getStore() === undefined ? work() : reads.run(null, work);
}
