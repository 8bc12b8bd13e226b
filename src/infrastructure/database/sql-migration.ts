import { createHash } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A migration that is SQL each way. What it does is noted in the database with its name, so that a build knows whether
 * the migration that ran there is its own: until a release freezes them, migrations are edited in place.
 */
export abstract class SqlMigration implements MigrationInterface {
  abstract readonly name: string;
  protected abstract readonly upSql: string | readonly string[];
  protected abstract readonly downSql: string | readonly string[];
  /** False where a statement may be in no transaction: then each must do no harm when it runs again after a failure. */
  readonly transaction?: boolean;

  /** Of the statements, whatever their comments and line breaks are. */
  get checksum(): string {
    const text = [this.upSql].flat().join(';\n');
    const bare = text
      .replaceAll(/^\s*--.*$/gm, '')
      .replaceAll(/\s+/g, ' ')
      .trim();
    return createHash('sha256').update(bare).digest('hex');
  }

  async up(queryRunner: QueryRunner): Promise<void> {
    if (this.transaction === false) await this.waiting(queryRunner);
    else for (const statement of [this.upSql].flat()) await queryRunner.query(statement);
    await queryRunner.query(
      `insert into schema_migration_checksum (name, checksum) values ($1, $2)
       on conflict (name) do update set checksum = excluded.checksum`,
      [this.name, this.checksum],
    );
  }

  /** What is made concurrently waits for older transactions, however long they take: no statement waits behind it. */
  private async waiting(queryRunner: QueryRunner): Promise<void> {
    const [before] = (await queryRunner.query(`select current_setting('lock_timeout') as value`)) as {
      value: string;
    }[];
    await queryRunner.query('set lock_timeout = 0');
    try {
      for (const statement of [this.upSql].flat()) await queryRunner.query(statement);
    } finally {
      await queryRunner.query(`select set_config('lock_timeout', $1, false)`, [before?.value ?? '0']);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [this.downSql].flat()) await queryRunner.query(statement);
    await queryRunner.query('delete from schema_migration_checksum where name = $1', [this.name]);
  }
}
