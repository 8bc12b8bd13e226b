import type { EventEmitter } from 'node:events';
import type { Client, Pool, PoolClient } from 'pg';

/** read_only_sql_transaction: the server is a standby, or a primary that was demoted. */
const READ_ONLY = '25006';

/**
 * Makes a pool leave a primary that was demoted and stays up. Such a server answers reads, so its connections would
 * never be closed. Once it refuses a write, every connection of that time is closed: idle ones at once, those in use
 * when they are given back, and those that listen at once, because they are never given back. New ones go where the
 * address leads by then.
 */
export function leaveDemotedPrimary(pool: Pool, onLeave: () => void = () => undefined): void {
  const idle = new Set<PoolClient>();
  const inUse = new Set<PoolClient>();
  const watched = new WeakSet<PoolClient>();
  const listening = new WeakSet<PoolClient>();
  const retired = new WeakSet<PoolClient>();

  const leave = (): void => {
    for (const client of inUse) retired.add(client);
    // As if the connection were lost, which is what a pool, and who listens, is prepared for.
    for (const client of [...idle, ...[...inUse].filter((each) => listening.has(each))]) {
      client.emit('error', new Error('Connection terminated: the server is read-only'));
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
    const { connection } = client as unknown as { connection: EventEmitter };
    connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (code === READ_ONLY) leave();
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
    // The pool forgets a connection that has ended.
    if (retired.has(client)) (client as unknown as Client).end().catch(() => undefined);
    else if (!fault) idle.add(client);
  });
  pool.on('remove', (client) => {
    idle.delete(client);
    inUse.delete(client);
  });
}
