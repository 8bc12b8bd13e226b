import { Injectable } from '@nestjs/common';
import { FIRST_ID } from '../../common/ids.js';
import { OPEN_SQL } from './otp.repository.js';
import { BatchPlace } from '../../infrastructure/database/batch-place.js';
import { Database } from '../../infrastructure/database/database.js';
import {
  type ErasureBatch,
  FOUND_ON_PAGE,
  type FoundPage,
  type Subject,
} from '../workspaces/erasure/erasure.service.js';
import { boundedCount, secondsSince, type Backlog } from '../../infrastructure/operations/backlogs.js';
import { INDEXED_STATUS } from './otp.repository.js';

const ERASURE_PAGE = 2_000;

/** What ends in time or is erased, and what operators see, of all projects together. */
@Injectable()
export class OtpMaintenanceRepository {
  private readonly codes = new BatchPlace('-infinity');
  private readonly numbers = new BatchPlace('-infinity');

  constructor(private readonly database: Database) {}

  /**
   * Removes what challenges of before this time say of their numbers and codes, and leaves their keys, which never
   * expire; a code lives for ten minutes, so none of them is open. Returns how many.
   */
  blankChallenges(before: Date, limit: number): Promise<number> {
    const blank = `update otp_challenge c set ${BLANK} where id = any(array(
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

  /** When the newest code that waits or is under way was accepted. */
  async newestQueued(): Promise<Date | null> {
    const { newest } = await this.database.row<{ newest: Date | null }>(
      `select max(created_at) as newest from otp_challenge where ${INDEXED_STATUS} in ('queued', 'sending')`,
    );
    return newest;
  }

  /** Codes of a restored backup that may have been sent in the time which it does not know of; there are few. */
  countDoubtful(before: Date): Promise<number> {
    return this.database.count(`select count(*)::integer as count from otp_challenge where ${DOUBTFUL}`, [before]);
  }

  /** They stay reserved and are never sent again; a code that did arrive can still be verified. Returns how many. */
  markDoubtful(before: Date): Promise<number> {
    return this.database.execute(
      `update otp_challenge set status = 'outcome_unknown', code_ciphertext = null, lease_until = null where ${DOUBTFUL}`,
      [before],
    );
  }

  /**
   * One page of all codes, oldest first: finds those sent to the contact. The first page counts what is noted of the
   * number as well.
   */
  async eraseContact(subject: Subject, cursor: string | null, erase: boolean): Promise<ErasureBatch> {
    const { organizationId, numbers } = subject;
    const params = [organizationId, cursor ?? FIRST_ID, ERASURE_PAGE, numbers];
    const { ids, cursor: next } = await this.database.row<FoundPage>(FIND_OF_CONTACT, params);
    if (erase && ids.length > 0) {
      const own = `organization_id = $1 and id = any($2::uuid[]) and status not in ('queued', 'sending')`;
      await this.database.execute(`delete from otp_challenge c where ${own} and ${namedByKey('$3')}`, [
        organizationId,
        ids,
        numbers,
      ]);
      // The fingerprint is made of the number. Without it a repeat of the key is refused.
      await this.database.execute(`update otp_challenge c set ${BLANK}, fingerprint = '\\x' where ${own}`, [
        organizationId,
        ids,
      ]);
    }
    const limits = cursor === null ? await this.limits(subject, erase) : 0;
    return { found: { one_time_codes: ids.length, one_time_code_limits: limits }, cursor: next };
  }

  /** Codes of the workspace, or to these numbers, that are on their way; each is sent or has failed within half a minute. */
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

  private limits({ organizationId, numbers }: Subject, erase: boolean): Promise<number> {
    const ofProjects = `project_id in (select id from otp_project where organization_id = $1)
      and organization_id = $1 and recipient = any($2)`;
    const values = [organizationId, numbers];
    if (erase) return this.database.execute(`delete from otp_recipient where ${ofProjects}`, values);
    return this.database.count(`select count(*)::integer as count from otp_recipient where ${ofProjects}`, values);
  }
}

/** SQL: its key contains one of these numbers, which callers may have put there. */
function namedByKey(numbers: string): string {
  return `exists (select from unnest(${numbers}::text[]) as number where position(number in idempotency_key) > 0)`;
}

/** SET list: its key, fingerprint, state and times stay. */
const BLANK = `recipient = null, number = null, country = null, code_hash = null, code_ciphertext = null,
  meta_message_id = null, package_id = null,
  status = case when c.status in ${OPEN_SQL} then 'expired' else c.status end`;

const DOUBTFUL = `${INDEXED_STATUS} in ('queued', 'sending') and created_at < $1`;

const FIND_OF_CONTACT = `
with page as materialized (
  select id, organization_id, recipient, status, idempotency_key from otp_challenge where id > $2 order by id limit $3
), hit as (
  select id from page
  where organization_id = $1 and (recipient = any($4) or ${namedByKey('$4')}) and status not in ('queued', 'sending')
)${FOUND_ON_PAGE}`;

const BACKLOG = `
select ${boundedCount(`from otp_challenge where ${INDEXED_STATUS} = 'queued'`)} as waiting,
  ${boundedCount('from otp_challenge where lease_until is not null')} as "inFlight",
  ${secondsSince(`(select min(created_at) from otp_challenge where ${INDEXED_STATUS} = 'queued')`)} as "oldestDueSeconds"`;
