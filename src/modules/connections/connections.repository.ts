import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { ConnectionEntity } from './entities/connection.entity.js';
import type { ConnectionStatus } from './connections.types.js';

/** The only place with SQL of the table `connection`. */
@Injectable()
export class ConnectionsRepository {
  constructor(private readonly database: Database) {}

  list(organizationId: string): Promise<ConnectionEntity[]> {
    return this.table.find({ where: { organizationId }, order: { createdAt: 'ASC', id: 'ASC' } });
  }

  findById(organizationId: string, id: string): Promise<ConnectionEntity | null> {
    return this.table.findOneBy({ organizationId, id });
  }

  /** By the platform's id of the number, whatever the workspace: notifications carry nothing else. */
  findByPhoneNumberId(phoneNumberId: string): Promise<ConnectionEntity | null> {
    return this.table.findOneBy({ phoneNumberId });
  }

  /** The row with its sealed token, for the lane that sends from it. */
  findSealed(id: string): Promise<ConnectionEntity | null> {
    return this.table
      .createQueryBuilder('connection')
      .addSelect('connection.tokenCiphertext')
      .where('connection.id = :id', { id })
      .getOne();
  }

  async insert(row: Omit<ConnectionEntity, 'createdAt' | 'updatedAt'>): Promise<void> {
    await this.table.insert(row);
  }

  /** Gives a known number new credentials and connects it again; returns false where the workspace has no such row. */
  async reconnect(organizationId: string, id: string, change: Partial<ConnectionEntity>): Promise<boolean> {
    const result = await this.table.update(
      { organizationId, id },
      { ...change, status: 'connected', updatedAt: new Date() },
    );
    return (result.affected ?? 0) > 0;
  }

  async setStatus(organizationId: string, id: string, status: ConnectionStatus): Promise<boolean> {
    const result = await this.table.update({ organizationId, id }, { status, updatedAt: new Date() });
    return (result.affected ?? 0) > 0;
  }

  private get table() {
    return this.database.repository(ConnectionEntity);
  }
}
