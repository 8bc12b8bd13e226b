import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A notification whose application fails for a day is given up, as one that matches nothing is. */
export class NotificationFailed1765030000000 implements MigrationInterface {
  name = 'NotificationFailed1765030000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

// Not validated: each row that is there has passed a narrower check, and reading them all would hold the table's lock.
const check = (states: string): string =>
  `alter table platform_notification drop constraint platform_notification_state_check,
     add constraint platform_notification_state_check check (state in (${states})) not valid`;

const UP: readonly string[] = [check(`'stored', 'applied', 'unmatched', 'unreadable', 'failed'`)];

const DOWN: readonly string[] = [
  `update platform_notification set state = 'unmatched' where state = 'failed'`,
  check(`'stored', 'applied', 'unmatched', 'unreadable'`),
];
