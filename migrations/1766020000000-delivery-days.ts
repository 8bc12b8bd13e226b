import type { MigrationInterface, QueryRunner } from 'typeorm';
import { partitionByDay, unpartition } from '../src/infrastructure/database/day-partitions.js';

/** The log of webhook deliveries by days, so that those of a day go at once. */
export class DeliveryDays1766020000000 implements MigrationInterface {
  name = 'DeliveryDays1766020000000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await partitionByDay((sql) => queryRunner.query(sql), 'webhook_delivery');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.startTransaction();
    try {
      await unpartition((sql) => queryRunner.query(sql), 'webhook_delivery');
      await queryRunner.commitTransaction();
    } catch (error) {
      await queryRunner.rollbackTransaction();
      throw error;
    }
  }
}
