import { newId } from '../../common/ids.js';
import { databaseBefore } from '../../../test/support/migrated-database.js';
import { readRecipient } from './otp-recipient.js';

describe('a number of a request', () => {
  it.each([
    ['+54 (11) 15-2345-6789', '5491123456789', '541123456789'],
    ['+52 1 55 1234 5678', '5215512345678', '525512345678'],
  ])('%s is read as it is sent, and counted by its account', (text, digits, account) => {
    expect(readRecipient(text, null)).toMatchObject({ digits, account });
  });
});

describe('the migration of an installation with codes', () => {
  it('makes one row of both ways to write a number, with the stricter limits, and finds open codes', async () => {
    const database = await databaseBefore('OtpAccounts1765050000000');
    try {
      const [project, other, organization] = [newId(), newId(), newId()];
      const recipient = (of: string, number: string, tokens: number, failures: number, age: string) =>
        database.query(
          `insert into otp_recipient (project_id, recipient, organization_id, last_sent_at, tokens, refilled_at, failures,
             failures_since)
           values ($1, $2, $3, now() - $6::interval, $4, now() - $6::interval, $5, now() - $6::interval)`,
          [of, number, organization, tokens, failures, age],
        );
      await recipient(project, '5491123456789', 1, 12, '1 hour');
      await recipient(project, '541123456789', 4, 12, '1 hour');
      await recipient(project, '551112345678', 4, 3, '2 days');
      await recipient(project, '5511912345678', 2, 4, '1 minute');
      await recipient(project, '5511933334444', 2, 4, '1 minute');
      await recipient(other, '5491123456789', 3, 1, '1 minute');
      const [open, ended] = [newId(), newId()];
      for (const [id, status] of [
        [open, 'sent'],
        [ended, 'verified'],
      ]) {
        await database.query(
          `insert into otp_challenge (id, organization_id, project_id, mode, recipient, country, idempotency_key,
             fingerprint, status, code_hash, code_key_version, template_language, attempt_id, created_at, expires_at)
           values ($1, $2, $3, 'live', '5491123456789', 'AR', $1::uuid::text, '', $4, '', 1, 'en_US', $1, now(), now())`,
          [id, organization, project, status],
        );
      }

      await database.up();
      const rows = await database.query(
        `select project_id, recipient, tokens, failures, last_sent_at > now() - interval '2 minutes' as just_sent
         from otp_recipient order by project_id, recipient`,
      );
      expect(rows).toEqual([
        { project_id: project, recipient: '541123456789', tokens: 1, failures: 24, just_sent: false },
        { project_id: project, recipient: '551112345678', tokens: 2, failures: 4, just_sent: true },
        { project_id: project, recipient: '5511933334444', tokens: 2, failures: 4, just_sent: true },
        { project_id: other, recipient: '541123456789', tokens: 3, failures: 1, just_sent: true },
      ]);
      const codes = () => database.query('select * from otp_challenge order by id');
      expect(await codes()).toMatchObject([
        { id: open, recipient: '541123456789', number: '5491123456789' },
        { id: ended, recipient: '5491123456789', number: null },
      ]);
      await database.down();
      expect(await codes()).toMatchObject([{ recipient: '5491123456789' }, { recipient: '5491123456789' }]);
    } finally {
      await database.close();
    }
  });
});
