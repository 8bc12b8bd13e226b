import { ExpiringCache } from '../../common/expiring-cache.js';
import type { SecretBox } from '../../platform/secrets/secret-box.js';
import { tokenPlace } from './connection-token.js';
import type { ConnectionsRepository } from './connections.repository.js';
import type { Connection, SendingConnection } from './connections.types.js';

/** One number as it was read; its token is opened when it is asked for. */
export interface KnownConnection {
  connection: Connection;
  sending(): SendingConnection;
}

const ROWS = { ttlMs: 2_000, maxEntries: 10_000 };
/** Which row has a platform's id hardly ever changes, and is compared with the row whenever it is used. */
const IDS = { ttlMs: 60_000, maxEntries: 10_000 };

/** The numbers as they were at most two seconds ago: callers, senders and notifications share one read of each. */
export class KnownConnections {
  private readonly rows = new ExpiringCache<string, KnownConnection | null>(ROWS);
  private readonly ids = new ExpiringCache<string, string | null>(IDS);

  constructor(
    private readonly connections: Pick<ConnectionsRepository, 'findSealed' | 'findByPhoneNumberId'>,
    private readonly secrets: SecretBox,
  ) {}

  /** Without asking; undefined where nothing is known. */
  peek(id: string): KnownConnection | null | undefined {
    return this.rows.peek(id);
  }

  read(id: string): Promise<KnownConnection | null> {
    return this.rows.get(id, async () => {
      const row = await this.connections.findSealed(id);
      if (row === null) return null;
      const { tokenCiphertext, ...connection } = row;
      let sending: SendingConnection | null = null;
      return {
        connection,
        sending: () => (sending ??= { ...connection, token: this.secrets.open(tokenCiphertext, tokenPlace(row)) }),
      };
    });
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
    this.rows.clear();
    this.ids.clear();
  }
}
