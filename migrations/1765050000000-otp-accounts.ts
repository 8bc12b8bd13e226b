import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Codes are counted by WhatsApp account, and right and wrong ones together. */
export class OtpAccounts1765050000000 implements MigrationInterface {
  name = 'OtpAccounts1765050000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

// Numbers that have a second, shorter form for the same WhatsApp account. In Brazil 2 to 5 begins a landline's number.
const LONG = `'^(?:(54)9(\\d{10})|(52)1(\\d{10})|(55\\d\\d)9([016-9]\\d{7}))$'`;
const ACCOUNT = `regexp_replace(recipient, ${LONG}, '\\1\\2\\3\\4\\5\\6')`;

const UP: readonly string[] = [
  // Both rows of an account become one, with the stricter of what they hold. Before the tables are altered, since
  // this reads all of them.
  `with moved as (
     delete from otp_recipient where recipient ~ ${LONG} returning *, ${ACCOUNT} as account
   )
   insert into otp_recipient as r (project_id, recipient, organization_id, last_sent_at, tokens, refilled_at, failures,
     failures_since)
   select project_id, account, organization_id, last_sent_at, tokens, refilled_at, failures, failures_since from moved
   on conflict (project_id, recipient) do update set
     last_sent_at = greatest(r.last_sent_at, excluded.last_sent_at), tokens = least(r.tokens, excluded.tokens),
     refilled_at = greatest(r.refilled_at, excluded.refilled_at),
     failures = case when r.failures_since > clock_timestamp() - interval '1 day' then r.failures else 0 end
       + case when excluded.failures_since > clock_timestamp() - interval '1 day' then excluded.failures else 0 end,
     failures_since = greatest(r.failures_since, excluded.failures_since)`,
  // "recipient" is what codes are counted by, "number" is where it is sent; null: the same.
  'alter table otp_challenge add column number text',
  `update otp_challenge set number = recipient, recipient = ${ACCOUNT}
   where status in ('queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read') and recipient ~ ${LONG}`,
  // "failures_in_row" is no longer read; it goes a release later, for processes of the one before still count in it.
  `alter table otp_project add column guesses_since timestamptz, add column guesses_right integer not null default 0,
     add column guesses_wrong integer not null default 0`,
];

const DOWN: readonly string[] = [
  'alter table otp_project drop column guesses_since, drop column guesses_right, drop column guesses_wrong',
  'update otp_challenge set recipient = number where number is not null',
  'alter table otp_challenge drop column number',
];
