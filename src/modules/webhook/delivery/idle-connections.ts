import type { Connection } from './connection.js';

/** Kept for one endpoint, and in all. */
const MOST_OF_ONE = 16;
const MOST = 512;

/**
 * Connections that wait for their endpoint's next delivery. One endpoint never gets another's, not even where both name
 * the same host, so that what one server says on it can only ever reach the one who chose that server.
 */
export class IdleConnections {
  private readonly waiting = new Map<string, Connection[]>();
  private count = 0;

  /** One of this endpoint's that leads to one of the addresses which were found and checked just now. */
  take(key: string, addresses: readonly string[]): Connection | null {
    const all = this.waiting.get(key) ?? [];
    // The one used last is the least likely to have been closed.
    for (const connection of all.toReversed()) {
      if (!connection.usable) {
        this.remove(key, connection);
        connection.destroy();
      } else if (addresses.includes(connection.address)) {
        this.remove(key, connection);
        return connection;
      }
    }
    return null;
  }

  put(key: string, connection: Connection): void {
    const all = this.waiting.get(key) ?? [];
    if (!connection.usable || all.length >= MOST_OF_ONE) {
      connection.destroy();
      return;
    }
    // Put anew, the key stands last: the first of the map is the one that was quiet for longest.
    this.waiting.delete(key);
    this.waiting.set(key, [...all, connection]);
    this.count += 1;
    if (this.count > MOST) {
      this.dropOldest();
    }
  }

  remove(key: string, connection: Connection): void {
    const all = this.waiting.get(key) ?? [];
    const rest = all.filter((other) => other !== connection);
    this.count -= all.length - rest.length;
    if (rest.length === 0) {
      this.waiting.delete(key);
    } else {
      this.waiting.set(key, rest);
    }
  }

  clear(): void {
    const all = [...this.waiting.values()].flat();
    this.waiting.clear();
    this.count = 0;
    for (const connection of all) {
      connection.destroy();
    }
  }

  private dropOldest(): void {
    for (const [key, [oldest]] of this.waiting) {
      if (oldest !== undefined) {
        this.remove(key, oldest);
        oldest.destroy();
        return;
      }
    }
  }
}
