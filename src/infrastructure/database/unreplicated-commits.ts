import type { EventEmitter } from 'node:events';
import type { ClientBase, Pool, PoolClient } from 'pg';

/** A notice of the server, as the driver passes it on. */
interface Notice {
  /** The function in the server's source that sent it; the same in every language setting. */
  routine?: string;
  message?: string;
}

/** The server function that waits for the synchronous standby. It warns only if the wait ended without it. */
const WAIT = 'SyncRepWaitForLSN';

/** Private fields of `pg` for the statement in flight. */
interface ActiveQuery {
  /** If set, the statement rejects with this error once the server is ready for the next one. */
  _canceledDueToError: Error | false;
}

/** Like PostgreSQL's `transaction_resolution_unknown`: the change is on this server, but a promoted one may lack it. */
export class UnreplicatedCommitError extends Error {
  readonly code = '08007';

  constructor(notice: string | undefined) {
    super(`the commit is not known to be on the standby: ${notice ?? WAIT}`);
  }
}

/**
 * Makes statements of this pool fail if their commit did not wait for the synchronous standby, because the wait was
 * canceled. PostgreSQL reports such a commit as a success with a warning, but after a failover it may be lost. So a
 * message that it claimed must not be sent, and one that it accepted must not be answered with 202. The commit counts
 * as one with an unknown outcome, like a connection that breaks in COMMIT.
 */
export function refuseUnreplicatedCommits(pool: Pool): void {
  const watched = new WeakSet<PoolClient>();
  // On 'acquire' rather than 'connect', since the first clients may have connected before this call.
  pool.on('acquire', (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    (client as ClientBase & EventEmitter).on('notice', ({ routine, message }: Notice) => {
      const { _activeQuery: query } = client as unknown as { _activeQuery?: ActiveQuery | null };
      // The notice comes before the server is ready, so the committing statement is still the active one.
      if (routine === WAIT && query) query._canceledDueToError = new UnreplicatedCommitError(message);
    });
  });
}
