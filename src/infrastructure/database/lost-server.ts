import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Client, ClientBase, Pool, PoolClient } from 'pg';

/** read_only_sql_transaction: the server is a standby, or a primary that was demoted. */
const READ_ONLY = '25006';

/** Keeps an idle connection open through NAT, and detects within minutes that it is lost. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 };

/** Private fields of a `pg` client. */
interface ClientState {
  connection: EventEmitter & { stream: Socket };
  /** The statement that was sent and has no answer yet; null or undefined: none. */
  _activeQuery?: object | null;
}

/**
 * Makes a pool leave a server that it can no longer use: a demoted primary that stays up, or a server that no longer
 * answers, for example after a lost host or a forgotten NAT entry. Neither closes its connections. Once a connection
 * refuses a write, or is returned without an answer, every connection of that time is closed: idle ones and listening
 * ones at once, those in use when they are returned. New connections go to the current target of the address. Otherwise
 * each silent connection would cost one statement its full timeout.
 */
export function leaveLostServer(pool: Pool, onLeave: () => void = () => undefined): void {
  const idle = new Set<PoolClient>();
  const inUse = new Set<PoolClient>();
  const watched = new WeakSet<PoolClient>();
  const listening = new WeakSet<PoolClient>();
  const retired = new WeakSet<PoolClient>();

  const leave = (why: string): void => {
    for (const client of inUse) retired.add(client);
    // Ends them like a lost connection, which the pool and listeners can handle.
    for (const client of [...idle, ...[...inUse].filter((each) => listening.has(each))]) {
      client.emit('error', new Error(`Connection terminated: the server ${why}`));
    }
    idle.clear();
    onLeave();
  };

  const watch = (client: PoolClient): void => {
    watched.add(client);
    // A broken connection is reported twice: to its statement, and as an event. If it breaks before its user listens,
    // the event would end the process.
    client.on('error', () => undefined);
    // Statements fail in many places; the connection sees every failure.
    const { connection } = stateOf(client);
    connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (code === READ_ONLY) leave('is read-only');
    });
    connection.on('commandComplete', ({ text }: { text?: string }) => {
      if (text === 'LISTEN') listening.add(client);
    });
  };

  // On 'acquire' rather than 'connect', since the first clients may have connected before this call.
  pool.on('acquire', (client) => {
    if (!watched.has(client)) watch(client);
    idle.delete(client);
    inUse.add(client);
  });
  pool.on('release', (fault: unknown, client) => {
    inUse.delete(client);
    // The statement was given up, and the next one would wait behind it. An entity manager returns such a connection
    // without an error.
    const isSilent = Boolean(stateOf(client)._activeQuery);
    // The pool forgets a connection that has ended.
    if (isSilent || retired.has(client)) closeNow(client);
    else if (!fault) idle.add(client);
    if (isSilent) leave('does not answer');
  });
  pool.on('remove', (client) => {
    idle.delete(client);
    inUse.delete(client);
  });
}

/**
 * Closes without waiting for the other end, which may never answer. A pool types its clients without `end`, but they
 * have it.
 */
export function closeNow(client: ClientBase): void {
  (client as Client).end().catch(() => undefined);
  stateOf(client).connection.stream.destroySoon();
}

function stateOf(client: ClientBase): ClientState {
  return client as unknown as ClientState;
}
