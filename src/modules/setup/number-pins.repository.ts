import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { NumberPinEntity } from './entities/number-pin.entity.js';

/** The only place with SQL on the table `number_pin`. */
@Injectable()
export class NumberPinsRepository {
  constructor(private readonly database: Database) {}

  find(organizationId: string, phoneNumberId: string): Promise<NumberPinEntity | null> {
    return this.table.findOneBy({ organizationId, phoneNumberId });
  }

  async save(pin: Omit<NumberPinEntity, 'createdAt'>): Promise<void> {
    await this.table.upsert(pin, ['id']);
  }

  async remove(organizationId: string, phoneNumberId: string): Promise<void> {
    await this.table.delete({ organizationId, phoneNumberId });
  }

  private get table() {
    return this.database.repository(NumberPinEntity);
  }
}
