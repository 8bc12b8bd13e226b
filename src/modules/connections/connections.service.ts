import { Injectable } from '@nestjs/common';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { newId } from '../../common/ids.js';
import { CacheInvalidation } from '../../platform/access/cache-invalidation.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { connectionsErrors } from './connections.errors.js';
import { ConnectionsRepository } from './connections.repository.js';
import type { Connection, ConnectionStatus, NewConnection, SendingConnection } from './connections.types.js';
import type { ConnectionEntity } from './entities/connection.entity.js';

const CACHE = { ttlMs: 2_000, maxEntries: 10_000 };
const INVALIDATION = 'connection';

/** The workspace's WhatsApp numbers and their credentials. */
@Injectable()
export class ConnectionsService {
  private readonly byId = new ExpiringCache<string, Connection | null>(CACHE);
  private readonly byNumber = new ExpiringCache<string, Connection | null>(CACHE);
  private readonly sealed = new ExpiringCache<string, SendingConnection | null>(CACHE);

  constructor(
    private readonly connections: ConnectionsRepository,
    private readonly secrets: SecretBox,
    private readonly invalidation: CacheInvalidation,
  ) {
    invalidation.on(INVALIDATION, () => this.forgetAll());
  }

  list(organizationId: string): Promise<Connection[]> {
    return this.connections.list(organizationId);
  }

  /** Returns null where the workspace has no such connection. At most two seconds old. */
  find(organizationId: string, id: string): Promise<Connection | null> {
    return this.byId.get(`${organizationId}/${id}`, () => this.connections.findById(organizationId, id));
  }

  /** @throws CONNECTION_NOT_FOUND (404) where the workspace has no such connection. */
  async getById(organizationId: string, id: string): Promise<Connection> {
    const found = await this.find(organizationId, id);
    if (found === null) throw connectionsErrors.CONNECTION_NOT_FOUND();
    return found;
  }

  /**
   * The connection, if it can send. A refusal is confirmed in the database: it must not rest on a cached answer.
   *
   * @throws CONNECTION_NOT_FOUND (404), CONNECTION_NOT_READY (409).
   */
  async getReady(organizationId: string, id: string): Promise<Connection> {
    const cached = await this.find(organizationId, id);
    if (cached?.status === 'connected') return cached;
    const fresh = await this.getFresh(organizationId, id);
    if (fresh.status !== 'connected') throw connectionsErrors.CONNECTION_NOT_READY({ status: fresh.status });
    return fresh;
  }

  /** Routes a notification; returns null for a number that is not ours. At most two seconds old. */
  findByPhoneNumberId(phoneNumberId: string): Promise<Connection | null> {
    return this.byNumber.get(phoneNumberId, () => this.connections.findByPhoneNumberId(phoneNumberId));
  }

  /** The number with its plain token, for the sender; null where the row is gone. At most two seconds old. */
  forSending(id: string): Promise<SendingConnection | null> {
    return this.sealed.get(id, async () => {
      const row = await this.connections.findSealed(id);
      return row === null ? null : { ...row, token: this.secrets.open(row.tokenCiphertext, tokenPlace(row)) };
    });
  }

  /**
   * Adds a number, or gives a number that the workspace already has its new token and connects it again.
   *
   * @throws Error where another workspace has the number.
   */
  async add(input: NewConnection): Promise<Connection> {
    const known = await this.connections.findByPhoneNumberId(input.phoneNumberId);
    if (known !== null && known.organizationId !== input.organizationId) {
      throw new Error(`the number ${input.phoneNumberId} belongs to another workspace`);
    }
    const id = known?.id ?? newId();
    const tokenCiphertext = this.secrets.seal(input.token, tokenPlace({ id, organizationId: input.organizationId }));
    const common = {
      wabaId: input.wabaId,
      phoneNumber: input.phoneNumber,
      verifiedName: input.verifiedName ?? known?.verifiedName ?? null,
      throughputPerSecond: input.throughputPerSecond ?? known?.throughputPerSecond ?? 80,
      timezone: input.timezone ?? known?.timezone ?? null,
      tokenCiphertext,
    };
    if (known === null) {
      await this.connections.insert({
        id,
        organizationId: input.organizationId,
        phoneNumberId: input.phoneNumberId,
        status: 'connected',
        qualityRating: null,
        messagingLimit: null,
        ...common,
      });
    } else {
      await this.connections.reconnect(input.organizationId, id, common);
    }
    await this.changed(id);
    return this.getFresh(input.organizationId, id);
  }

  /** @throws CONNECTION_NOT_FOUND (404) where the workspace has no such connection. */
  async setStatus(organizationId: string, id: string, status: ConnectionStatus): Promise<void> {
    if (!(await this.connections.setStatus(organizationId, id, status))) {
      throw connectionsErrors.CONNECTION_NOT_FOUND();
    }
    await this.changed(id);
  }

  private async getFresh(organizationId: string, id: string): Promise<Connection> {
    const found = await this.connections.findById(organizationId, id);
    if (found === null) throw connectionsErrors.CONNECTION_NOT_FOUND();
    return found;
  }

  private async changed(id: string): Promise<void> {
    this.forgetAll();
    await this.invalidation.publish(INVALIDATION, id);
  }

  private forgetAll(): void {
    this.byId.clear();
    this.byNumber.clear();
    this.sealed.clear();
  }
}

function tokenPlace(row: Pick<ConnectionEntity, 'id' | 'organizationId'>) {
  return { table: 'connection', column: 'token', organizationId: row.organizationId, rowId: row.id };
}
