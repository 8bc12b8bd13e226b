import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Client, ClientBase, Pool, PoolClient } from 'pg';

/** read_only_sql_transaction: the server is a standby, or a primary that was demoted. */
const READ_ONLY = '25006';

/** Keeps the way to a quiet connection open, and finds out within minutes where it has gone. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 };

/** What `pg` keeps of a client and does not publish. */
interface ClientState {
  connection: EventEmitter & { stream: Socket };
  /** The statement that was sent and not answered; null or undefined where there is none. */
  _activeQuery?: object | null;
}

/**
 * Makes a pool leave a server that is of no more use to it: a primary that was demoted and stays up, or one that
 * answers no more, as after a lost host or a forgotten entry of a NAT. No connection to such a server is closed by it.
 * Once one refuses a write, or is given back without an answer, every connection of that time is closed: idle ones at
 * once, those in use when they are given back, and those that listen at once, because they are never given back. New
 * ones go where the address leads by then. Found one by one, each silent connection would cost a statement its time.
 */
export function leaveLostServer(pool: Pool, onLeave: () => void = () => undefined): void {
  const idle = new Set<PoolClient>();
  const inUse = new Set<PoolClient>();
  const watched = new WeakSet<PoolClient>();
  const listening = new WeakSet<PoolClient>();
  const retired = new WeakSet<PoolClient>();

  const leave = (why: string): void => {
    for (const client of inUse) retired.add(client);
    // As if the connection were lost, which is what a pool, and who listens, is prepared for.
    for (const client of [...idle, ...[...inUse].filter((each) => listening.has(each))]) {
      client.emit('error', new Error(`Connection terminated: the server ${why}`));
    }
    idle.clear();
    onLeave();
  };

  const watch = (client: PoolClient): void => {
    watched.add(client);
    // A connection that breaks says so twice: to its statement, and as an event. One that breaks as it is lent, before its
    // borrower listens, would end the process with it.
    client.on('error', () => undefined);
    // Statements fail in many places; their connection is the one place that hears of all.
    const { connection } = stateOf(client);
    connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (code === READ_ONLY) leave('is read-only');
    });
    connection.on('commandComplete', ({ text }: { text?: string }) => {
      if (text === 'LISTEN') listening.add(client);
    });
  };

  // Not as they connect: the first ones may be older than this.
  pool.on('acquire', (client) => {
    if (!watched.has(client)) watch(client);
    idle.delete(client);
    inUse.add(client);
  });
  pool.on('release', (fault: unknown, client) => {
    inUse.delete(client);
    // Its statement was given up: the next one would wait behind it. An entity manager gives such a connection back as
    // if nothing had happened.
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

/** Without waiting for its other end, which may never answer. The pool lends each client as what it is: one that can be ended. */
export function closeNow(client: ClientBase): void {
  (client as Client).end().catch(() => undefined);
  stateOf(client).connection.stream.destroySoon();
}

function stateOf(client: ClientBase): ClientState {
  return client as unknown as ClientState;
}
