import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhook deliveries need no lanes: an endpoint's rest is in its own row. */
export class WebhookRests1766010000000 implements MigrationInterface {
  name = 'WebhookRests1766010000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `alter table webhook_endpoint add column rests_until timestamptz, add column rests smallint not null default 0`,
    );
    await queryRunner.query(
      `with gone as (delete from lane where key like 'webhook:%' returning key, paused_until, pause_count)
       update webhook_endpoint e set rests_until = gone.paused_until, rests = gone.pause_count
       from gone where gone.key = 'webhook:' || e.id and gone.paused_until > clock_timestamp()`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table webhook_endpoint drop column rests_until, drop column rests`);
  }
}
