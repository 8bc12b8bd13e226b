import { systemClock } from '../../common/clock.js';
import { ExpiringCache } from '../../common/expiring-cache.js';
import type { SecretBox } from '../../infrastructure/secrets/secret-box.js';
import { tokenPlace } from './connection-token.js';
import type { ConnectionsRepository } from './connections.repository.js';
import type { ConnectionEntity } from './entities/connection.entity.js';
import type { Connection, SendingConnection } from './connections.types.js';

/** One number as it was read; its token is opened when it is asked for. */
export interface KnownConnection {
  connection: Connection;
  sending(): SendingConnection;
}

const ROWS = { ttlMs: 2_000, maxEntries: 10_000 };
/** Which row has a platform's id hardly ever changes, and is compared with the row whenever it is used. */
const IDS = { ttlMs: 60_000, maxEntries: 10_000 };
const MOST_AT_ONCE = 500;

/** The numbers as they were at most two seconds ago: callers, senders and notifications share one read of each. */
export class KnownConnections {
  private readonly rows = new ExpiringCache<string, KnownConnection | null>(ROWS);
  private readonly ids = new ExpiringCache<string, string | null>(IDS);

  /** When each was used last, monotonic ms: whoever reads next reads all that are in use, so that many need one read. */
  private readonly used = new Map<string, number>();
  private generation = 0;

  constructor(
    private readonly connections: Pick<ConnectionsRepository, 'findSealed' | 'findByPhoneNumberId'>,
    private readonly secrets: SecretBox,
  ) {}

  /** Without asking; undefined where nothing is known. */
  peek(id: string): KnownConnection | null | undefined {
    const known = this.rows.peek(id);
    if (known) this.used.set(id, systemClock.monotonic());
    return known;
  }

  async read(id: string): Promise<KnownConnection | null> {
    const known = await this.rows.get(id, () => this.load(id));
    if (known !== null) this.used.set(id, systemClock.monotonic());
    return known;
  }

  private async load(id: string): Promise<KnownConnection | null> {
    const readAt = systemClock.monotonic();
    const generation = this.generation;
    for (const [each, usedAt] of this.used) if (usedAt < readAt - ROWS.ttlMs) this.used.delete(each);
    const ids = new Set([id, ...this.used.keys()].slice(0, MOST_AT_ONCE));
    const found = new Map<string, KnownConnection>();
    for (const row of await this.connections.findSealed([...ids])) found.set(row.id, this.knownOf(row));
    // What was read before an invalidation may be what the invalidation was about.
    if (generation === this.generation) for (const [each, known] of found) this.rows.set(each, known, readAt);
    return found.get(id) ?? null;
  }

  private knownOf(row: ConnectionEntity): KnownConnection {
    const { tokenCiphertext, ...connection } = row;
    let sending: SendingConnection | null = null;
    return {
      connection,
      sending: () => (sending ??= { ...connection, token: this.secrets.open(tokenCiphertext, tokenPlace(row)) }),
    };
  }

  /** By the platform's id of the number. */
  async ofNumber(phoneNumberId: string): Promise<Connection | null> {
    const find = async () => (await this.connections.findByPhoneNumberId(phoneNumberId))?.id ?? null;
    const id = await this.ids.get(phoneNumberId, find);
    if (id === null) return null;
    const connection = (await this.read(id))?.connection;
    if (connection?.phoneNumberId === phoneNumberId) return connection;
    this.ids.delete(phoneNumberId);
    return this.connections.findByPhoneNumberId(phoneNumberId);
  }

  clear(): void {
    this.generation++;
    this.rows.clear();
    this.ids.clear();
  }
}
