import { CodeRows, type MadeCode } from '../../../test/otp/code-rows.js';
import { rowsRead } from '../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { OtpMaintenanceRepository } from './otp-maintenance.repository.js';

let rows: CodeRows;

/** Queues as many codes like the given one; `project` is SQL that may use `n`. */
async function crowd(like: MadeCode, count: number, project = 'project_id', waitedSeconds = 0): Promise<void> {
  await rows.database.execute(
    `insert into otp_challenge (id, organization_id, project_id, mode, recipient, country, idempotency_key, fingerprint,
       status, code_hash, code_key_version, code_ciphertext, template_language, attempt_id, created_at, expires_at)
     select gen_random_uuid(), organization_id, ${project}, mode, recipient, country, gen_random_uuid()::text, fingerprint,
       'queued', code_hash, code_key_version, 'sealed', template_language, gen_random_uuid(),
       clock_timestamp() - make_interval(secs => $3), expires_at
     from otp_challenge cross join generate_series(1, $2) as n where id = $1`,
    [like.id, count, waitedSeconds],
  );
}

describe('rows read', () => {
  // Of a database of its own, whose statistics change only by the statements of the test: in a shared one a claim also
  // reads the rows that other tests removed less than half a minute ago, until they are vacuumed.
  let own: OpenTestDatabase;

  beforeEach(async () => {
    own = await openTestDatabase();
    await own.database.execute('alter table otp_challenge set (autovacuum_enabled = off)');
    rows = await CodeRows.project(own.database);
  });
  afterEach(() => own.close());

  /** Accepted in an hour, so that no code becomes too old, however long the test takes. */
  const YOUNG = -3_600;

  it('the oldest waiting code is found however many wait', async () => {
    await crowd(await rows.make(), 10_000, 'project_id', YOUNG);
    await crowd(await rows.make(), 1, 'project_id', 10);
    const read = await rowsRead(own.database, 'otp_challenge', async () =>
      expect(await rows.sending.dueForMs()).toBeGreaterThan(9_000),
    );
    expect(read).toBeLessThan(100);
    expect((await new OtpMaintenanceRepository(own.database).backlog()).oldestDueSeconds).toBeGreaterThan(9);
  });
});
