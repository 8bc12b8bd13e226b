import { Injectable } from '@nestjs/common';
import { OPEN_SQL } from './otp.repository.js';
import { BatchPlace } from '../../infrastructure/database/batch-place.js';
import { Database } from '../../infrastructure/database/database.js';
import type { Subject } from '../workspaces/erasure/erasure.service.js';
import { boundedCount, secondsSince, type Backlog } from '../../infrastructure/operations/backlogs.js';
import { INDEXED_STATUS } from './otp.repository.js';

const ERASURE_BATCH = 500;

/** Retention and erasure of codes, and figures for operators, over all projects. */
@Injectable()
export class OtpMaintenanceRepository {
  private readonly codes = new BatchPlace('-infinity');
  private readonly numbers = new BatchPlace('-infinity');

  constructor(private readonly database: Database) {}

  /**
   * Removes numbers and codes from challenges that were created before this time. Their keys stay, since keys never
   * expire. A code lives for ten minutes, so none of these challenges is open. Returns how many.
   */
  blankChallenges(before: Date, limit: number): Promise<number> {
    const blank = `update otp_challenge c set ${BLANK}, ${KEEP_KEY_NUMBER} where id = any(array(
        select id from otp_challenge
        where recipient is not null and created_at >= $1 and created_at < $3 and expires_at < clock_timestamp()
        order by created_at limit $2))
      returning created_at as place`;
    return this.codes.run(this.database, blank, limit, [before]);
  }

  removeRecipients(before: Date, limit: number): Promise<number> {
    const remove = `delete from otp_recipient where ctid = any(array(
        select ctid from otp_recipient
        where last_sent_at >= $1 and last_sent_at < $3 and (failures_since is null or failures_since < $3)
        order by last_sent_at limit $2 for update skip locked))
      returning last_sent_at as place`;
    return this.numbers.run(this.database, remove, limit, [before]);
  }

  /** The time when the newest code was accepted of those that wait or are in flight. */
  async newestQueued(): Promise<Date | null> {
    const { newest } = await this.database.row<{ newest: Date | null }>(
      `select max(created_at) as newest from otp_challenge where ${INDEXED_STATUS} in ('queued', 'sending')`,
    );
    return newest;
  }

  /** Codes of a restored backup that may have been sent after the backup was made; there are few. */
  countUncertain(before: Date): Promise<number> {
    return this.database.count(`select count(*)::integer as count from otp_challenge where ${DOUBTFUL}`, [before]);
  }

  /**
   * Sets the codes that `countUncertain` counts to `outcome_unknown`: they are never sent again and their sends stay
   * reserved, but a code that arrived can still be verified. Returns how many.
   */
  markUncertain(before: Date): Promise<number> {
    return this.database.execute(
      `update otp_challenge set status = 'outcome_unknown', code_ciphertext = null, lease_until = null where ${DOUBTFUL}`,
      [before],
    );
  }

  /** Counts codes that were sent to the contact, or whose keys contain the number. Codes in flight are left out. */
  countOfContact({ organizationId, numbers }: Subject): Promise<number> {
    const sql = `select count(*)::integer as count from (${OF_CONTACT}) as found`;
    return this.database.byIndex(() => this.database.count(sql, [organizationId, numbers]));
  }

  /** Removes the contact's data from some of the codes that `countOfContact` counts. Returns how many. */
  eraseOfContact({ organizationId, numbers }: Subject): Promise<number> {
    return this.database.byIndex(async () => {
      const found = `${OF_CONTACT} limit ${ERASURE_BATCH}`;
      const ids = (await this.database.query<{ id: string }>(found, [organizationId, numbers])).map(({ id }) => id);
      const own = `organization_id = $1 and id = any($2::uuid[]) and status not in ('queued', 'sending')`;
      await this.database.execute(`delete from otp_challenge c where ${own} and ${namedByKey('$3')}`, [
        organizationId,
        ids,
        numbers,
      ]);
      // The fingerprint includes the number, so it is removed too. A repeat of the key is then refused.
      await this.database.execute(
        `update otp_challenge c set ${BLANK}, key_number = null, fingerprint = '\\x' where ${own}`,
        [organizationId, ids],
      );
      return ids.length;
    });
  }

  /** Removes the stored limits of the contact's number, or counts them. */
  limitsOfContact({ organizationId, numbers }: Subject, erase: boolean): Promise<number> {
    const ofProjects = `project_id = any(array(select id from otp_project where organization_id = $1))
      and organization_id = $1 and recipient = any($2)`;
    const values = [organizationId, numbers];
    return this.database.byIndex(() =>
      erase
        ? this.database.execute(`delete from otp_recipient where ${ofProjects}`, values)
        : this.database.count(`select count(*)::integer as count from otp_recipient where ${ofProjects}`, values),
    );
  }

  /**
   * Counts codes of the workspace that wait or are in flight; with `numbers`, only those to these numbers. Unless
   * claims are blocked, each of them is sent or has failed within half a minute.
   */
  countUnderWay(organizationId: string, numbers: readonly string[] | null): Promise<number> {
    return this.database.count(
      `select count(*)::integer as count from otp_project p join otp_challenge c on c.project_id = p.id
       where p.organization_id = $1 and c.organization_id = $1 and ($2::text[] is null or c.recipient = any($2))
         and c.${INDEXED_STATUS} in ('queued', 'sending')`,
      [organizationId, numbers],
    );
  }

  /** Ends codes of the workspace that wait to be sent. */
  async withdraw(organizationId: string): Promise<void> {
    await this.database.execute(
      `update otp_challenge c set status = 'expired', code_ciphertext = null, lease_until = null,
         released_at = clock_timestamp()
       from otp_project p where p.organization_id = $1 and c.organization_id = $1 and c.project_id = p.id
         and c.${INDEXED_STATUS} = 'queued'`,
      [organizationId],
    );
  }

  backlog(): Promise<Backlog> {
    return this.database.row<Backlog>(BACKLOG);
  }
}

/** SQL condition: the key of a code, which the caller chose, contains one of these numbers. */
function namedByKey(numbers: string): string {
  return `exists (select from unnest(${numbers}::text[]) as number where position(number in idempotency_key) > 0)`;
}

/** SQL: SET list that removes a person's data from a challenge. Key, fingerprint, state and times stay. */
const BLANK = `recipient = null, number = null, country = null, code_hash = null, code_ciphertext = null,
  meta_message_id = null, package_id = null,
  status = case when c.status in ${OPEN_SQL} then 'expired' else c.status end`;

const DOUBTFUL = `${INDEXED_STATUS} in ('queued', 'sending') and created_at < $1`;

const KEEP_KEY_NUMBER = `key_number = case when position(c.recipient in c.idempotency_key) > 0
  or position(c.number in c.idempotency_key) > 0 then c.recipient end`;

// The codes of `countOfContact`. $1 the workspace, $2 numbers. Reads the indexes of open codes, of ended codes, and of
// keys that remain after retention.
const OF_CONTACT = `
select c.id from otp_project p join otp_challenge c on c.project_id = p.id and c.recipient = any($2)
  and c.${INDEXED_STATUS} in ${OPEN_SQL} and c.status not in ('queued', 'sending')
where p.organization_id = $1 and c.organization_id = $1
union all
select c.id from otp_challenge c where c.organization_id = $1 and c.recipient = any($2)
  and c.${INDEXED_STATUS} not in ${OPEN_SQL}
union all
select c.id from otp_challenge c where c.organization_id = $1 and c.key_number = any($2)`;

const BACKLOG = `
select ${boundedCount(`from otp_challenge where ${INDEXED_STATUS} = 'queued'`)} as waiting,
  ${boundedCount('from otp_challenge where lease_until is not null')} as "inFlight",
  ${secondsSince(`(select min(created_at) from otp_challenge where ${INDEXED_STATUS} = 'queued')`)} as "oldestDueSeconds"`;
