import type { EventEmitter } from 'node:events';
import type { ClientBase, Pool, PoolClient } from 'pg';

/** What the server sends beside its answers, as the driver gives it. */
interface Notice {
  /** The server's function that said it; no language of the server changes it. */
  routine?: string;
  message?: string;
}

/** The function that waits for the synchronous standby. It warns only where a wait ended without it. */
const WAIT = 'SyncRepWaitForLSN';

/** What `pg` keeps of a statement that was sent, and does not publish. */
interface ActiveQuery {
  /** Where it is set the statement rejects with it, once the server is ready for the next one. */
  _canceledDueToError: Error | false;
}

/** As PostgreSQL's `transaction_resolution_unknown`: the change is here, and a server that is promoted may not have it. */
export class UnreplicatedCommitError extends Error {
  readonly code = '08007';

  constructor(notice: string | undefined) {
    super(`the commit is not known to be on the standby: ${notice ?? WAIT}`);
  }
}

/**
 * Makes statements of this pool fail whose commit did not wait for the synchronous standby, because that wait was canceled. PostgreSQL calls
 * such a commit a success, with a warning. But after a failover it may never have happened: what it claimed must not be sent, what it
 * accepted must not be answered with 202. So it is one with an unknown outcome, as where the connection breaks in a commit.
 */
export function refuseUnreplicatedCommits(pool: Pool): void {
  const watched = new WeakSet<PoolClient>();
  // Not as they connect: the first ones may be older than this.
  pool.on('acquire', (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    (client as ClientBase & EventEmitter).on('notice', ({ routine, message }: Notice) => {
      const { _activeQuery: query } = client as unknown as { _activeQuery?: ActiveQuery | null };
      // It comes before the server is ready, so the statement that commits is the active one.
      if (routine === WAIT && query) query._canceledDueToError = new UnreplicatedCommitError(message);
    });
  });
}
